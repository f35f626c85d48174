"""The course of the power in a bounded number of bins that keep every spike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_autodeploy.session.energy import Waveform

if TYPE_CHECKING:
    import numpy as np

    from pytest_autodeploy.power.tally import Watts

    Bins = np.ndarray[Any, np.dtype[np.float64]]

FINEST = 512
"""Samples of a bin before bins are merged."""

MOST_BINS = 1024


class Envelope:
    """Builds a waveform: when there are too many bins, each two become one."""

    def __init__(self) -> None:
        import numpy as np

        self._bins: Bins = np.empty((3, MOST_BINS))  # least, sum, most
        self.clear(0)

    def clear(self, first: int) -> None:
        """Begin anew at the sample with the id ``first``."""
        self.first = first
        self._width = FINEST
        self._full = 0
        self._open = 0  # samples in the bin after the full ones

    @property
    def samples(self) -> int:
        """Samples since ``first``."""
        return self._full * self._width + self._open

    def add(self, power: Watts) -> None:
        """Add samples that follow those before."""
        start = 0
        while start < len(power):
            if self._full == MOST_BINS:
                self._merge()
            if self._open or len(power) - start < self._width:
                start += self._fill(power[start : start + self._width - self._open])
            else:
                room = MOST_BINS - self._full
                count = min((len(power) - start) // self._width, room)
                self._add_bins(power[start : start + count * self._width].reshape(count, -1))
                start += count * self._width

    def _add_bins(self, power: Watts) -> None:
        into = self._bins[:, self._full : self._full + len(power)]
        power.min(axis=1, out=into[0])
        power.sum(axis=1, out=into[1])
        power.max(axis=1, out=into[2])
        self._full += len(power)

    def _fill(self, power: Watts) -> int:
        bin_ = self._bins[:, self._full]
        least, total, most = power.min(), power.sum(), power.max()
        if self._open:
            least, total, most = min(least, bin_[0]), total + bin_[1], max(most, bin_[2])
        bin_[:] = least, total, most
        self._open += len(power)
        if self._open == self._width:
            self._full, self._open = self._full + 1, 0
        return len(power)

    def _merge(self) -> None:
        half = MOST_BINS // 2
        self._bins[0, :half] = self._bins[0].reshape(half, 2).min(axis=1)
        self._bins[1, :half] = self._bins[1].reshape(half, 2).sum(axis=1)
        self._bins[2, :half] = self._bins[2].reshape(half, 2).max(axis=1)
        self._full, self._width = half, 2 * self._width

    def keep_latest(self, samples: int) -> None:
        """Forget bins at the front as long as ``samples`` are left."""
        drop = min(max(0, self.samples - samples) // self._width, self._full)
        if drop:
            last = self._full + bool(self._open)
            self._bins[:, : last - drop] = self._bins[:, drop:last].copy()
            self._full -= drop
            self.first += drop * self._width

    def waveform(self, rate_hz: float, start: int, end: int) -> Waveform:
        """The bins so far; the window has the sample ids from ``start`` to before ``end``."""
        import numpy as np

        last = self._full + bool(self._open)
        counts = np.full(last, self._width)
        if self._open:
            counts[-1] = self._open
        least, total, most = self._bins[:, :last]
        return Waveform(
            self._width / rate_hz,
            tuple(least.tolist()),
            tuple((total / counts).tolist()),
            tuple(most.tolist()),
            ((start - self.first) / rate_hz, (end - self.first) / rate_hz),
        )
