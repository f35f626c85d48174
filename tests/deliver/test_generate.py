"""What is delivered where tools or trees are missing, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_autodeploy.base.errors import ModelDoesNotFit
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver.errors import CharacterizationError
from pytest_autodeploy.deliver.example import run_example
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.image.errors import BuildError, ToolMissing
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.run.artifacts import artifacts_record
from tests.helpers.deliver_builds import characterization
from tests.helpers.emulation import machine
from tests.helpers.fake_tools import fake_program
from tests.helpers.support import DIGITS, KWS
from tests.helpers.tflm_trees import CM4, tflm

MODEL = load_model(DIGITS)
FOUND = characterization(MODEL)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTODEPLOY_TFLM_ROOT", "NEURALSPOT_ROOT", "AUTODEPLOY_TOOLCHAIN"):
        monkeypatch.delenv(name, raising=False)


def names(paths: tuple[Path, ...], out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in paths}


def test_without_a_tree_the_sources_are_written_and_the_reason_is_told(tmp_path: Path) -> None:
    delivery = generate(MODEL, machine("mps2-an386"), tmp_path, ["library"], FOUND)

    assert "digits_cnn/src/digits_cnn_model.cc" in names(delivery.written, tmp_path)
    assert [each.what for each in delivery.left_out] == ["the library", "the example"]
    assert "--evb-tflm-root=DIR or AUTODEPLOY_TFLM_ROOT" in delivery.left_out[0].why
    assert delivery.left_out[1].why == "it needs the library"
    assert delivery.passed


def test_without_a_compiler_the_reason_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    options = BuildOptions(tflm_root=str(tflm(tmp_path / "tree", CM4)), cache=tmp_path / "cache")

    delivery = generate(MODEL, machine("mps2-an386"), tmp_path / "out", ["library"], FOUND, options)

    assert "arm-none-eabi-gcc is not on PATH" in delivery.left_out[0].why
    assert "apt install gcc-arm-none-eabi" in delivery.left_out[0].why


def test_an_emulated_board_gets_neither_ambiqsuite_nor_power(tmp_path: Path) -> None:
    delivery = generate(MODEL, machine("mps2-an386"), tmp_path, ["ambiqsuite", "power"], FOUND)

    assert {each.what for each in delivery.left_out} == {"ambiqsuite", "power"}
    assert all("is a machine of QEMU" in each.why for each in delivery.left_out)


def test_artifacts_that_nobody_asked_for_are_not_mentioned(tmp_path: Path) -> None:
    delivery = generate(MODEL, board_spec("apollo4l_evb"), tmp_path, ["validator"], FOUND)

    assert [each.what for each in delivery.left_out] == ["the validator binary"]
    assert "tflm_validator/module.mk" in names(delivery.written, tmp_path)


def test_the_characterisation_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CharacterizationError, match="the characterisation is of the model"):
        generate(load_model(KWS), machine("mps3-an547"), tmp_path, ["library"], FOUND)


def test_memories_that_are_too_small_are_refused_with_the_sums(tmp_path: Path) -> None:
    large = characterization(MODEL, arena_bytes=5 << 20)

    with pytest.raises(
        ModelDoesNotFit, match=r"the arena does not fit: .*arena 5,1.* KB .* > SRAM"
    ):
        generate(MODEL, board_spec("apollo4l_evb"), tmp_path, ["library"], large)

    assert not list(tmp_path.iterdir())


def test_what_an_earlier_call_built_does_not_stay(tmp_path: Path) -> None:
    stale = tmp_path / "digits_cnn" / "lib" / "libdigits_cnn.a"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"of an earlier model")
    (tmp_path / ".autodeploy-digits_cnn-binaries").write_text("digits_cnn/lib/libdigits_cnn.a\n")
    mine = tmp_path / "digits_cnn" / "notes.txt"
    mine.touch()

    generate(MODEL, machine("mps2-an386"), tmp_path, ["library"], FOUND)

    assert not stale.exists()
    assert mine.exists()


def test_the_record_of_a_delivery_names_its_files(tmp_path: Path) -> None:
    delivery = generate(MODEL, machine("mps2-an386"), tmp_path, ["power"], FOUND)
    made = artifacts_record(delivery, FOUND, "digits")

    assert made.board == "qemu:mps2-an386"
    assert made.files == ("digits_cnn_mc.json", "digits_cnn_md.json")
    assert made.example is None
    assert made.footprints == ()


def test_an_example_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_program(tmp_path, "qemu-system-arm", "echo begun; sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(BuildError, match=r"did not finish after 2 s\n.*It said last: begun"):
        run_example(tmp_path / "a.elf", machine("mps2-an386"), timeout_s=2)


def test_a_qemu_that_dies_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program(tmp_path, "qemu-system-arm", "kill -SEGV $$")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(BuildError, match="QEMU died of SIGSEGV"):
        run_example(tmp_path / "a.elf", machine("mps2-an386"))


def test_without_qemu_the_example_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ToolMissing, match="apt install qemu-system-arm"):
        run_example(tmp_path / "a.elf", machine("mps2-an386"))
