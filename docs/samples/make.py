"""Runs what the pages show and keeps what it printed: `make samples`.

Every sample is a real run of the simulated board, whose figures are modelled and the same on every
PC. What differs from PC to PC (versions, folders, seconds) is replaced or left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent

EXAMPLE = "autodeploy example digits digits"
SAMPLES: Mapping[str, tuple[str, ...]] = {
    "example": (EXAMPLE,),
    "inspect": ("autodeploy inspect models/digits_cnn.tflite",),
    "first-run": ("pytest autodeploy --tflite=models/digits_cnn.tflite",),
    "details": ("pytest autodeploy::test_layer_profile --tflite=models/digits_cnn.tflite -v",),
    "own-test": ("pytest test_budget.py",),
    "rig": ("autodeploy boards --rig rig.toml --take-out lab3-b --reason 'loose cable'",),
    "application-note": (
        "pytest --tflite-filename=models/digits_cnn.tflite --model-name=har --measure-power",
        "pytest autodeploy --tflite=models/digits_cnn.tflite --evb=sim:apollo4p_evb "
        "--autodeploy-name=har --tflite-runs=3 --tflite-profile=first --autodeploy-power=off -v",
        "pytest autodeploy::test_energy --tflite=models/digits_cnn.tflite --evb=sim:apollo4l_evb "
        "--autodeploy-name=har --tflite-runs=3 --autodeploy-power=sim -v",
    ),
}
"""By the name of a file here, the commands whose output it holds."""

TEST = HERE / "test_budget.py"
"""The first test of a user, which fails; getting-started.md shows it."""

RIG = HERE / "rig.toml"
"""A rig whose boards are not there."""

NOT_TOLD = ("CI", "BUILD_NUMBER", "FORCE_COLOR", "PY_COLORS", "NO_COLOR", "PYTEST_ADDOPTS")
"""Variables with which pytest prints another form: with CI, for one, it shortens no message."""

OF_THIS_PC = ("platform ", "rootdir: ", "plugins: ", "metadata: ", "cachedir: ")
"""Lines of pytest and its plugins that differ from PC to PC."""


def make(name: str, folder: Path) -> str:
    """Run a sample in a folder that has the example, and give what a page shows of it."""
    cwd = folder if name == "example" else folder / "digits"
    return "\n".join(f"$ {command}\n{_output(command, cwd)}" for command in SAMPLES[name])


def prepare(folder: Path) -> None:
    """What the samples need: the example, and the test that the page shows."""
    _output(EXAMPLE, folder)
    _add_shown(folder / "digits")


def _add_shown(folder: Path) -> None:
    (folder / TEST.name).write_bytes(TEST.read_bytes())
    (folder / RIG.name).write_bytes(RIG.read_bytes())
    (folder / RIG.name).chmod(0o644)


def _output(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    options = {
        "pytest": ("-m", "pytest", "-p", "no:cacheprovider"),
        "autodeploy": ("-P", "-c", "from pytest_autodeploy.cli import main; main()"),
    }[program]
    done = subprocess.run(
        [sys.executable, *options, *arguments],
        cwd=folder,
        env={**_told(), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return steady((done.stdout + done.stderr).replace(f"{folder.resolve()}/", ""))


def _told() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in NOT_TOLD}


def steady(text: str) -> str:
    """The text without what differs from PC to PC."""
    lines = (line.rstrip() for line in text.splitlines())
    text = "\n".join(line for line in lines if not line.startswith(OF_THIS_PC)) + "\n"
    text = re.sub(r"by hand, .* since [\dT:-]+Z", "by hand, alice since 2026-12-01T17:00:00Z", text)
    text = re.sub(r"(tflm|litert) \d[\w.]*", r"\1 VERSION", text)
    return re.sub(r"^=+ (.*) in [\d.]+s(?: \(.*\))? =+$", r"==== \1 ====", text, flags=re.MULTILINE)


def main() -> None:
    """Make all samples anew."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        samples = {"example": make("example", folder)}
        _add_shown(folder / "digits")
        for name in SAMPLES:
            samples.setdefault(name, make(name, folder))
    for name, output in samples.items():
        (HERE / f"{name}.txt").write_text(output, encoding="utf-8")


if __name__ == "__main__":
    main()
