"""The parts that a program with a model consists of, by which its flash and RAM are told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

MODEL = "model"
ARENA = "arena"
INTERFACE = "model interface"
RUNTIME = "TFLM runtime"
KERNELS = "kernels: "
APPLICATION = "application"
C_LIBRARY = "C library"
STACK = "stack and heap"
PADDING = "padding"

_SHARED = "shared"
_FAMILIES = (
    ("transposed convolution", r"transpose_conv|arm_transpose_conv_|arm_nn_transpose_conv"),
    ("depthwise convolution", r"depthwise_conv|arm_depthwise_|arm_nn_depthwise_"),
    ("convolution", r"conv($|_)|arm_convolve_|arm_nn_mat_mult_kernel_"),
    ("fully connected", r"fully_connected|arm_fully_connected_"),
    ("matrix multiplication", r"batch_matmul|arm_batch_matmul_"),
    ("pooling", r"pooling|l2_pool_2d|arm_(avg|max)_?pool_"),
    ("softmax", r"(log_)?softmax|arm_softmax_|arm_nn_softmax_"),
    ("recurrent", r"lstm_|unidirectional_sequence_lstm|svdf|arm_lstm_|arm_nn_lstm_|arm_svdf_"),
    (
        "activations",
        r"activations|(leaky_re|pre|e)lu($|_)|hard_swish|logistic|tanh"
        r"|arm_(leaky_)?relu|arm_logistic|arm_tanh|arm_hard_swish|arm_clamp|arm_nn_activation",
    ),
    (
        "element-wise",
        r"(add|add_n|sub|mul|div|neg|exp|ceil|floor|floor_div|floor_mod|round)($|_common$)"
        r"|comparisons|elementwise|logical|maximum_minimum|squared_difference|select"
        r"|arm_(elementwise|add|sub|mul|minimum|maximum|comparison)_",
    ),
    ("reductions", r"reduce|arg_min_max|cumsum|l2norm|arm_(mean|reduce|argmax|argmin)_"),
    ("quantisation", r"(de)?quantize($|_common$)|cast|arm_(de)?quantize_"),
    ("resizing", r"resize_"),
    ("variables and control flow", r"if$|while$|call_once|var_handle|assign_var|read_var"),
    (
        "data movement",
        r"reshape|pad($|_)|mirror_pad|concatenation|pack$|unpack$|split|slice|strided_slice|gather"
        r"|transpose|squeeze|expand_dims|shape$|fill$|reverse|zeros_like|embedding_lookup"
        r"|broadcast_|(batch|space|depth)_to_|arm_(batch|space|depth)_to_"
        r"|arm_(concatenation|pad|reshape|transpose|strided_slice|split)_",
    ),
    ("Ethos-U", r"ethosu"),
    (_SHARED, r"kernel_util|micro_tensor_utils|portable_tensor_utils|arm_"),
)
_FAMILY = [(name, re.compile(pattern)) for name, pattern in _FAMILIES]
_MARK = ".autodeploy."
_USUAL = re.compile(r"\.(text|rodata|data|bss|init_array|fini_array)(\.|$)")
_STACKS = re.compile(r"stack|heap")
_C_LIBRARIES = re.compile(r"lib(c|m|g|gcc|nosys|stdc\+\+|supc\+\+|rdimon)(_nano)?\.a|crt\w+\.o")


def part_of_object(name: str) -> str:
    """The part to which an object of a TFLM library belongs, by its file name.

    The names are those of TFLM's and CMSIS-NN's sources; what they do not say is the runtime.
    """
    stem = name.partition(".")[0]
    family = next((name for name, pattern in _FAMILY if pattern.match(stem)), None)
    return KERNELS + family if family else RUNTIME


def section_suffix(part: str) -> str:
    """What the names of a part's sections end with in a library that this project makes."""
    return _MARK + re.sub(r"[^a-z]+", "_", part.lower())


def part_of_section(name: str, *, constant: bool) -> str:
    """The part to which a section of a library belongs that this project made.

    What is placed in a memory of the board is the model when it is ``constant``, else the arena.
    """
    for part in _PARTS:
        if name.endswith(section_suffix(part)):
            return part
    if _USUAL.match(name):
        return INTERFACE
    return MODEL if constant else ARENA


def part_of_file(archive: str, member: str, section: str) -> str:
    """The part to which something else belongs, by its file and by the section of the program."""
    if _STACKS.search(section):
        return STACK
    if not member:
        return PADDING
    library = PurePath(archive or member).name
    return C_LIBRARY if _C_LIBRARIES.fullmatch(library) else APPLICATION


def in_order(parts: Iterable[str]) -> list[str]:
    """Parts, each once, in the order in which they are told."""
    return sorted(set(parts), key=_PARTS.index)


_PARTS = [
    *(MODEL, ARENA),
    *(KERNELS + name for name, _ in _FAMILIES),
    *(RUNTIME, INTERFACE, APPLICATION, C_LIBRARY, STACK, PADDING),
]
