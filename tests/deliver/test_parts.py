"""The parts of a program: which object and which section belongs to which."""

from __future__ import annotations

import pytest

from pytest_autodeploy.deliver.footprint import Footprint, PartSize
from pytest_autodeploy.deliver.library_script import library_script
from pytest_autodeploy.deliver.parts import (
    in_order,
    part_of_file,
    part_of_object,
    part_of_section,
    section_suffix,
)
from pytest_autodeploy.metrics.records.artifacts import FootprintRecord, PartRecord
from pytest_autodeploy.run.artifacts import footprint_record


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("conv.o", "kernels: convolution"),
        ("conv_common.o", "kernels: convolution"),
        ("arm_convolve_1x1_s8_fast.o", "kernels: convolution"),
        ("depthwise_conv.cc.o", "kernels: depthwise convolution"),
        ("transpose_conv.o", "kernels: transposed convolution"),
        ("transpose.o", "kernels: data movement"),
        ("fully_connected_common.o", "kernels: fully connected"),
        ("log_softmax.o", "kernels: softmax"),
        ("logistic.o", "kernels: activations"),
        ("elu.o", "kernels: activations"),
        ("elementwise.o", "kernels: element-wise"),
        ("add.o", "kernels: element-wise"),
        ("split.o", "kernels: data movement"),
        ("unidirectional_sequence_lstm.o", "kernels: recurrent"),
        ("while.o", "kernels: variables and control flow"),
        ("arm_nn_mat_mult_nt_t_s8.o", "kernels: shared"),
        ("kernel_util.o", "kernels: shared"),
        ("kernel_of_somebody.o", "TFLM runtime"),
        ("micro_interpreter.o", "TFLM runtime"),
        ("single_arena_buffer_allocator.o", "TFLM runtime"),
    ],
)
def test_objects_of_tflm_are_sorted_by_operator_family(name: str, part: str) -> None:
    assert part_of_object(name) == part


@pytest.mark.parametrize("part", ["model", "kernels: convolution", "kernels: element-wise"])
def test_sections_of_a_library_are_named_after_their_part(part: str) -> None:
    assert part_of_section(f".rodata{section_suffix(part)}", constant=True) == part


def test_what_lies_in_a_memory_of_the_board_is_the_model_or_the_arena() -> None:
    assert part_of_section(".shared", constant=True) == "model"
    assert part_of_section(".sram_bss", constant=False) == "arena"


def test_the_rest_of_a_library_is_the_interface_of_the_model() -> None:
    names = (".text.kws_init", ".rodata", ".bss._ZN12memory", ".init_array")

    assert {part_of_section(name, constant=True) for name in names} == {"model interface"}


@pytest.mark.parametrize(
    ("archive", "member", "section", "part"),
    [
        ("/usr/lib/thumb/libm.a", "lib_a-ef_exp.o", ".text", "C library"),
        ("lib/libc_nano.a", "lib_a-memcpy.o", ".text", "C library"),
        ("libgcc.a", "_arm_addsubdf3.o", ".text", "C library"),
        ("", "gcc/thumb/crti.o", ".text", "C library"),
        ("libam_hal.a", "am_hal_pwrctrl.o", ".text", "application"),
        ("", "main.o", ".text", "application"),
        ("ns-core.a", "startup_gcc.o", ".stack", "stack and heap"),
        ("", "", ".heap", "stack and heap"),
        ("", "", ".text", "padding"),
    ],
)
def test_the_rest_of_a_program_is_sorted_by_its_files(
    archive: str, member: str, section: str, part: str
) -> None:
    assert part_of_file(archive, member, section) == part


def test_parts_are_told_in_the_order_from_the_model_to_the_padding() -> None:
    parts = ["padding", "TFLM runtime", "kernels: pooling", "model", "arena"]

    assert in_order(parts) == ["model", "arena", "kernels: pooling", "TFLM runtime", "padding"]


def test_the_script_names_the_sections_of_every_member() -> None:
    script = library_script(["kws_model.o"], ["conv.o", "conv_common.o", "softmax.o", "conv.o"])

    line = next(line for line in script.splitlines() if ".text.autodeploy.kernels_conv" in line)
    assert line.count("*:conv.o(.text .text.*)") == 1
    assert "*:conv_common.o(.text .text.*)" in line
    assert "softmax" not in line


def test_a_model_that_is_called_data_has_an_interface_too() -> None:
    script = library_script(["data_model.o", "data_model_data.o"], [])

    line = next(line for line in script.splitlines() if ".rodata.autodeploy.model " in line)
    assert "data_model_data.o(" in line
    assert "data_model.o(" not in line


def test_the_totals_are_the_sums_of_the_parts() -> None:
    footprint = Footprint("library", (PartSize("model", 10, 0), PartSize("arena", 0, 7)))

    assert (footprint.flash_bytes, footprint.ram_bytes) == (10, 7)
    parts = (PartRecord("model", 10, 0), PartRecord("arena", 0, 7))
    assert footprint_record(footprint) == FootprintRecord("library", 10, 7, parts)
