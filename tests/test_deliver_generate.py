"""What is delivered where tools or trees are missing, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from deliver_builds import characterization
from emulation import machine
from fake_tools import fake_program
from support import DIGITS, KWS
from test_build_neuralspot import Bench
from test_build_trees import CM4, tflm

from pytest_autodeploy.board.catalog import board_spec
from pytest_autodeploy.build.errors import BuildError, ToolMissing
from pytest_autodeploy.build.firmware import BuildOptions
from pytest_autodeploy.deliver.errors import CharacterizationError
from pytest_autodeploy.deliver.example import run_example
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.deliver.neuralspot_app import NeuralSpotApps
from pytest_autodeploy.errors import ModelDoesNotFit
from pytest_autodeploy.model.load import load_model

MODEL = load_model(DIGITS)
FOUND = characterization(MODEL)
MAKE = """
for word in "$@"; do
  case $word in BINDIRROOT=*) out=${word#BINDIRROOT=};; EXAMPLE=*) app=${word#EXAMPLE=};; esac
done
echo "$@" >> "$LOG"
mkdir -p $out/images
for suffix in axf bin; do echo $app > $out/images/$app.$suffix; done
"""


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
    assert "--evb-tflm-root DIR or AUTODEPLOY_TFLM_ROOT" in delivery.left_out[0].why
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
    (tmp_path / ".autodeploy-binaries").write_text("digits_cnn/lib/libdigits_cnn.a\n")
    mine = tmp_path / "digits_cnn" / "notes.txt"
    mine.touch()

    generate(MODEL, machine("mps2-an386"), tmp_path, ["library"], FOUND)

    assert not stale.exists()
    assert mine.exists()


def test_a_delivery_is_plain_data(tmp_path: Path) -> None:
    plain = generate(MODEL, machine("mps2-an386"), tmp_path, ["power"], FOUND).as_dict()

    assert plain["board"] == "qemu:mps2-an386"
    assert plain["files"] == ["digits_cnn_mc.json", "digits_cnn_md.json"]
    assert plain["example"] is None
    assert plain["footprints"] == []


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """neuralSPOT with a make that only writes down what it was told, and Arm's compiler."""
    bench = Bench(tmp_path, monkeypatch)
    fake_program(bench.folder / "bin", "armclang", "echo Arm Compiler for Embedded 6.22")
    bench.make(MAKE)
    return bench


def options_of(bench: Bench) -> BuildOptions:
    return BuildOptions(
        sdk=str(bench.sdk), toolchain=str(bench.folder / "bin/armclang"), cache=bench.folder / "c"
    )


def test_the_power_binary_is_made_by_neuralspot_outside_of_it(bench: Bench) -> None:
    out = bench.folder / "out"

    delivery = generate(MODEL, board_spec("apollo4l_evb"), out, ["power"], FOUND, options_of(bench))

    assert not delivery.left_out
    assert {"bin/digits_cnn_power.axf", "bin/digits_cnn_power.bin"} <= names(delivery.written, out)
    words = bench.log.read_text().split()
    assert {"EXAMPLE=digits_cnn_power", "PLATFORM=apollo4l_evb", "all"} <= set(words)
    assert all(f"={bench.folder}/c/" in word for word in words if word.startswith("ADPATH="))


def test_a_library_needs_the_linker_of_gnu(bench: Bench) -> None:
    out = bench.folder / "out"

    delivery = generate(
        MODEL, board_spec("apollo4l_evb"), out, ["library"], FOUND, options_of(bench)
    )

    assert "needs GNU's linker, not armclang" in delivery.left_out[0].why


def test_an_app_that_is_in_the_cache_is_not_built_again(bench: Bench) -> None:
    out = bench.folder / "out"
    for _ in range(2):
        generate(MODEL, board_spec("apollo4l_evb"), out, ["power"], FOUND, options_of(bench))

    assert len(bench.log.read_text().splitlines()) == 1


def test_what_make_says_of_a_failure_is_the_reason(bench: Bench) -> None:
    bench.make("echo 'src/power_main.cc:7: error: no such pin'; exit 2")
    out = bench.folder / "out"

    delivery = generate(MODEL, board_spec("apollo4l_evb"), out, ["power"], FOUND, options_of(bench))

    assert delivery.left_out[0].what == "the power binary"
    assert "power_main.cc:7: error: no such pin" in delivery.left_out[0].why


def test_make_compiles_an_app_that_is_older_than_its_last_build(bench: Bench) -> None:
    app = bench.folder / "app"
    app.mkdir()
    (app / "module.mk").write_text("first")
    apps = NeuralSpotApps(board_spec("apollo4l_evb"), options_of(bench))
    apps.build(app)
    (app / "module.mk").write_text("second")
    os.utime(app / "module.mk", (1, 1))

    apps.build(app)

    (copy,) = (bench.folder / "c").rglob("app/app/module.mk")
    assert copy.read_text() == "second"
    assert copy.stat().st_mtime > 1


def test_an_example_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_program(tmp_path, "qemu-system-arm", "echo begun; sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(BuildError, match=r"did not finish after 0\.3 s\n.*It said last: begun"):
        run_example(tmp_path / "a.elf", machine("mps2-an386"), timeout_s=0.3)


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
