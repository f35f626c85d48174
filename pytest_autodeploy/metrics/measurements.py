"""What the model itself says, as measurements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_autodeploy.base.measurement import Measurement

if TYPE_CHECKING:
    from pytest_autodeploy.session.model_session import ModelSession


def model_measurements(session: ModelSession) -> Iterator[Measurement]:
    """Layers, size and MACs."""
    yield Measurement("layers", session.state.layers, "1", "neither", session.source)
    yield Measurement("model_size", session.model.size_bytes, "B", "lower", "exact")
    if session.model.macs is not None:
        yield Measurement("macs", session.model.macs, "1", "neither", "estimated")
