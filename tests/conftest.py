"""Fixtures of all tests."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import ai_edge_litert.schema_py_generated  # noqa: F401
import pytest

import pytest_autodeploy
from pytest_autodeploy.base.lease_sockets import SPACE
from tests.helpers.installed import remember_installed
from tests.helpers.keras_models import make_models
from tests.helpers.lazy_reruns import listen_for_workers_alone
from tests.helpers.once import made_once
from tests.helpers.support import DIGITS
from tests.helpers.warm_children import keep_children_warm

pytest_plugins = ["pytester"]


def _load_everything() -> None:
    """Import the package: pytester drops what an inner run imports, which breaks NumPy."""
    for module in pkgutil.walk_packages(pytest_autodeploy.__path__, "pytest_autodeploy."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


_load_everything()
os.environ[SPACE] = f"tests of process {os.getpid()}"  # other runs have boards of the same names
remember_installed()
keep_children_warm()
listen_for_workers_alone()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; pytest 8.4 does not read the table of pytest 9 in pyproject.toml."""
    slow = "slow: takes seconds: many processes, fuzz, statistics; `make test-slow` runs it"
    config.addinivalue_line("markers", slow)


@pytest.fixture(autouse=True)
def _as_on_a_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inner runs print what they print at a desk, and write into no summary of a CI job."""
    for name in ("GITHUB_STEP_SUMMARY", "CI", "BUILD_NUMBER", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run, the same in all workers of pytest-xdist."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def firmware_cache(run_folder: Path) -> Path:
    """A cache of built firmware: each content is built once in a run.

    For tests that need firmware; those about builds have caches of their own.
    """
    return run_folder / "firmware-cache"


@pytest.fixture(scope="session")
def keras_models(run_folder: Path) -> Path:
    """The folder of the Keras models."""
    return made_once(run_folder, "keras-models", make_models)


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
