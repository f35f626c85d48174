"""Build the wheel, install it alone in fresh environments outside the checkout, and use it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples" / "models" / "kws_ds_cnn.tflite"
PYTESTS = ("pytest>=9", "pytest==8.4.*")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command, show what it printed, and fail when it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    print(done.stdout, done.stderr, sep="")
    if done.returncode:
        sys.exit(f"{command[0]} failed with exit code {done.returncode}")
    return done.stdout


def check(wheel: Path, pytest_version: str, folder: Path) -> None:
    """Install the wheel with one version of pytest and run a model on the simulated board."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    packages = [f"{wheel}[sim]", pytest_version]
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages, cwd=folder)
    work = folder / "work"
    work.mkdir()
    shutil.copy(MODEL, work)
    arguments = ("--tflite", MODEL.name, "--html", "report.html", "-W", "error")
    output = run(python, "-m", "pytest", *arguments, cwd=work)
    assert "5 passed" in output, "the five built-in tests did not pass"
    assert (work / "report.html").stat().st_size > 50_000, "no HTML report"
    inspected = run(python.with_name("autodeploy"), "inspect", MODEL.name, cwd=work)
    assert "2,656,768 MACs" in inspected, "the command does not know the model"
    script = (
        "from pytest_autodeploy.base.resources import resource;"
        "assert resource('firmware', 'autodeploy.erpc').is_file();"
        "assert resource('templates', 'html').is_dir()"
    )
    run(python, "-c", script, cwd=work)


def main() -> None:
    """Check the wheel with the newest and the oldest supported pytest."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        (wheel,) = (folder / "dist").glob("*.whl")
        for number, pytest_version in enumerate(PYTESTS):
            environment = folder / str(number)
            environment.mkdir()
            check(wheel, pytest_version, environment)
        print(f"{wheel.name} works alone with {' and '.join(PYTESTS)}")


if __name__ == "__main__":
    main()
