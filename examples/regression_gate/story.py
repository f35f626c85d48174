"""A regression gate, played through on the simulated board.

    python examples/regression_gate/story.py [arguments for pytest]

A baseline is made, the model changes, the gate fails and names the layer that grew, the change is
accepted, the gate passes. Works in a folder of its own and ends with an error when a step did not
go as told.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BEFORE = HERE.parent / "models" / "digits_cnn.tflite"
AFTER = HERE / "wider" / "digits_cnn.tflite"
UPDATE = "--autodeploy-update-baseline"
GROWN = "#2 CONV_2D"


def step(folder: Path, what: str, *arguments: str, passes: bool = True, says: str = "") -> None:
    """Run the built-in tests, show what they print, and check that they do what is told."""
    command = ["pytest", "autodeploy", "--tflite=models", *arguments]
    print(f"\n=== {what}\n$ {' '.join(command)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, flush=True)
    if done.returncode != (0 if passes else 1) or says not in done.stdout:
        sys.exit(f"{what}: exit code {done.returncode}, expected {says!r} in the output")


def main() -> None:
    """The story, step by step."""
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.toml").write_text("[pytest]\n", encoding="utf-8")
        model = folder / "models" / BEFORE.name
        model.parent.mkdir()
        shutil.copy(BEFORE, model)
        step(folder, "A baseline is made", UPDATE, *arguments, says="latency_median")
        step(folder, "Nothing changed: the gate passes", "--autodeploy-compare", *arguments)
        shutil.copy(AFTER, model)
        step(
            folder,
            "A layer became wider: the gate fails and names it",
            "--autodeploy-compare",
            *arguments,
            passes=False,
            says=GROWN,
        )
        step(folder, "The change is accepted", UPDATE, *arguments, says="->")
        step(folder, "The gate passes", "--autodeploy-compare", *arguments)


if __name__ == "__main__":
    main()
