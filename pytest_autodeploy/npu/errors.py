"""What can go wrong with an estimate."""

from __future__ import annotations

from typing import Literal

from pytest_autodeploy.base.errors import AutodeployError

Kind = Literal["compiled", "crashed", "rejected", "timeout", "unreadable", "no cycles"]
"""Vela's own output given as a model, Vela died, said no, took too long, wrote what cannot be
read, or gave no figures for what runs on the NPU."""


class NpuEstimateFailed(AutodeployError):
    """There is no estimate of this model on this accelerator; ``kind`` tells outcomes apart."""

    def __init__(
        self, what: str, *, kind: Kind, seconds: float | None = None, hint: str | None = None
    ) -> None:
        super().__init__(what, seconds=seconds, hint=hint)
        self.kind = kind
