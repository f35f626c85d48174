"""What the results of a run were made with, and by which command."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from pytest_autodeploy.metrics.result import Provenance, RunFacts

PACKAGES = (
    "pytest-autodeploy",
    "pytest",
    "numpy",
    "ai-edge-litert",
    "tflite-micro",
    "ethos-u-vela",
    "erpc",
)


def provenance() -> Provenance:
    """Versions of packages and of Python, and the platform."""
    versions = {name: _version(name) for name in PACKAGES}
    return Provenance(versions, platform.python_version(), platform.platform())


def run_facts(command: str, began: datetime, run_id: str | None = None) -> RunFacts:
    """The command of a run, when it began, that it ends now, and what its user calls it."""
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    started = began.isoformat(timespec="seconds")
    return RunFacts(command=command, started=started, finished=finished, id=run_id)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
