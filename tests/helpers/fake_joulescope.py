"""A stand-in for the native driver beneath the real joulescope package, with a board behind it.

The package has no emulator. Its own classes (DriverWrapper, DeviceJs110, DeviceJs220) run here
unchanged on this driver, which sends what a Joulescope sends: float32 samples, packed inputs,
sample ids of the 2 MHz clock. The board does the handshake of ``armPower`` on its lines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from pytest_autodeploy.catalog.supply import PowerStates
from pytest_autodeploy.power.meter import IN0, IN1
from pytest_autodeploy.rpc.messages import PowerOutcome
from pytest_autodeploy.sim.power import PowerRig

BASE_HZ = 2_000_000
PIECE = 8 * 2500
PACE_S = 4e-3
"""Seconds between pieces: they come faster than those of a Joulescope."""
DECIMATE = {"js110": 1, "js220": 2, "js320": 2}
POWER = PowerStates(running=18e-3, sleeping=3.6e-3)


class FakeDriver:
    """The calls of pyjoulescope_driver.Driver; ``held`` and ``gone_after`` are its faults.

    ``gone_after`` is the count of pieces after which the device is unplugged, ``silent_after`` that
    after which nothing comes any more. With ``loses_one`` the first piece within a window is lost.
    """

    def __init__(self, *paths: str) -> None:
        self.paths = list(paths)
        self.rig = PowerRig()
        self.published: list[tuple[str, Any]] = []
        self.held = False
        self.gone_after = self.silent_after = 1 << 30
        self.loses_one = False
        self.log_level = ""
        self._subscribers: dict[str, list[Callable[[str, Any], None]]] = {}
        self._streams: set[str] = set()
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._piece = 0

    def device_paths(self) -> list[str]:
        return list(self.paths)

    def open(self, _path: str, *_mode_and_timeout: Any) -> int:
        if self.held:
            raise RuntimeError("jsdrv_open failed 8 | 0x8 : BUSY")
        return 0

    def close(self, _path: str, *_timeout: Any) -> int:
        self._halt()
        return 0

    def finalize(self) -> None:
        self._halt()

    def query(self, topic: str, *_timeout: Any) -> Any:
        raise RuntimeError(f"{topic}: 16 NOT_FOUND")

    def subscribe(self, topic: str, _flags: Any, fn: Any, *_timeout: Any) -> None:
        self._subscribers.setdefault(topic, []).append(fn)

    def unsubscribe(self, topic: str, fn: Any, *_timeout: Any) -> None:
        if fn in self._subscribers.get(topic, ()):
            self._subscribers[topic].remove(fn)

    def publish(self, topic: str, value: Any, *_timeout: Any) -> None:
        self.published.append((topic, value))
        device, _, name = topic.partition("/s/")
        with self._lock:
            if name == "gpo/+/!set" or (name == "gpo/0/value" and value):
                self.rig.trigger(True)
            elif name == "gpo/+/!clr" or name == "gpo/0/value":
                self.rig.trigger(False)
        if name.endswith("/ctrl") and name.split("/")[0] in ("i", "v", "gpi"):
            self._control(device, name.removesuffix("/ctrl"), bool(value))

    def values(self, name: str) -> list[Any]:
        """What has been published to a topic of any device."""
        return [value for topic, value in self.published if topic.endswith(f"/{name}")]

    def arm(self, count: int, latency_s: float, wait_s: float) -> None:
        """The board is armed over its own link."""
        with self._lock:
            ticks = round(count * latency_s * 1e6)
            self.rig.arm(count, ticks, tick_hz=1e6, wait_s=wait_s, power=POWER)

    def outcome(self) -> PowerOutcome:
        """How the board's power run ended."""
        with self._lock:
            return self.rig.finish().outcome

    def until(self, true: Callable[[], bool]) -> None:
        """Wait while the device streams; for tests that have to outrun the host."""
        while not true():
            assert not self._stop.wait(1e-3)

    def _control(self, device: str, stream: str, on: bool) -> None:
        (self._streams.add if on else self._streams.discard)(stream)
        if len(self._streams) == 4 and self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, args=(device,), daemon=True)
            self._thread.start()
        elif not self._streams:
            self._halt()

    def _halt(self) -> None:
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(5.0)

    def _run(self, device: str) -> None:
        while not self._stop.is_set():
            if self._piece >= self.gone_after:
                self.paths.remove(device)
                self._emit("@/!remove", device)
                return
            if self._piece < self.silent_after:
                self._send(device)
            self._stop.wait(PACE_S)

    def _send(self, device: str) -> None:
        decimate = DECIMATE[device.split("/")[1]]
        with self._lock:
            stretches = self.rig.advance(PIECE * decimate / BASE_HZ)
        rate = BASE_HZ / decimate
        pins, watts = np.zeros(PIECE, np.uint8), np.zeros(PIECE, np.float32)
        start = 0.0
        for stretch in stretches:
            end = start + stretch.seconds * rate
            here = slice(round(start), round(end))
            pins[here], watts[here] = stretch.pins, stretch.watts
            start = end
        volts = np.full(PIECE, 1.8, np.float32)
        number, self._piece = self._piece, self._piece + 1
        if self.loses_one and watts.min() == watts[0] > POWER.sleeping and not pins.any():
            self.loses_one = False
            return
        for stream, data in (
            ("i", watts / volts),
            ("v", volts),
            ("gpi/0", np.packbits((pins & IN0) != 0, bitorder="little")),
            ("gpi/1", np.packbits((pins & IN1) != 0, bitorder="little")),
        ):
            value = {
                "sample_id": number * PIECE * decimate,
                "sample_rate": BASE_HZ,
                "decimate_factor": decimate,
                "data": data,
            }
            self._emit(f"{device}/s/{stream}/!data", value)

    def _emit(self, topic: str, value: Any) -> None:
        for fn in list(self._subscribers.get(topic, ())):
            fn(topic, value)
