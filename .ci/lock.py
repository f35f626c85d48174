"""Write `.ci/locked.txt`, the versions that CI installs: the newest that pyproject.toml allows."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKED = ROOT / ".ci" / "locked.txt"
HEAD = """\
# The versions that CI installs, for Python {python} on Linux; `make lock` writes them anew.
# The wheel is tried with the newest ones and with the lowest ones besides.
"""


def resolved() -> list[str]:
    """``name==version`` of everything that a development environment gets."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    what = ["--dry-run", "--ignore-installed", "--report", "-", f"{ROOT}[dev]"]
    done = subprocess.run([*pip, *what], stdout=subprocess.PIPE, check=True)
    packages = [each["metadata"] for each in json.loads(done.stdout)["install"]]
    pins = {f"{each['name'].lower()}=={each['version']}" for each in packages}
    return sorted(pin for pin in pins if not pin.startswith("pytest-autodeploy=="))


def main() -> None:
    """Resolve, and write."""
    python = ".".join(platform.python_version_tuple()[:2])
    LOCKED.write_text(HEAD.format(python=python) + "\n".join(resolved()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
