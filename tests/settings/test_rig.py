"""A run takes its rig from a file that is none of those it tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.catalog.rig import RigError, UnknownRigBoard
from pytest_autodeploy.settings.rig_check import check_rig
from pytest_autodeploy.settings.settings import SettingError
from tests.helpers.rigs import TYPE, settings_of, write_rig


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    return write_rig(tmp_path / "lab.toml", {"a": "/dev/a", "b": "/dev/b"})


def test_a_board_of_the_rig_is_typed_by_its_name(rig: Path) -> None:
    assert settings_of(rig, evb=["name:b", "sim:apollo510_evb"]).evb == (
        f"{TYPE}@b",
        "sim:apollo510_evb",
    )


@pytest.mark.parametrize(
    ("evb", "says"),
    [
        ("name:c", "no board 'c' in .*lab.toml\n  Boards: a, b"),
        (f"{TYPE}@c", "no board 'c' in .*lab.toml\n  Boards: a, b"),
        ("apollo4p_evb@a", "no apollo4p_evb@a in .*lab.toml\n  It has sim:apollo4p_evb."),
        ("apollo4p_evb", "no apollo4p_evb in .*lab.toml\n  It has sim:apollo4p_evb."),
    ],
)
def test_a_board_that_only_a_rig_has_must_be_in_it(rig: Path, evb: str, says: str) -> None:
    with pytest.raises((SettingError, UnknownRigBoard), match=says):
        check_rig(settings_of(rig, evb=[evb]))


@pytest.mark.parametrize("evb", ["name:a", f"{TYPE}@a"])
def test_a_name_needs_a_rig(rig: Path, evb: str) -> None:
    with pytest.raises((SettingError, RigError), match=f"--evb {evb} needs a rig file"):
        check_rig(settings_of(rig, evb=[evb], evb_rig=None))


@pytest.mark.parametrize("evb", ["sim:apollo510_evb", "virtual:apollo3p_evb", "qemu:mps2-an386"])
def test_what_a_run_starts_need_not_be_in_a_rig(rig: Path, evb: str) -> None:
    check_rig(settings_of(rig, evb=[evb]))


def test_a_rig_and_a_port_are_too_much(rig: Path) -> None:
    with pytest.raises(SettingError, match="--evb-port and --evb-rig both say where the board is"):
        check_rig(settings_of(rig, evb_port="/dev/a"))


def test_a_port_goes_before_a_rig_of_the_environment(
    rig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTODEPLOY_RIG", str(rig))
    assert settings_of(rig, evb_rig=None).rig is not None
    settings = settings_of(rig, evb_rig=None, evb_port="/dev/a")
    check_rig(settings)
    assert settings.rig is None


@pytest.mark.parametrize("place", ["project/lab.toml", "project/rigs/lab.toml", "other/lab.toml"])
def test_a_rig_file_that_the_tests_come_with_is_refused(tmp_path: Path, place: str) -> None:
    """In their folder, or elsewhere in their repository."""
    if place.startswith("other"):
        (tmp_path / ".git").mkdir()
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    write_rig(path, {"a": "/dev/a"})
    with pytest.raises(RigError, match=r"--evb-rig: .* is a part of what is tested, .*") as raised:
        settings_of(tmp_path / "rig", evb_rig=str(path)).rig  # noqa: B018
    assert raised.value.hint == "move it, such as to ~/.config/autodeploy/rig.toml"


def test_a_rig_file_in_the_home_folder_is_not_a_part_of_tests_that_run_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "project"
    monkeypatch.setenv("HOME", str(home))
    (home / ".config").mkdir(parents=True)
    path = write_rig(home / ".config" / "rig.toml", {"a": "/dev/a"})
    assert settings_of(tmp_path / "rig", evb_rig=str(path)).rig is not None
