"""What the results of a run were made with, and by which command."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PACKAGES = (
    "pytest-autodeploy",
    "pytest",
    "numpy",
    "ai-edge-litert",
    "tflite-micro",
    "ethos-u-vela",
    "erpc",
)


def provenance(command: str, began: datetime) -> dict[str, Any]:
    """Versions, platform and, under ``run``, the command and when it began, for ``json_text``."""
    return {
        "versions": {name: _version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "run": {
            "command": command,
            "started": began.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
