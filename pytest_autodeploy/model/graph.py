"""The static view of a model: its tensors and its operators in execution order."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Option = int | float | bool | str

STATEFUL = frozenset(
    {
        "CIRCULAR_BUFFER",
        "SignalDelay",
        "SignalFilterBankSpectralSubtraction",
        "SignalFramer",
        "SignalOverlapAdd",
        "SignalStacker",
    }
)
"""TFLM's custom operators that keep samples from one inference to the next."""

_BITS = {"bool": 8, "resource": 32, "string": 0, "variant": 0}


def bits_of(dtype: str) -> int:
    """Bits of one element; 0 for types without a fixed size. A resource is TFLM's 32-bit handle."""
    digits = re.search(r"\d+", dtype)
    return _BITS[dtype] if digits is None else int(digits[0])


@dataclass(frozen=True)
class Quantization:
    """real = scale * (stored - zero_point); one pair, or one per index of dimension ``axis``."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class Tensor:
    """One tensor, of that ``name`` in the file; ``index`` counts within its ``subgraph``.

    A dimension of unknown size is -1 in ``shape``. ``quantization`` is None for a tensor that is
    not quantised. ``constant``: its values are in the file. ``variable``: it keeps its values from
    one inference to the next. ``dtype`` is the numpy name ("int8"; also "string", "resource",
    "int4" and others that numpy lacks). ``dynamic``: a dimension is only known at run time. A batch
    dimension that the file gives as 1 is not dynamic: TFLM runs it as 1.
    """

    index: int
    subgraph: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    quantization: Quantization | None = None
    dynamic: bool = False
    constant: bool = False
    variable: bool = False

    @property
    def elements(self) -> int:
        """How many elements the shape holds; a dimension of unknown size (-1) counts as 1."""
        return math.prod(1 if size < 0 else size for size in self.shape)

    @property
    def bytes(self) -> int:
        """Size in bytes, elements below 8 bits packed; 0 when the type has no fixed size."""
        return (self.elements * bits_of(self.dtype) + 7) // 8

    @property
    def scale(self) -> float | None:
        """The scale when the tensor is quantised as a whole, else None."""
        quantization = self.quantization
        return quantization.scales[0] if quantization and len(quantization.scales) == 1 else None

    @property
    def zero_point(self) -> int | None:
        """The zero point when the tensor is quantised as a whole, else None."""
        quantization = self.quantization
        whole = quantization is not None and len(quantization.scales) == 1
        return quantization.zero_points[0] if quantization and whole else None


@dataclass(frozen=True)
class Operator:
    """One operator of a ``subgraph``; ``index`` counts in execution order over all subgraphs.

    ``inputs`` and ``outputs`` are in TFLite's order; an omitted optional input is None. ``options``
    are the builtin options that work, order and variables depend on. ``name`` is the builtin
    operator ("CONV_2D") or the code of a ``custom`` one. ``resolver`` is the method of TFLM's
    MicroMutableOpResolver ("AddConv2D"), None when TFLM has no kernel. ``macs`` are those of one
    execution, with those of the subgraphs that it calls; None when unknown.
    """

    index: int
    subgraph: int
    name: str
    custom: bool
    resolver: str | None
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor, ...]
    macs: int | None
    options: Mapping[str, Option] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Signature:
    """A name under which a subgraph of the file can be called from TensorFlow."""

    key: str
    subgraph: int


@dataclass(frozen=True)
class Model:
    """What the file at ``path`` says.

    ``name`` is the file's name without its suffix, ``content`` its bytes, ``sha256`` their digest
    in hexadecimal, ``description`` a text that the converter left. ``inputs`` and ``outputs`` are
    those of the main subgraph, subgraph 0, of so many ``subgraphs``; ``tensors`` are all of the
    file. ``operators`` are in execution order: the operators of a subgraph follow the first
    operator that calls it; subgraphs that nothing calls come last. ``parameters`` counts the
    elements of the constant tensors that are floating or quantised, once for each buffer.
    ``resource_variables`` counts the distinct variables that VAR_HANDLE operators name. ``origin``
    says how the file was made, when this project has converted it.
    ``signatures`` are the names by which TensorFlow calls subgraphs.
    """

    name: str
    path: Path
    content: bytes = field(repr=False)
    sha256: str
    operators: tuple[Operator, ...] = field(repr=False)
    tensors: tuple[Tensor, ...] = field(repr=False)
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    parameters: int
    resource_variables: int
    subgraphs: int
    description: str
    signatures: tuple[Signature, ...] = ()
    origin: str = ""

    @property
    def size_bytes(self) -> int:
        """Size of the file."""
        return len(self.content)

    @property
    def stateful(self) -> bool:
        """Whether an inference depends on those before it: variables, LSTM, SVDF, streaming."""
        return (
            self.resource_variables > 0
            or any(tensor.variable for tensor in self.tensors)
            or any(operator.custom and operator.name in STATEFUL for operator in self.operators)
        )

    @property
    def known_macs(self) -> int:
        """MACs of one inference, as far as they are known."""
        return sum(operator.macs or 0 for operator in self.operators if operator.subgraph == 0)

    @property
    def macs(self) -> int | None:
        """MACs of one inference; None when an operator of the main subgraph has unknown work."""
        main = [operator for operator in self.operators if operator.subgraph == 0]
        return None if any(operator.macs is None for operator in main) else self.known_macs

    @property
    def unknown_operators(self) -> tuple[str, ...]:
        """Names of the operators whose MACs are unknown, each once."""
        unknown = {operator.name for operator in self.operators if operator.macs is None}
        return tuple(sorted(unknown))

    @property
    def resolver_methods(self) -> tuple[str, ...]:
        """The resolver methods that firmware for this model calls, each once."""
        methods = {operator.resolver for operator in self.operators}
        return tuple(sorted(method for method in methods if method is not None))
