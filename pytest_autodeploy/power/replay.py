"""The replay of a capture: its samples, in chunks that always begin at the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_autodeploy.power.capture import USER_DATA, About, import_jls
from pytest_autodeploy.power.capture_copy import readable
from pytest_autodeploy.power.errors import CaptureError
from pytest_autodeploy.power.meter import IN0, IN1, Chunk, MeterFacts

CHUNK = 1 << 16
NAMES = ("current", "voltage", "gpi[0]", "gpi[1]")
UNKNOWN_MAX_A, UNKNOWN_MAX_V = 10.0, 15.0
"""The bounds of a Joulescope, for captures that do not say with what they were made."""


MOST_HZ = 100_000_000
"""More samples in a second than any meter takes."""


class Replay:
    """A capture as a meter: nothing can be switched or triggered, and the stream has an end.

    ``about`` is None for a capture of another program. ``cut_short``: it was not closed, or a part
    of the file is missing; then a copy is read, as reading repairs such a file. Raises
    CaptureError, or MissingExtra.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        jls = import_jls()
        if not path.is_file():
            raise CaptureError(f"no such capture: {path}")
        self._file = readable(path)
        self.cut_short = self._file.cut_short
        self._reader: Any = None
        try:
            self._reader = jls.Reader(str(self._file.path))
        except (OSError, RuntimeError, ValueError) as error:
            self.close()
            short = ", which is cut short" if self.cut_short else ""
            raise CaptureError(f"cannot read the capture {path}{short}: {error}") from None
        try:
            self._signals = self._find_signals()
            self.about = self._read_about()
        except CaptureError:
            self.close()
            raise

    def _find_signals(self) -> dict[str, Any]:
        signals = {signal.name: signal for signal in self._reader.signals.values()}
        missing = [name for name in NAMES if name not in signals]
        if missing:
            raise CaptureError(
                f"the capture {self.path} has no signal {', '.join(missing)}",
                hint="Record current, voltage and the inputs 0 and 1 of the Joulescope.",
            )
        found = {name: signals[name] for name in NAMES}
        if len({signal.sample_rate for signal in found.values()}) > 1:
            raise CaptureError(f"the signals of the capture {self.path} differ in sample rate")
        rate = found["current"].sample_rate
        if not 0 < rate <= MOST_HZ:
            raise CaptureError(f"the capture {self.path} says it has {rate} samples in a second")
        return found

    def _read_about(self) -> About | None:
        found: list[bytes] = []

        def take(tag: int, data: Any) -> bool:
            if tag == USER_DATA:
                found.append(bytes(data))
            return bool(found)

        self._reader.user_data(take)
        return About.read(found[0]) if found else None

    def open(self) -> MeterFacts:
        """What made the capture, as far as it says."""
        about, rate = self.about, float(self._signals["current"].sample_rate)
        if about is None:
            name = f"replay of {self.path.name}"
            return MeterFacts(name, "measured", rate, UNKNOWN_MAX_A, UNKNOWN_MAX_V)
        name = f"replay of {self.path.name} ({about.meter})"
        return MeterFacts(name, about.source, rate, about.max_a, about.max_v)

    @contextmanager
    def streaming(self) -> Iterator[Iterator[Chunk]]:
        """All samples of the capture."""
        yield self._chunks()

    def close(self) -> None:
        """Release the file."""
        if self._reader is not None:
            self._reader.close()
        self._reader = None
        self._file.close()

    def _chunks(self) -> Iterator[Chunk]:
        offsets = {name: signal.sample_id_offset for name, signal in self._signals.items()}
        start = max(offsets.values())
        end = min(offsets[name] + s.length for name, s in self._signals.items())
        for first in range(start, end, CHUNK):
            count = min(CHUNK, end - first)
            current, voltage, in0, in1 = (
                self._read(signal, first - offsets[name], count)
                for name, signal in self._signals.items()
            )
            yield Chunk(first, current, voltage, in0 * IN0 | in1 * IN1)

    def _read(self, signal: Any, start: int, count: int) -> Any:
        import numpy as np

        try:
            data = self._reader.fsr(signal.signal_id, start, count)
        except (OSError, RuntimeError, ValueError, MemoryError) as error:
            raise CaptureError(
                f"the capture {self.path} is damaged at sample {start} of {signal.name}: {error}",
                hint="record it anew, or copy it again from where it was recorded",
            ) from None
        if signal.units or data.dtype != np.uint8:
            return data
        # pyjls 0.17 gives one-bit signals as whole bytes, the first sample in the lowest bit.
        return np.unpackbits(data, bitorder="little")[:count]
