"""Code that was written for AutoDeploy's libraries compiles and runs against ours."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver.sources import Sources
from tests.helpers.deliver_examples import MODELS, characterized, load

APPLICATION = """
#include <cstdio>
#include <cstring>
#include "NAME_neuralspot.h"
#include "NAME_neuralspot_tensors.h"
#define am_util_stdio_printf std::printf
#define am_util_debug_printf std::printf

static ns_model_state_t model;
static volatile int example_status = 0;

int main() {
    int status = NAME_ambiqsuite_minimal_init(&model);
    if (status != NAME_ambiqsuite_STATUS_SUCCESS) {
        return 10;
    }
    int numInputs = model.numInputTensors;
    int numOutputs = model.numOutputTensors;
    int offset = 0;
    for (int i = 0; i < numInputs; i++) {
        am_util_debug_printf("input %d (%d bytes)\\n", i, (int)model.model_input[i]->bytes);
        memcpy(model.model_input[i]->data.int8,
               ((char *)NAME_ambiqsuite_example_input_tensors) + offset,
               model.model_input[i]->bytes);
        offset += model.model_input[i]->bytes;
    }
    TfLiteStatus invoke_status = model.interpreter->Invoke();
    if (invoke_status != kTfLiteOk) {
        example_status = NAME_ambiqsuite_STATUS_FAILURE;
        return 11;
    }
    offset = 0;
    for (int i = 0; i < numOutputs; i++) {
        if (0 != memcmp(model.model_output[i]->data.int8,
                        ((char *)NAME_ambiqsuite_example_output_tensors) + offset,
                        model.model_output[i]->bytes)) {
            example_status = NAME_ambiqsuite_STATUS_INVALID_CONFIG;
            return 12;
        }
        offset += model.model_output[i]->bytes;
    }
    am_util_stdio_printf("matched, %d KB\\n", NAME_ambiqsuite_COMPUTED_ARENA_SIZE);
    return example_status;
}
"""
"""The steps of the application note's main, which names nothing but what AutoDeploy offers."""

LIBRARY = """
#include "NAME_api.h"
static uint8_t in[NAME_INPUTS][4096], out[NAME_OUTPUTS][4096];
static const size_t in_bytes[] = {IN}, out_bytes[] = {OUT};
extern "C" {
int NAME_minimal_init(void) { return INIT; }
size_t NAME_arena_used_bytes(void) { return 2500; }
int NAME_input(size_t index, NAME_tensor_t *tensor) {
    *tensor = {in[index], in_bytes[index], 9, 0.5f, -1, nullptr, 0};
    return 0;
}
int NAME_output(size_t index, NAME_tensor_t *tensor) {
    *tensor = {out[index], out_bytes[index], 9, 0.5f, -1, nullptr, 0};
    return 0;
}
int NAME_invoke(void) { out[0][0] = VALUE; return INVOKE; }
}
"""
"""In TFLM's place: outputs are zeros, as in the characterisation, but for a value."""


@pytest.fixture(params=["add-int8", "two\noutputs"])
def sources(request: pytest.FixtureRequest, tmp_path: Path) -> Sources:
    model = load(MODELS[request.param], tmp_path, request.param)
    return Sources(characterized(model), model, board_spec("apollo4p_evb"))


def ran(
    sources: Sources, folder: Path, *, init: int = 0, invoke: int = 0, value: int = 0
) -> subprocess.CompletedProcess[str]:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("not installed: g++")
    example = sources.characterization.example
    sizes = {
        "IN": ", ".join(str(len(each.data)) for each in example.inputs),
        "OUT": ", ".join(str(len(each.data)) for each in example.outputs),
        "INIT": str(init),
        "VALUE": str(value),
        "INVOKE": str(invoke),
    }
    text = LIBRARY
    for word, number in sizes.items():
        text = text.replace(f"{{{word}}}", f"{{{number}}}").replace(f" {word};", f" {number};")
    files = sources.library() | sources.example("ambiqsuite")
    headers = {name: content for name, content in files.items() if name.endswith(".h")}
    own = {"main.cc": APPLICATION, "library.cc": text}
    for name, content in (headers | own).items():
        (folder / name).write_text(
            content.replace("NAME", sources.name) if name in own else content
        )
    warnings = ("-Wall", "-Wextra", "-Werror", "-std=c++17")
    command = [compiler, *warnings, "main.cc", "library.cc", "-o", "program"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stderr
    return subprocess.run([folder / "program"], capture_output=True, text=True, timeout=30)


def test_the_steps_of_the_application_note_run(sources: Sources, tmp_path: Path) -> None:
    done = ran(sources, tmp_path)
    assert done.returncode == 0
    inputs = sources.characterization.example.inputs
    lines = [f"input {n} ({len(each.data)} bytes)" for n, each in enumerate(inputs)]
    kilobytes = -(-sources.arena.bytes // 1024)
    assert done.stdout.splitlines() == [*lines, f"matched, {kilobytes} KB"]


@pytest.mark.parametrize(
    ("broken", "code"), [({"init": 4}, 10), ({"invoke": -1}, 11), ({"value": 1}, 12)]
)
def test_what_goes_wrong_is_told(
    sources: Sources, tmp_path: Path, broken: dict[str, int], code: int
) -> None:
    assert ran(sources, tmp_path, **broken).returncode == code


def test_the_header_lies_beside_that_of_the_library(sources: Sources) -> None:
    from pytest_autodeploy.deliver import folders

    files = folders.library(sources)
    assert {f"lib/{sources.name}_{end}.h" for end in ("api", "neuralspot")} <= set(files)


def test_the_example_tells_a_debugger_how_far_it_is(sources: Sources) -> None:
    files = sources.example("ambiqsuite")
    text = files[f"{sources.name}_example.c"]
    assert f"volatile int {sources.name}_example_status" in text
    assert f"{sources.name}_example_progress = console_print;" in files["main.c"]
    assert "_progress = console_print" not in sources.example("stdio")["main.c"]
