"""The table of board kinds, and the kinds that installed packages bring."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.board.makers import MAKERS
from pytest_autodeploy.catalog.boards import UnknownBoard, board_names, board_spec
from pytest_autodeploy.catalog.kinds import (
    ANSWERS,
    EMULATED,
    HARDWARE,
    KINDS,
    NEEDS,
    SIMULATED,
    Kind,
    all_kinds,
    answering_kind,
    kind_of,
    real_id,
    spec_of,
    syntax,
)
from pytest_autodeploy.catalog.plugged import GROUP, BrokenKind
from pytest_autodeploy.doctor.goals import LOOKS
from pytest_autodeploy.rpc.messages import BoardKind
from tests.helpers.distributions import install

ROW = """
from pytest_autodeploy.catalog.kinds import Kind
KIND = Kind(prefix="{name}:", name="lab", noun="a board of the lab", runs="x", source="measured",
            make=print{more})
"""

Install = Callable[..., None]


@pytest.fixture
def plug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package with a kind of boards for the time of a test."""
    monkeypatch.syspath_prepend(tmp_path)

    def plug(name: str, module: str, distribution: str = "") -> None:
        package = distribution or f"pytest-{name}"
        monkeypatch.delitem(sys.modules, f"{name}_kind", raising=False)
        install(tmp_path, package, {GROUP: f"{name} = {name}_kind:KIND"}, {f"{name}_kind": module})

    return plug


def test_every_kind_has_a_maker_and_every_need_a_look() -> None:
    assert set(MAKERS) == {kind.prefix for kind in KINDS}
    assert set(LOOKS) == set(NEEDS)
    assert {need for kind in KINDS for need in kind.needs} == set(NEEDS)


def test_what_boards_say_of_themselves_is_a_kind() -> None:
    answers = {kind.name.lower() for kind in BoardKind}
    assert answers == set(ANSWERS)
    assert answers <= {kind.name for kind in KINDS}  # a virtual board says what its image says


@pytest.mark.parametrize(
    ("board_id", "kind"),
    [
        ("sim:apollo4p_evb", SIMULATED),
        ("qemu:mps2-an386", EMULATED),
        ("apollo4p_evb", HARDWARE),
    ],
)
def test_the_kind_stands_before_the_name(board_id: str, kind: Kind) -> None:
    assert kind_of(board_id) is kind
    assert spec_of(board_id).name == board_id.rpartition(":")[2]


def test_a_simulated_board_has_the_entry_of_the_board_that_it_stands_for() -> None:
    spec = spec_of("sim:apollo510_evb")
    assert spec is board_spec("apollo510_evb")
    assert spec.has_sdk
    assert real_id(spec) == "apollo510_evb"
    assert not spec_of("qemu:mps2-an386").has_sdk
    assert real_id(spec_of("qemu:mps2-an386")) == "qemu:mps2-an386"


def test_behind_the_name_of_an_evb_is_what_answers() -> None:
    assert answering_kind("apollo4p_evb", "emulated").source == "emulated"
    assert answering_kind("apollo4p_evb", "hardware").source == "measured"
    assert answering_kind("sim:apollo4p_evb", "hardware").source == "modelled"


def test_a_prefix_of_no_kind_lists_the_kinds() -> None:
    with pytest.raises(UnknownBoard, match=r"unknown kind of board 'xyz:a'") as error:
        kind_of("xyz:a")
    assert error.value.hint == syntax()
    assert syntax() == (
        "NAME is an EVB, sim:NAME a simulated board, qemu:NAME an emulated machine, "
        "virtual:NAME a virtual EVB, labgrid:PLACE a board that labgrid lends, "
        "recorded:FILE a recording."
    )


def test_a_name_that_a_kind_has_not_lists_those_that_it_has() -> None:
    with pytest.raises(UnknownBoard, match="unknown board 'sim:apolo4p_evb'") as error:
        spec_of("sim:apolo4p_evb")
    known = ", ".join(f"sim:{name}" for name in board_names())
    assert error.value.hint == f"Did you mean sim:apollo4p_evb? Boards: {known}"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"prefix": "lab"}, "the prefix 'lab' is not a word and a colon"),
        ({"prefix": "a b:"}, "the prefix 'a b:' is not a word and a colon"),
        ({"needs": ("qmu",)}, "needs has 'qmu'; valid are sim, compiler"),
        ({"answers_as": ("real",)}, "answers_as has 'real'; valid are simulated"),
    ],
)
def test_a_row_is_checked(wrong: dict[str, Any], words: str) -> None:
    row: dict[str, Any] = {"prefix": "lab:", "name": "lab", "noun": "n", "runs": "r"}
    with pytest.raises(ValueError, match=words):
        Kind(**{**row, "source": "measured", **wrong})


class TestPackages:
    def test_a_kind_is_found_by_its_prefix(self, plug: Install) -> None:
        plug("labone", ROW.format(name="labone", more=""))
        assert kind_of("labone:apollo4p_evb").name == "lab"
        assert spec_of("labone:apollo4p_evb").name == "apollo4p_evb"
        assert kind_of("labone:apollo4p_evb") in all_kinds()

    def test_none_is_imported_for_the_kinds_of_this_package(self, plug: Install) -> None:
        plug("labtwo", "raise SystemExit")
        assert kind_of("sim:apollo4p_evb") is SIMULATED
        assert "labtwo_kind" not in sys.modules

    def test_an_unknown_prefix_names_them_too_and_imports_none(self, plug: Install) -> None:
        plug("labthree", "raise SystemExit")
        with pytest.raises(UnknownBoard, match=r"unknown kind of board 'xyz:a'\n.*labthree:NAME"):
            kind_of("xyz:a")

    @pytest.mark.parametrize(
        ("module", "why"),
        [
            ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
            ("KIND = 1", "labfour_kind:KIND is a int, not a Kind"),
            ("", "AttributeError: module 'labfour_kind' has no attribute 'KIND'"),
            (ROW.format(name="other", more=""), "its prefix is 'other:', not 'labfour:'"),
            (ROW.format(name="labfour", more=", needs=('x',)"), "ValueError: needs has 'x'"),
            (
                ROW.format(name="labfour", more="").replace("make=print", ""),
                "labfour_kind:KIND has",
            ),
        ],
    )
    def test_a_broken_one_names_the_package(self, plug: Install, module: str, why: str) -> None:
        plug("labfour", module)
        with pytest.raises(BrokenKind) as error:
            kind_of("labfour:apollo4p_evb")
        assert str(error.value).startswith(
            f"the board kind 'labfour' of pytest-labfour 1.0 cannot be used: {why}"
        )
        with pytest.raises(BrokenKind):
            all_kinds()

    def test_two_of_one_name_are_both_named(self, plug: Install) -> None:
        plug("labfive", ROW.format(name="labfive", more=""))
        plug("labfive", ROW.format(name="labfive", more=""), "another")
        with pytest.raises(BrokenKind, match=r"comes from another 1.0 and pytest-labfive 1.0"):
            kind_of("labfive:apollo4p_evb")
