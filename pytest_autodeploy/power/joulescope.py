"""Joulescopes, by the vendor's package: JS110 and JS220; JS320 where its driver knows it.

The package has one driver per process, which it makes at the first use; everything here goes
through it. Samples come on the driver's thread into a queue of bounded length.
"""

from __future__ import annotations

import queue
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.base.errors import MissingExtra
from pytest_autodeploy.base.lease import Lease, LeaseHeld, take_lease
from pytest_autodeploy.base.lease_holder import LeaseUnusable
from pytest_autodeploy.power.aligned import Aligned
from pytest_autodeploy.power.errors import MeterFailed, MeterUnavailable
from pytest_autodeploy.power.meter import Chunk, MeterFacts

TOPICS = {"i": "s/i/", "v": "s/v/", "gpi0": "s/gpi/0/", "gpi1": "s/gpi/1/"}
REMOVED = "@/!remove"

OPEN_TIMEOUT_S = 10.0
SILENCE_S = 2.0
QUEUE_PIECES = 16_384
"""More than the driver sends in two seconds."""

OWN_BUFFER_S = 1
"""The package fills a buffer of its own, 30 s long, which is not used here."""

MODELS = {"js110": 2_000_000.0, "js220": 1_000_000.0, "js320": 1_000_000.0}
"""Samples a second of each model."""

MAX_A, MAX_V = 10.0, 15.0


@dataclass(frozen=True)
class _Samples:
    """What the driver sends of a signal."""

    signal: str
    value: Mapping[str, Any]


class Joulescope:
    """The Joulescope with a serial number, or the only one; ``io_voltage`` is the board's.

    A JS110 drives its output with that voltage; a JS220 takes it from its Vref pin. One that
    another run uses is waited for, up to ``wait_s`` seconds.
    """

    def __init__(
        self, serial: str | None = None, *, io_voltage: float = 1.8, wait_s: float = 5.0
    ) -> None:
        self._serial = serial
        self._wait_s = wait_s
        self._lease: Lease | None = None
        self._io_voltage = io_voltage
        self._device: Any = None
        self._driver: Any = None
        self._queue: queue.Queue[_Samples | None] = queue.Queue(QUEUE_PIECES)
        self._gone = self._lost = False
        # The driver (2.2) knows a subscription by the very object, and keeps no reference to it.
        self._callbacks = {name: self._callback(name) for name in TOPICS}
        self._on_removed = self._removed

    def open(self) -> MeterFacts:
        """Take the Joulescope and set it up for a board.

        Raises MissingExtra without the package, and MeterUnavailable.
        """
        if self._device is None:
            self._driver, device = self._found()
            self._lease = _leased(str(device), device.device_path, self._wait_s)
            try:
                self._take(device)
            except BaseException:
                self._give_up()
                raise
        name, model = str(self._device), self._device.model
        return MeterFacts(f"Joulescope {name}", "measured", MODELS[model], MAX_A, MAX_V)

    def supply(self, on: bool) -> None:
        """Connect the board with its supply, or disconnect it."""
        self._set("i_range", "auto" if on else "off")

    def trigger(self, high: bool) -> None:
        """Set Out0."""
        self._set("gpo0", int(high))

    @contextmanager
    def streaming(self) -> Iterator[Iterator[Chunk]]:
        """The samples from now on."""
        self._lost = False
        with suppress(queue.Empty):
            while True:
                self._queue.get_nowait()
        try:
            self._start()
            yield self._chunks()
        finally:
            self._stop()

    def close(self) -> None:
        """Release the Joulescope; the board keeps its supply."""
        device, self._device = self._device, None
        if device is None:
            return
        try:
            self._close(device)
        finally:
            self._give_up()

    def _give_up(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()

    def _close(self, device: Any) -> None:
        with suppress(RuntimeError, TimeoutError):
            self._driver.unsubscribe(REMOVED, self._on_removed)
        with suppress(RuntimeError, TimeoutError):
            device.close()

    def _found(self) -> tuple[Any, Any]:
        try:
            from joulescope.v1 import DriverWrapper
            from joulescope.v1.js220 import DeviceJs220
        except ImportError:
            raise MissingExtra("--autodeploy-power joulescope", "joulescope") from None
        try:
            # Not joulescope.scan(): it leaves out a JS320 (1.5). A driver of our own is refused
            # beside the package's ("21 IN_USE"): there is one for each process.
            wrapper = DriverWrapper()
            paths = wrapper.driver.device_paths()
        except (RuntimeError, TimeoutError) as error:
            raise MeterUnavailable(
                f"the Joulescope driver does not start: {error}",
                hint="Another part of this process uses pyjoulescope_driver: there can be one.",
            ) from None
        path = self._chosen([path for path in paths if path.split("/")[1] in MODELS])
        device = wrapper.devices.get(path) or DeviceJs220(wrapper.driver, path)
        return wrapper.driver, device  # a JS320 has the topics of a JS220

    def _chosen(self, paths: list[str]) -> str:
        serials = {path.rpartition("/")[2]: path for path in paths}
        there = ", ".join(device_name(path) for path in paths) or "none"
        if self._serial is None and len(paths) == 1:
            return paths[0]
        if self._serial is not None and self._serial in serials:
            return serials[self._serial]
        if self._serial is not None:
            raise MeterUnavailable(
                f"no Joulescope with the serial number {self._serial}", hint=f"There: {there}."
            )
        if paths:
            raise MeterUnavailable(
                "there are several Joulescopes",
                hint=f"Choose one with --autodeploy-power joulescope:SERIAL. There: {there}.",
            )
        raise MeterUnavailable(
            "no Joulescope found", hint="Is it plugged in? Linux needs Joulescope's udev rules."
        )

    def _take(self, device: Any) -> None:
        # Before the open, which allocates it. Opening a JS110 interrupts the supply of the board
        # for a moment (pyjoulescope issue 33), so meters are opened before boards are flashed.
        device.buffer_duration = OWN_BUFFER_S
        try:
            device.open(timeout=OPEN_TIMEOUT_S)
        except (RuntimeError, TimeoutError) as error:
            raise MeterUnavailable(
                f"cannot open Joulescope {device}: {error}",
                hint="Another program holds it, such as the Joulescope UI: close that.",
            ) from None
        self._device, self._gone = device, False
        self._driver.subscribe(REMOVED, "pub", self._on_removed)
        # "auto" is a KeyError for a JS220 (joulescope 1.5).
        self._set("v_range", "15V")
        self._set("i_range", "auto")
        self._set("sampling_frequency", int(MODELS[device.model]))
        # joulescope 1.5 takes io_voltage for a JS220 without a word and does nothing.
        if device.model == "js110":
            self._set("io_voltage", f"{self._io_voltage:.1f}V")
        self._set("gpo0", 0)

    def _set(self, name: str, value: Any) -> None:
        if self._device is None:
            raise MeterFailed("the Joulescope is not open")
        try:
            self._device.parameter_set(name, value)
        except (RuntimeError, TimeoutError) as error:
            raise self._failure(f"cannot set {name} to {value}", error) from None

    def _failure(self, what: str, error: Exception) -> MeterFailed:
        if self._gone:
            return MeterFailed(f"{self._device} disappeared", hint="Was it unplugged?")
        return MeterFailed(f"{self._device}: {what}: {error}")

    def _start(self) -> None:
        try:
            for name, topic in TOPICS.items():
                # Not device.read(): it waits without a deadline (1.5), for ever when unplugged.
                self._device.subscribe(f"{topic}!data", "pub", self._callbacks[name])
                self._device.publish(f"{topic}ctrl", 1)
        except (RuntimeError, TimeoutError) as error:
            raise self._failure("cannot stream", error) from None

    def _stop(self) -> None:
        for name, topic in TOPICS.items():
            with suppress(RuntimeError, TimeoutError):
                # timeout=0 does not wait: one that was unplugged would answer none of the eight.
                self._device.unsubscribe(f"{topic}!data", self._callbacks[name], timeout=0)
                self._device.publish(f"{topic}ctrl", 0, timeout=0)

    def _callback(self, signal: str) -> Any:
        def take(_topic: str, value: Mapping[str, Any]) -> None:
            try:
                self._queue.put_nowait(_Samples(signal, value))
            except queue.Full:
                self._lost = True

        return take

    def _removed(self, _topic: str, path: str) -> None:
        if self._device is not None and path == self._device.device_path:
            self._gone = True
            with suppress(queue.Full):
                self._queue.put_nowait(None)

    def _chunks(self) -> Iterator[Chunk]:
        aligned = Aligned()
        while True:
            samples = self._next()
            aligned.put(samples.signal, *_unpack(samples))
            yield from aligned.chunks()

    def _next(self) -> _Samples:
        try:
            samples = self._queue.get(timeout=SILENCE_S)
        except queue.Empty:
            samples = None
        if self._gone:
            raise MeterFailed(
                f"{self._device} disappeared while streaming", hint="Was it unplugged?"
            )
        if samples is None:
            raise MeterFailed(f"{self._device} sends no samples", seconds=SILENCE_S)
        if self._lost:
            raise MeterFailed(
                f"{self._device} sends faster than samples are taken", hint="Is the PC too busy?"
            )
        return samples


def _leased(name: str, path: str, wait_s: float) -> Lease:
    serial = path.rpartition("/")[2]
    try:
        return take_lease(f"meter {serial}", wait_s, f"the Joulescope {name}")
    except LeaseHeld as error:
        raise MeterUnavailable(
            f"the Joulescope {name} is used by another run: {error.holder.text}",
            hint="wait for it to end; --evb-wait says how long a run waits",
        ) from None
    except LeaseUnusable as error:
        raise MeterUnavailable(error.what, hint=error.hint) from None


def _unpack(samples: _Samples) -> tuple[int, Any]:
    """Index and values; the inputs come as eight samples a byte, the first in its lowest bit."""
    import numpy as np

    value = samples.value
    first = int(value["sample_id"]) // int(value["decimate_factor"])
    data = np.array(value["data"])  # a copy: the driver may use its memory again
    return first, np.unpackbits(data, bitorder="little") if data.dtype == np.uint8 else data


def device_name(path: str) -> str:
    """``u/js220/000415`` as users know it: JS220-000415."""
    return "-".join(path.split("/")[1:]).upper()
