"""Libraries and examples of real models, on QEMU; and for an EVB, as far as linking goes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pytest_autodeploy.base.templates import c_data
from pytest_autodeploy.board.emulated import EmulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver.characterization import Characterization
from pytest_autodeploy.deliver.characterize import characterize
from pytest_autodeploy.deliver.delivery import Delivery
from pytest_autodeploy.deliver.elf import read_sections
from pytest_autodeploy.deliver.example import EmulatedExample, run_example
from pytest_autodeploy.deliver.files import load
from pytest_autodeploy.deliver.footprint import Footprint
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.deliver.library import LibraryBuilder
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.cmake import CMakeBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.trees import find_tflm
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import random_inputs
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.deliver_builds import run
from tests.helpers.emulation import MACHINES, machine, needs_qemu, needs_tflm
from tests.helpers.support import DIGITS

pytestmark = [needs_qemu, needs_tflm]
MODEL = load_model(DIGITS)
FIRST = "mps2-an386"
RAM = (".stack", ".noinit", ".data", ".bss")
PATIENCE_S = 60


@pytest.fixture(scope="module")
def options(firmware_cache: Path) -> BuildOptions:
    return BuildOptions(cache=firmware_cache)


@pytest.fixture(scope="module")
def found(options: BuildOptions) -> Characterization:
    """The model, characterised on the first machine."""
    board_id = f"qemu:{FIRST}"
    builder = CMakeBuilder(machine(FIRST), options, board_id=board_id)
    board = EmulatedBoard(board_id, machine(FIRST), builder, timeout_s=PATIENCE_S)
    board.start()
    try:
        with Reference(MODEL) as reference:
            session = ModelSession(MODEL, board, inputs=random_inputs(MODEL, 2, seed=1))
            return characterize(session, reference, Tolerance())
    finally:
        board.close()


@pytest.fixture(scope="module", params=MACHINES)
def delivery(
    request: pytest.FixtureRequest,
    found: Characterization,
    options: BuildOptions,
    tmp_path_factory: pytest.TempPathFactory,
) -> Delivery:
    """What is made for each machine from what the first one has found out, by way of the files."""
    out = tmp_path_factory.mktemp("out")
    generate(MODEL, machine(FIRST), out / "first", [], found)
    known = load(out / "first", MODEL)
    board = machine(str(request.param))
    return generate(MODEL, board, out / "second", ["library", "validator"], known, options)


def part(footprint: Footprint, name: str) -> tuple[int, int]:
    """Flash and RAM of a part."""
    return next((p.flash_bytes, p.ram_bytes) for p in footprint.parts if p.part == name)


def test_the_example_finds_that_all_outputs_match(delivery: Delivery) -> None:
    assert not delivery.left_out
    assert delivery.example is not None
    assert delivery.example.output == "digits_cnn: all outputs match\n"
    assert delivery.passed


def test_the_binaries_are_there(delivery: Delivery) -> None:
    files = {path.relative_to(delivery.out).as_posix() for path in delivery.written}

    assert {
        "digits_cnn/lib/libdigits_cnn.a",
        "bin/digits_cnn_example.elf",
        "bin/digits_cnn_example.map",
        "bin/tflm_validator.elf",
    } <= files


def test_the_parts_add_up_to_what_the_program_takes(delivery: Delivery) -> None:
    example = delivery.footprints[1]
    sections = read_sections(delivery.out / "bin" / "digits_cnn_example.elf")
    loaded = sum(section.bytes for section in sections if section.loaded)
    in_ram = sum(section.bytes for section in sections if section.name in RAM)

    assert example.flash_bytes == loaded
    assert example.ram_bytes == in_ram


def test_the_library_has_the_kernels_of_the_model_alone(delivery: Delivery) -> None:
    library = delivery.footprints[0]
    kernels = {size.part for size in library.parts if size.part.startswith("kernels: ")}

    assert {"kernels: convolution", "kernels: fully connected", "kernels: pooling"} <= kernels
    assert not kernels & {"kernels: recurrent", "kernels: depthwise convolution"}
    assert part(library, "model")[0] >= MODEL.size_bytes
    assert part(library, "arena")[1] > 0


def test_the_library_is_a_fraction_of_tflm(delivery: Delivery) -> None:
    whole = find_tflm().library(machine(delivery.board.removeprefix("qemu:")).core, smallest=True)
    sizes = run(whole.parent, "size", "-t", str(whole)).splitlines()[-1].split()

    assert delivery.footprints[0].flash_bytes - MODEL.size_bytes < int(sizes[0]) / 4


def test_the_library_offers_functions_of_the_model_alone(delivery: Delivery) -> None:
    library = delivery.out / "digits_cnn" / "lib" / "libdigits_cnn.a"
    text = run(library.parent, "nm", "-P", "--defined-only", "--extern-only", str(library))
    names = [line.split()[0] for line in text.splitlines() if len(line.split()) > 1]

    assert "digits_cnn_minimal_init" in names
    assert all(name.startswith("digits_cnn_") for name in names)


@pytest.mark.parametrize("name", MACHINES)
def test_an_example_with_another_weight_says_which_output_differs(
    name: str, found: Characterization, options: BuildOptions
) -> None:
    sources = Sources(found, MODEL, machine(name), runtime=find_tflm())
    board = {"board_id": f"qemu:{name}"}
    changed = with_another_weight(sources)
    library = LibraryBuilder(machine(name), options, **board).build(sources.name, changed)
    builder = EmulatedExample(machine(name), options, **board)
    program = builder.build({sources.name: library.path}, sources.example("stdio"))

    ended = run_example(program.files[".elf"], machine(name))

    first, last = ended.output.splitlines()
    assert ended.status == 1
    output = re.escape(f"digits_cnn: output 0 ({MODEL.outputs[0].name}): ")
    element = r"first \[\d+\]: board -?\d+, PC -?\d+"
    assert re.match(rf"{output}\d+ of \d+ elements differ, {element}", first)
    assert last == "digits_cnn: outputs differ"


def with_another_weight(sources: Sources) -> dict[str, str]:
    """The sources of the library with the largest weight of the first layer negated."""
    from ai_edge_litert import schema_py_generated as schema

    weights = MODEL.operators[0].inputs[1]
    assert weights is not None
    root = schema.Model.GetRootAs(MODEL.content, 0)
    buffer = root.Buffers(root.Subgraphs(0).Tensors(weights.index).Buffer())
    start = buffer._tab.Vector(buffer._tab.Offset(4))
    values = buffer.DataAsNumpy().view("int8")
    largest = int(abs(values.astype(int)).argmax())
    content = bytearray(MODEL.content)
    content[start + largest] = -int(values[largest]) & 0xFF
    file = f"{sources.name}_model_data.cc"
    text = sources.library()[file].replace(c_data(MODEL.content), c_data(bytes(content)))
    return sources.library() | {file: text}


@pytest.mark.skipif("NEURALSPOT_ROOT" not in os.environ, reason="NEURALSPOT_ROOT is not set")
def test_library_example_and_power_link_for_an_evb(
    found: Characterization, options: BuildOptions, tmp_path: Path
) -> None:
    board = board_spec("apollo3p_evb")

    delivery = generate(MODEL, board, tmp_path, ["library", "power"], found, options)

    assert not delivery.left_out
    assert len(delivery.footprints) == 2
    image = tmp_path / "bin" / "digits_cnn_example.bin"
    assert delivery.footprints[1].flash_bytes == image.stat().st_size
    assert (tmp_path / "bin" / "digits_cnn_power.axf").stat().st_size > 0
    assert delivery.example is None
