"""The command line for tests: in this process, or as a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pytest_autodeploy.cli import autodeploy

PROCESS = [sys.executable, "-P", "-c", "from pytest_autodeploy.cli import main; main()"]


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(autodeploy, [str(word) for word in arguments])


def run_json(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Run a command with --json: its exit code and its object, all that it printed."""
    result = run(*arguments, "--json")
    document: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, document


def keys_of(value: Any) -> set[str]:
    """All keys of nested objects whose keys are not names."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    names = {"memories", "clocks_hz"} & value.keys()
    inside = [keys_of(item) for key, item in value.items() if key not in names]
    return set(value).union(*inside)


def only_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Nothing is installed but what is in a folder: an empty PATH, no variables of ours."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", str(folder))
    for name in ("AUTODEPLOY_TFLM_ROOT", "NEURALSPOT_ROOT", "AUTODEPLOY_TOOLCHAIN"):
        monkeypatch.delenv(name, raising=False)
