"""The power application as a process of this PC, which the fake J-Link starts, and its meter."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.deliver.example import Program
from tests.helpers.hardware_bench import Bench
from tests.helpers.pin_meter import PinMeter

INFERENCE_MS = 10
_LEFT_OUT = ("_model.cc", "_model_data.cc", "core.cc", "pins.cc", "power_board.cc")
"""TFLM's part, and an EVB's: the real firmware for a PC takes their place."""

_MODEL = """
#include <time.h>
#include "NAME_api.h"
static char input[1 << 16];
extern "C" {
int NAME_minimal_init(void) { return INIT; }
int NAME_input(size_t index, NAME_tensor_t *tensor) {
    *tensor = NAME_tensor_t{};
    tensor->data = input;
    tensor->bytes = BYTES;
    return NAME_STATUS_SUCCESS;
}
int NAME_invoke(void) {
    struct timespec span = {0, MS * 1000000L};
    nanosleep(&span, nullptr);
    return INVOKE;
}
}
"""


class HostBuilds:
    """Stands for neuralSPOT's make: compiles app folders for this PC, with a model that sleeps.

    ``init`` and ``invoke`` are what the model's functions return; ``built`` are the inferences and
    clock modes of the images.
    """

    def __init__(self, folder: Path, name: str, input_bytes: int) -> None:
        self.init = self.invoke = 0
        self.built: list[tuple[str, str]] = []
        self._folder = folder
        self._name = name
        self._bytes = input_bytes

    def build(self, _name: str, files: Mapping[str, str | bytes]) -> Program:
        main = str(files["src/power_main.cc"])
        inferences = main.partition("#define POWER_INFERENCES ")[2].split()[0]
        clock = main.partition("#define POWER_CLOCK ")[2].split()[0]
        self.built.append((inferences, clock))
        return Program({".bin": self._compiled(main, files)}, None)

    def _compiled(self, main: str, files: Mapping[str, str | bytes]) -> Path:
        facts = repr((main, self.init, self.invoke))
        place = self._folder / hashlib.sha256(facts.encode()).hexdigest()[:8]
        image = place / "image.bin"
        if image.exists():
            return image
        for name, content in files.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        (place / "model.cc").write_text(self._model())
        sources = [place / name for name in files if name.endswith(".cc")]
        kept = [path for path in sources if not path.name.endswith(_LEFT_OUT)]
        firmware = resource("firmware")
        host = [firmware / "boards" / "host" / name for name in ("board.cc", "pins.cc")]
        compiler = str(shutil.which("c++"))
        folders = [f"-I{place / 'src'}", f"-I{firmware}"]
        command = [compiler, "-std=c++17", *folders, *map(str, (*kept, *host, place / "model.cc"))]
        program = place / "program"
        subprocess.run([*command, "-o", str(program)], check=True, timeout=120)
        image.write_text(json.dumps({"program": str(program)}))
        return image

    def _model(self) -> str:
        text = _MODEL.replace("NAME", self._name).replace("BYTES", str(self._bytes))
        text = text.replace("MS", str(INFERENCE_MS))
        return text.replace("INIT", str(self.init)).replace("INVOKE", str(self.invoke))


class FlashedMeter(PinMeter):
    """The meter of an EVB whose power application is a process, from each flash to the next."""

    def __init__(self, bench: Bench) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(ours)
        self._theirs = theirs
        self._process: subprocess.Popen[bytes] | None = None
        self.flashed = 0
        bench.told = self.told

    def told(self, message: dict[str, Any]) -> None:
        """Start what J-Link has flashed."""
        self.end()
        self.flashed += 1
        program = json.loads(Path(message["image"]).read_text())["program"]
        self._pins, self._theirs = socket.socketpair()
        self._received, self._changes, self._level = b"", [], 0
        descriptor = self._theirs.fileno()
        self._process = subprocess.Popen(
            [program],
            stdin=subprocess.DEVNULL,
            pass_fds=[descriptor],
            env=os.environ | {"AUTODEPLOY_PINS": str(descriptor)},
        )

    def end(self) -> None:
        """Switch the board off."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self._pins.close()
        self._theirs.close()
