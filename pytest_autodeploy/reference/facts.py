"""What outputs say of themselves: NaN, infinity, always the same, at the ends of their range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_autodeploy.model.graph import Tensor

SATURATED_SHARE = 0.9
"""Above this share of elements at an end of their range, what differs inside hardly shows."""


@dataclass(frozen=True)
class OutputFacts:
    """One output over all inferences: how many elements, and how many tell nothing.

    ``nan`` and ``infinite`` count elements. ``constant``: it was the same for every one of several
    inputs. ``saturated``: the share of a quantised output's elements that are the least or the
    largest that its type holds.
    """

    name: str
    elements: int
    nan: int = 0
    infinite: int = 0
    constant: bool = False
    saturated: float = 0.0

    @property
    def not_finite(self) -> str:
        """Such as ``80 of 80 elements are NaN``; nothing when all are finite."""
        kinds = (("NaN", self.nan), ("infinite", self.infinite))
        whole = f"of {self.elements} elements are"
        parts = [f"{count} {whole} {kind}" for kind, count in kinds if count]
        return ", ".join(parts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the inputs tell little about this output."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.constant:
            yield f"output {self.name!r} is the same for every input: these inputs tell little"
        elif self.saturated > SATURATED_SHARE:
            share = f"{100 * self.saturated:.3g} %"
            yield (
                f"output {self.name!r} is saturated in {share} of its elements: these inputs tell"
                " little"
            )


def facts_of(tensor: Tensor, values: NDArray[Any]) -> OutputFacts:
    """The facts of an output of all inferences, an array (n, *tensor shape)."""
    import numpy as np

    if not values.size:
        return OutputFacts(tensor.name, 0)
    floats = values.dtype.kind == "f"
    nan = int(np.count_nonzero(np.isnan(values))) if floats else 0
    return OutputFacts(
        name=tensor.name,
        elements=values.size,
        nan=nan,
        infinite=int(np.count_nonzero(np.isinf(values))) if floats else 0,
        constant=not nan and len({sample.tobytes() for sample in values}) == 1 < len(values),
        saturated=_saturated(tensor, values),
    )


def all_facts(tensors: Sequence[Tensor], outputs: Sequence[NDArray[Any]]) -> list[OutputFacts]:
    """The facts of every output."""
    return [facts_of(tensor, values) for tensor, values in zip(tensors, outputs, strict=True)]


def _saturated(tensor: Tensor, values: NDArray[Any]) -> float:
    import numpy as np

    if tensor.quantization is None or values.dtype.kind not in "iu":
        return 0.0
    ends = np.iinfo(values.dtype)
    return float(np.mean((values == ends.min) | (values == ends.max)))
