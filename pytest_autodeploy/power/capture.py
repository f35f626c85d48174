"""Captures: the raw stream of a measurement in a .jls file, and what it is a stream of.

The file has the signals that Joulescope's own software writes (``current``, ``voltage``,
``gpi[0]``, ``gpi[1]``), and a JSON object as user data. Samples that were lost are not numbers.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.base.errors import MissingExtra
from pytest_autodeploy.limits.energy import MODES
from pytest_autodeploy.power.errors import CaptureError
from pytest_autodeploy.power.meter import IN0, IN1, Chunk

if TYPE_CHECKING:
    from pytest_autodeploy.base.measurement import Source
    from pytest_autodeploy.power.meter import Codes, MeterFacts

USER_DATA = 0xAD0
"""The tag of our user data; the Joulescope UI shows only the tag 0."""

CURRENT, VOLTAGE, GPI0, GPI1 = 1, 2, 3, 4
SIGNALS = {
    CURRENT: ("current", "A"),
    VOLTAGE: ("voltage", "V"),
    GPI0: ("gpi[0]", ""),
    GPI1: ("gpi[1]", ""),
}
GAP_PIECE = 1 << 16


@dataclasses.dataclass(frozen=True)
class About:
    """What a capture is of; ``inferences`` is the count of each of its windows."""

    meter: str
    source: Source
    max_a: float
    max_v: float
    model_sha256: str
    model: str
    board: str
    mode: str
    inferences: int
    latency_us: float
    least_s: float

    def as_json(self) -> bytes:
        """The user data of a capture."""
        return json.dumps({"format": 1, **dataclasses.asdict(self)}, sort_keys=True).encode()

    @classmethod
    def read(cls, data: bytes) -> Self:
        """What `as_json` wrote. Raises CaptureError."""
        try:
            plain = json.loads(data, parse_constant=_no_number)
            if plain.pop("format") != 1:
                raise CaptureError(
                    "the capture is of a newer pytest-autodeploy",
                    hint="upgrade pytest-autodeploy, or record it anew",
                )
            about = cls(**plain)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise CaptureError(f"the capture's own data cannot be read: {error}") from None
        for field in dataclasses.fields(cls):
            value = getattr(about, field.name)
            if not _can_be(field.name, str(field.type), value):
                text = f"{field.name}={value!r:.60}"
                raise CaptureError(f"the capture's own data cannot be read: {text}")
        return about


_CHOICES = {"mode": MODES, "source": ("measured", "modelled")}
_MOST = 1e12
_LONGEST_TEXT = 500


def _can_be(name: str, kind: str, value: object) -> bool:
    """Whether a field of a capture's own data can be true: its type, its range, its letters."""
    if name in _CHOICES:
        return value in _CHOICES[name]
    if kind in ("int", "float"):
        number = type(value) in ((int,) if kind == "int" else (int, float))
        return number and (name == "inferences") <= cast("float", value) <= _MOST
    return isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST_TEXT


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


class CaptureWriter(Closing):
    """Writes chunks to a .jls file at ``path``; use it as a context. Raises CaptureError."""

    def __init__(self, path: Path, facts: MeterFacts, about: About) -> None:
        jls = import_jls()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = jls.Writer(str(path))
        except (OSError, RuntimeError) as error:
            raise CaptureError(
                f"cannot write the capture {path}: {error}",
                hint="choose another --autodeploy-output",
            ) from None
        self._end = -1
        self._rate_hz = facts.rate_hz
        self._jls = jls
        self._bits: Codes | None = None
        self._writer.source_def(
            source_id=1,
            name=facts.name,
            vendor="pytest-autodeploy",
            model=facts.name,
            version="1",
            serial_number="",
        )
        self._writer.user_data(USER_DATA, about.as_json())
        for signal, (name, units) in SIGNALS.items():
            self._writer.signal_def(
                signal_id=signal,
                source_id=1,
                signal_type=jls.SignalType.FSR,
                data_type=jls.DataType.F32 if units else jls.DataType.U1,
                sample_rate=round(facts.rate_hz),
                name=name,
                units=units,
            )

    def write(self, chunk: Chunk) -> None:
        """Add samples; those that are missing before them become not numbers."""
        import numpy as np

        if self._end < 0:
            self._end = chunk.first
            self._first, self._began = chunk.first, self._jls.time64.now()
            self._tell_time()
        while self._end < chunk.first:
            lost = min(chunk.first - self._end, GAP_PIECE)
            nothing = np.full(lost, np.nan, np.float32)
            level = self._bits[-1] if self._bits is not None and len(self._bits) else 0
            self._put(Chunk(self._end, nothing, nothing, np.full(lost, level, np.uint8)))
        self._put(chunk)

    def _put(self, chunk: Chunk) -> None:
        import numpy as np

        at = self._end
        self._writer.fsr_f32(CURRENT, at, np.ascontiguousarray(chunk.current))
        self._writer.fsr_f32(VOLTAGE, at, np.ascontiguousarray(chunk.voltage))
        self._end += len(chunk)
        # pyjls 0.17 takes one-bit signals as whole bytes: what does not fill one waits for the
        # next.
        waiting = chunk.lines if self._bits is None else np.concatenate((self._bits, chunk.lines))
        whole = len(waiting) - len(waiting) % 8
        self._put_bits(waiting[:whole], self._end - len(waiting))
        self._bits = waiting[whole:].copy()

    def _put_bits(self, lines: Codes, at: int) -> None:
        import numpy as np

        if len(lines):
            for signal, bit in ((GPI0, IN0), (GPI1, IN1)):
                packed = np.packbits((lines & bit) != 0, bitorder="little")
                self._writer.fsr(signal, at, packed)

    def close(self) -> None:
        """Finish the file."""
        import numpy as np

        if self._bits is not None and len(self._bits):
            last = np.pad(self._bits, (0, 8 - len(self._bits)), mode="edge")
            self._put_bits(last, self._end - len(self._bits))
        self._bits = None
        if self._end >= 0:
            self._tell_time()
        self._writer.close()

    def _tell_time(self) -> None:
        """Say when the next sample was taken: viewers show no time else."""
        seconds = (self._end - self._first) / self._rate_hz
        at = self._began + round(seconds * self._jls.time64.SECOND)
        for signal in SIGNALS:
            self._writer.utc(signal, self._end, at)


def import_jls() -> Any:
    """The module pyjls. Raises MissingExtra."""
    try:
        import pyjls
    except ImportError:
        raise MissingExtra("a .jls capture", "joulescope") from None
    return pyjls
