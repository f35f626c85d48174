"""The example for AmbiqSuite: built with AmbiqSuite and a TFLM library alone, and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.catalog.chips import find_chip
from pytest_autodeploy.deliver import ambiqsuite
from pytest_autodeploy.deliver.characterization import Characterization
from pytest_autodeploy.deliver.characterize import characterize
from pytest_autodeploy.deliver.folders import write_sources
from pytest_autodeploy.deliver.layout import layout_of
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.trees import SDK_VARIABLE, TflmTree
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.deliver_examples import characterized
from tests.helpers.support import DIGITS

NAME = "apollo3p_evb"
RUNTIME = "helia_rt_v1_3_0"
"""The Apache-2.0 one that neuralSPOT has."""

MODEL = load_model(DIGITS)
EVBS = [name for name in board_names() if board_spec(name).has_sdk]

needs_gcc = pytest.mark.skipif(
    not shutil.which("arm-none-eabi-gcc"), reason="not installed: arm-none-eabi-gcc"
)
needs_sdk = pytest.mark.skipif(
    SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set, whose AmbiqSuite is used"
)


@pytest.mark.parametrize("board", EVBS)
def test_start_up_and_linker_script_are_beside_both_makefiles(board: str) -> None:
    files = ambiqsuite.files(Sources(characterized(MODEL), MODEL, board_spec(board)))
    assert {"gcc/startup.c", "gcc/memory.ld", "armclang/startup.c", "armclang/memory.sct"} <= {
        *files
    }
    assert "ns-core" not in "".join(map(str, files.values()))


@needs_gcc
@pytest.mark.parametrize("board", EVBS)
def test_a_program_starts_where_the_bootloader_goes(board: str, tmp_path: Path) -> None:
    """Linked without SDK: vectors first, data and arena in memories that the chip has."""
    spec = board_spec(board)
    files = ambiqsuite.files(Sources(characterized(MODEL), MODEL, spec))
    for name in ("startup.c", "memory.ld"):
        (tmp_path / name).write_text(str(files[f"gcc/{name}"]))
    (tmp_path / "main.c").write_text(PROGRAM)
    makefile = str(files["gcc/Makefile"])
    cpu = re.search(r"^CPU := (.*)$", makefile, re.MULTILINE)
    assert cpu is not None
    flags = ["-nostartfiles", "-Wall", "-Wextra", "-Werror", "-O2", "-Tmemory.ld", "-nostdlib"]
    sources = ["startup.c", "main.c", "-o", "program.axf"]
    run("arm-none-eabi-gcc", *cpu[1].split(), *flags, *sources, folder=tmp_path)
    found = symbols(tmp_path / "program.axf")
    layout = layout_of(spec)
    assert found["vectors"] == spec.load_address
    inside(found, layout, {"kept": layout.default, "arena": "TCM", "large": "SRAM"})
    assert found["stack_top"] == layout.memory(layout.default).end


PROGRAM = """
int kept = 7, zero;
__attribute__((section(".sram_bss"))) char large[1000];
__attribute__((section(".tcm.arena,\\"aw\\",%nobits @"))) char arena[1000];
int main(void) { return kept + zero + large[0] + arena[0]; }
"""


def run(*command: object, folder: Path) -> str:
    environment = {key: text for key, text in os.environ.items() if key != SDK_VARIABLE}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def symbols(program: Path) -> dict[str, int]:
    lines = run("arm-none-eabi-nm", program, folder=program.parent).splitlines()
    return {line.split()[-1]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


def inside(found: dict[str, int], layout: object, where: dict[str, str]) -> None:
    for symbol, name in where.items():
        memory = layout.memory(name)  # type: ignore[attr-defined]
        assert memory.base <= found[symbol] < memory.end, (symbol, name)


def found_out() -> Characterization:
    """The model, characterised on the simulated board."""
    spec = board_spec(NAME)
    board = SimulatedBoard(f"sim:{NAME}", spec, timeout_s=30)
    try:
        with Reference(MODEL) as reference:
            session = ModelSession(MODEL, board, inputs=random_inputs(MODEL, 2, seed=1))
            return characterize(session, reference, Tolerance())
    finally:
        board.close()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image, by the first command of the example's README."""
    sdk, spec = Path(os.environ[SDK_VARIABLE]), board_spec(NAME)
    runtime = TflmTree(sdk / "extern" / "tensorflow" / RUNTIME)
    sources = Sources(found_out(), MODEL, spec, runtime=runtime)
    folder = tmp_path_factory.mktemp("ambiqsuite")
    write_sources(sources, ["ambiqsuite"], folder)
    example = folder / f"{sources.name}_ambiqsuite_example"
    readme = (example / "README.md").read_text()
    command = re.search(r"^make -C gcc AMBIQSUITE=DIR.*$", readme, re.MULTILINE)
    assert command is not None
    suite = sdk / "extern" / "AmbiqSuite" / spec.ambiqsuite
    named = command[0].replace("AMBIQSUITE=DIR", f"AMBIQSUITE={suite}")
    library = runtime.library(spec.core, smallest=True)
    run(*named.replace("TFLM_LIB=FILE", f"TFLM_LIB={library}").split(), folder=example)
    (image,) = (example / "gcc" / "bin").glob("*.bin")
    return image


@needs_gcc
@needs_sdk
def test_it_builds_with_ambiqsuite_and_a_tflm_library_alone(built: Path) -> None:
    found = symbols(built.with_suffix(".axf"))
    layout = layout_of(board_spec(NAME))
    assert found["vectors"] == layout.memory("MRAM").base
    assert "am_hal_cachectrl_enable" in found


@needs_gcc
@needs_sdk
def test_it_runs_from_reset_and_all_outputs_match(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("unicorn")
    from pytest_autodeploy.virtual.devices.debug_units import Itm
    from pytest_autodeploy.virtual.image_file import read_image
    from pytest_autodeploy.virtual.link import SerialLink
    from pytest_autodeploy.virtual.machine import Machine

    printed = bytearray()

    def write(_self: Itm, offset: int, value: int) -> None:
        if offset == 0:
            printed.append(value & 0xFF)

    monkeypatch.setattr(Itm, "write", write)
    chip = find_chip(board_spec(NAME).chip)
    assert chip is not None
    lines: list[str] = []
    with closing(SerialLink()) as link:
        machine = Machine(chip, read_image(built, chip.vectors), link, lines.append)
        for _ in range(200_000):
            machine.step()
            if b"outputs" in printed and printed.endswith(b"\n"):
                break  # the steps before have lines of their own
    assert b"all outputs match" in printed, (bytes(printed), lines)
