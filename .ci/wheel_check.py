"""Build the wheel, install it alone in fresh environments outside the checkout, and use it.

``dist/`` gets the wheel, its source and its SBOM: CycloneDX, of all that `pip install` brings.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
MODEL = ROOT / "examples" / "models" / "kws_ds_cnn.tflite"
LOWEST = ROOT / ".ci" / "lowest.txt"
LOWEST_PACKAGES = (
    *("jsonschema", "prometheus-client"),
    *("pytest-rerunfailures", "pytest-timeout", "pytest-xdist"),
)
LOWEST_TESTS = (
    *("tests/base", "tests/model/test_cut.py", "tests/rpc/test_client.py", "tests/settings"),
    *("tests/report", "tests/npu/test_vela.py", "tests/cli/test_inspect.py"),
    *("tests/plugin/test_suite.py", "tests/plugin/test_fixtures.py", "tests/plugin/test_limits.py"),
)
"""One or two files for each package that the plugin stands on; they take about two minutes."""

OTHER_REPORTS = ("allure-pytest>=2.13", "pytest-json-report>=1.5")
"""Plugins that would load themselves into every run of the tests: they have a place of theirs."""

NOT_WITH_LOWEST = "tests/report/test_result_json.py::test_the_schema_in_the_package"
"""Versions of msgspec word the schema differently; the one in the package is from the newest."""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command, show what it printed, and fail when it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    print(done.stdout, done.stderr, sep="")
    if done.returncode:
        sys.exit(f"{command[0]} failed with exit code {done.returncode}")
    return done.stdout


def install(folder: Path, *packages: str | Path) -> Path:
    """The Python of a fresh environment with these packages."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages, cwd=folder)
    return python


def check(python: Path, folder: Path) -> None:
    """Run a model on the simulated board with the wheel that was installed, and use the command."""
    work = folder / "work"
    work.mkdir()
    shutil.copy(MODEL, work)
    arguments = ("--tflite", MODEL.name, "--html", "report.html", "-W", "error")
    output = run(python, "-m", "pytest", *arguments, cwd=work)
    assert "5 passed" in output, "the five built-in tests did not pass"
    assert (work / "report.html").stat().st_size > 50_000, "no HTML report"
    inspected = run(python.with_name("autodeploy"), "inspect", MODEL.name, cwd=work)
    assert "2,656,768 MACs" in inspected, "the command does not know the model"
    run(python.with_name("autodeploy"), "example", "digits", "digits", cwd=work)
    suite = run(python, "-m", "pytest", "digits_suite", "-W", "error", cwd=work / "digits")
    assert "9 passed" in suite, "the example that the wheel carries did not pass"
    script = (
        "from pytest_autodeploy.base.resources import resource;"
        "assert resource('firmware', 'autodeploy.erpc').is_file();"
        "assert resource('templates', 'html').is_dir()"
    )
    run(python, "-c", script, cwd=work)


def check_lowest(wheel: Path, folder: Path) -> None:
    """As ``check``, with the lowest versions that are allowed, and with some of the tests."""
    python = install(folder, f"{wheel}[sim,vela]", *LOWEST_PACKAGES, "-c", LOWEST)
    check(python, folder)
    # pytest 8.4 does not read [tool.pytest]; -m puts the checkout, with its tests, on sys.path.
    options = ("-q", "-n", "auto", "-m", "not slow", "-W", "error", "--deselect", NOT_WITH_LOWEST)
    run(python, "-m", "pytest", *options, *LOWEST_TESTS, cwd=ROOT)


def check_other_reports(wheel: Path, folder: Path) -> None:
    """Run the tests of what other plugins' reports get, with these plugins."""
    python = install(folder, f"{wheel}[sim]", *LOWEST_PACKAGES, *OTHER_REPORTS)
    tests = "tests/plugin/test_other_reports.py"
    output = run(python, "-m", "pytest", "-q", "-n", "0", "-rs", tests, cwd=ROOT)
    assert " passed" in output, "no test of other reports has run"
    assert "skipped" not in output, "tests of other reports were skipped"


def write_sbom(python: Path, wheel: Path) -> Path:
    """The SBOM of a wheel: what is in an environment that has nothing else; beside the wheel."""
    sbom = wheel.with_name(f"{wheel.stem}.cdx.json")
    environment = ("-m", "cyclonedx_py", "environment", python, "--pyproject", "pyproject.toml")
    output = ("--output-format", "JSON", "--output-reproducible", "--output-file", sbom)
    run(sys.executable, *environment, *output, cwd=ROOT)
    found = json.loads(sbom.read_bytes())
    names = {each["name"].lower() for each in found["components"]}
    assert found["metadata"]["component"]["name"] == "pytest-autodeploy", "an SBOM of another thing"
    assert {"pytest", "numpy", "erpc", "msgspec"} <= names, f"the SBOM has {sorted(names)} only"
    return sbom


def main() -> None:
    """Check the wheel with the newest packages, and with the lowest versions and some tests."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        shutil.rmtree(DIST, ignore_errors=True)
        run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, cwd=folder)
        (wheel,) = DIST.glob("*.whl")
        for name in ("alone", "newest", "lowest", "reports"):
            (folder / name).mkdir()
        write_sbom(install(folder / "alone", wheel), wheel)
        check(install(folder / "newest", f"{wheel}[sim]", "pytest>=9"), folder / "newest")
        check_lowest(wheel, folder / "lowest")
        check_other_reports(wheel, folder / "reports")
        print(f"{wheel.name} works alone, with the newest packages and with the lowest versions")


if __name__ == "__main__":
    main()
