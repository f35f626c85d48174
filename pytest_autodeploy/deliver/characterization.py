"""What a run has found out about a model: all that libraries and examples are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_autodeploy.base.measurement import Source

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model, Tensor

ALIGNMENT = 16
ALLOCATOR_BYTES = 512
VARIABLE_BYTES = 64
VARIABLE_ARENA_FORMULA = (
    f"{ALLOCATOR_BYTES} + {VARIABLE_BYTES} * variables, 0 for a model without any"
)
"""For TFLM's own objects, and for its record of one variable; both are below that on a core with
64-bit pointers. The values of the variables lie in the tensor arena."""

Unit = Literal["steps", "real"]


def variable_arena_bytes(variables: int) -> int:
    """Bytes of the arena of resource variables, after ``VARIABLE_ARENA_FORMULA``."""
    return ALLOCATOR_BYTES + VARIABLE_BYTES * variables if variables else 0


@dataclass(frozen=True)
class TensorDetails:
    """One tensor of the model file; ``index`` counts within its ``subgraph``.

    ``scales`` and ``zero_points`` are empty without quantisation, one pair for a whole tensor, or
    one per index of dimension ``axis``.
    """

    index: int
    subgraph: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int = 0
    constant: bool = False
    variable: bool = False

    @property
    def scale(self) -> float:
        """The scale of a tensor that is quantised as a whole, else 0, as in TFLM."""
        return self.scales[0] if len(self.scales) == 1 else 0.0

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor that is quantised as a whole, else 0."""
        return self.zero_points[0] if len(self.scales) == 1 else 0


@dataclass(frozen=True)
class OperatorDetails:
    """One operator in execution order; ``macs`` are None when unknown."""

    index: int
    subgraph: int
    name: str
    custom: bool
    macs: int | None


@dataclass(frozen=True)
class ModelDetails:
    """What the model file says. ``inputs`` and ``outputs`` are those of the main subgraph.

    ``macs`` are those of one inference, None when an operator has unknown work.
    """

    name: str
    sha256: str
    size_bytes: int
    parameters: int
    macs: int | None
    inputs: tuple[TensorDetails, ...]
    outputs: tuple[TensorDetails, ...]
    tensors: tuple[TensorDetails, ...]
    operators: tuple[OperatorDetails, ...]


@dataclass(frozen=True)
class Place:
    """Where the model was characterised: the board in its own words, and the kind of its figures.

    ``engine_version`` names the TFLM that ran there.
    """

    board: str
    name: str
    core: str
    source: Source
    engine: str
    engine_version: str
    build_id: str
    clock: str
    model_memory: str
    arena_memory: str


@dataclass(frozen=True)
class ExampleTensor:
    """The stored values of one input, or what the PC computes for one output.

    ``data`` is little-endian, in C order. Of an output, an element passes when
    ``|board - pc| <= atol + rtol * |pc|``, in stored values (``steps``) or in ``real`` ones;
    ``tolerance`` says that in words.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes
    unit: Unit = "steps"
    atol: float = 0.0
    rtol: float = 0.0
    tolerance: str = ""


@dataclass(frozen=True)
class Example:
    """One inference: its inputs, and the outputs of the kernel ``path`` of the PC.

    ``origin`` says where the inputs come from; ``seed`` is None when they are not random.
    """

    inputs: tuple[ExampleTensor, ...]
    outputs: tuple[ExampleTensor, ...]
    path: str
    origin: str
    seed: int | None


@dataclass(frozen=True)
class Characterization:
    """What a run on a board has found out about a model, in sizes of bytes.

    ``arena_bytes`` is the smallest arena that ran the model, ``arena_used_bytes`` what the engine
    says it used. ``resource_variables`` counts those that VAR_HANDLE operators name, and
    ``resolver_methods`` are the operators that firmware has to register. ``agreement`` says in
    words how near the board came to the PC over all inferences of the run, ``tool_version`` is that
    of pytest-autodeploy. Saved by ``files.save`` and read by ``files.load``.
    """

    details: ModelDetails
    arena_bytes: int
    arena_used_bytes: int
    resource_variables: int
    resolver_methods: tuple[str, ...]
    place: Place
    example: Example
    agreement: str
    tool_version: str

    @property
    def variable_arena_bytes(self) -> int:
        """Bytes of the arena of resource variables."""
        return variable_arena_bytes(self.resource_variables)


def details_of(model: Model) -> ModelDetails:
    """The static part, from the model's file."""
    by_key = {(tensor.subgraph, tensor.index): _tensor(tensor) for tensor in model.tensors}
    return ModelDetails(
        name=model.name,
        sha256=model.sha256,
        size_bytes=model.size_bytes,
        parameters=model.parameters,
        macs=model.macs,
        inputs=tuple(by_key[tensor.subgraph, tensor.index] for tensor in model.inputs),
        outputs=tuple(by_key[tensor.subgraph, tensor.index] for tensor in model.outputs),
        tensors=tuple(by_key.values()),
        operators=tuple(
            OperatorDetails(each.index, each.subgraph, each.name, each.custom, each.macs)
            for each in model.operators
        ),
    )


def _tensor(tensor: Tensor) -> TensorDetails:
    quantization = tensor.quantization
    return TensorDetails(
        index=tensor.index,
        subgraph=tensor.subgraph,
        name=tensor.name,
        shape=tensor.shape,
        dtype=tensor.dtype,
        bytes=tensor.bytes,
        scales=quantization.scales if quantization else (),
        zero_points=quantization.zero_points if quantization else (),
        axis=quantization.axis if quantization else 0,
        constant=tensor.constant,
        variable=tensor.variable,
    )
