"""Fixtures of all tests."""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import ai_edge_litert.schema_py_generated  # noqa: F401
import pytest

import pytest_autodeploy
from tests.helpers.support import DIGITS

pytest_plugins = ["pytester"]


def _load_everything() -> None:
    """Import the package: pytester drops what an inner run imports, which breaks NumPy."""
    for module in pkgutil.walk_packages(pytest_autodeploy.__path__, "pytest_autodeploy."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


_load_everything()


@pytest.fixture(autouse=True)
def _no_summary_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inner runs do not write into the summary of a CI job that runs these tests."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM act here and in new processes as they do in a terminal.

    Under nohup and in a background job of a shell they are ignored, which processes inherit.
    """
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def digits(pytester: pytest.Pytester) -> Path:
    """The digits model, copied into the folder of an inner pytest run."""
    return Path(shutil.copy(DIGITS, pytester.path))
