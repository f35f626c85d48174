"""What the tests of libraries and examples build: a small stand-in for TFLM, with its traps."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pytest_autodeploy.deliver.characterization import (
    Characterization,
    Example,
    ExampleTensor,
    Place,
    details_of,
)
from pytest_autodeploy.deliver.example import EmulatedExample
from pytest_autodeploy.deliver.gnu import CODE_FLAGS, CORE_FLAGS, CXX_FLAGS
from pytest_autodeploy.deliver.library import LibraryBuilder
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.model.graph import Model, Tensor
from tests.helpers.emulation import machine
from tests.helpers.tflm_trees import tflm

TAGS = {"cortex-m4f": "cm4", "cortex-m55": "cm55"}
KERNELS = {
    "conv": """
        #include "shared.h"
        int conv(int value) { return bias() + scaled<int>(value); }
        int conv_that_nobody_calls() { return 77; }
    """,
    "fully_connected": """
        #include "shared.h"
        #include <cmath>
        int fully_connected(int value) { return static_cast<int>(std::sqrt(scaled<int>(value))); }
    """,
    "shared": """
        #include "shared.h"
        namespace {
        struct Once { Once() : bias(5) {} int bias; };
        Once once;
        }
        __attribute__((weak)) int bias() { return once.bias; }
    """,
    "pooling": "int pooling(int value) { static int table[4000] = {1}; return table[value]; }",
}
SHARED = """
    #pragma once
    int bias();
    int conv(int);
    int fully_connected(int);
    template <typename T> __attribute__((noinline)) T scaled(T value) { return SCALE * value; }
"""


def fake_tflm(root: Path, scale: int) -> Path:
    """A TFLM tree whose kernels multiply by ``scale``, with a real library for each machine.

    It has a weak symbol, a template, an initialiser, unwind tables, two members of one name, and
    unused code.
    """
    tflm(root)
    (root / "shared.h").write_text(SHARED.replace("SCALE", str(scale)))
    for machine_name in ("mps2-an386", "mps3-an547"):
        core = machine(machine_name).core
        folder = root / "objects" / core
        folder.mkdir(parents=True)
        for file, text in KERNELS.items():
            (folder / f"{file}.cc").write_text(text)
        flags = [*CORE_FLAGS[core], *CODE_FLAGS, *CXX_FLAGS, "-funwind-tables", f"-I{root}"]
        run(folder, "g++", "-c", *flags, *(f"{file}.cc" for file in KERNELS))
        library = root / f"lib/libtensorflow-microlite-{TAGS[core]}-gcc-release.a"
        library.parent.mkdir(exist_ok=True)
        members = [f"{file}.o" for file in KERNELS if file != "shared"]
        run(folder, "ar", "rc", str(library), *members)
        run(folder, "g++", "-c", *flags, "-o", "conv.o", "shared.cc")
        run(folder, "ar", "qc", str(library), "conv.o")
    return root


def run(folder: Path, tool: str, *arguments: str) -> str:
    """What a GNU tool writes."""
    command = [f"arm-none-eabi-{tool}", *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def model_sources(name: str) -> dict[str, str]:
    """What stands in for the generated source of a model: one function, an arena and data."""
    return {
        f"{name}_model_data.cc": f"""
            extern const unsigned char {name}_model_data[];
            const unsigned char {name}_model_data[1000] = {{7}};
        """,
        f"{name}_model.cc": f"""
            #include "shared.h"
            extern const unsigned char {name}_model_data[];
            namespace {{
            volatile unsigned char arena[2000];
            struct Counter {{ Counter() : count({name}_model_data[0]) {{}} int count; }};
            Counter counter;
            }}
            extern "C" int {name}_run(int value) {{
                arena[value] = static_cast<unsigned char>(conv(value));
                return arena[value] + counter.count;
            }}
        """,
    }


def library_builder(machine_name: str, cache: Path, tree: Path) -> LibraryBuilder:
    """Builds libraries for a machine of QEMU from a TFLM tree."""
    options = BuildOptions(cache=cache, tflm_root=str(tree))
    return LibraryBuilder(machine(machine_name), options, board_id=f"qemu:{machine_name}")


def example_builder(machine_name: str, cache: Path) -> EmulatedExample:
    """Builds examples for a machine of QEMU."""
    options = BuildOptions(cache=cache)
    return EmulatedExample(machine(machine_name), options, board_id=f"qemu:{machine_name}")


def characterization(model: Model, arena_bytes: int = 4096) -> Characterization:
    """What an emulated board might have found out about a model; all values are 0."""
    place = Place(
        *("qemu:mps2-an386", "mps2-an386", "cortex-m4f", "emulated"),
        *("tflm", "1.0", "0123", "HP", "mram", "sram"),
    )
    example = Example(
        tuple(map(_zeros, model.inputs)), tuple(map(_zeros, model.outputs)), "ref", "zeros", None
    )
    return Characterization(
        details=details_of(model),
        arena_bytes=arena_bytes,
        arena_used_bytes=arena_bytes,
        resource_variables=model.resource_variables,
        resolver_methods=model.resolver_methods,
        place=place,
        example=example,
        agreement="exact",
        tool_version="0",
    )


def _zeros(tensor: Tensor) -> ExampleTensor:
    return ExampleTensor(tensor.name, tensor.dtype, tensor.shape, bytes(tensor.bytes))
