"""Installed packages are imported before they are called ready: one that breaks is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.doctor import imports
from pytest_autodeploy.doctor.imports import broken_imports


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which the process imports."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_packages_of_this_project_can_be_imported() -> None:
    assert broken_imports(["numpy", "tflite-micro", "ai-edge-litert", "pyserial"]) == {}


def test_each_kind_of_breaking_is_told_and_the_others_are_tried(modules: Path) -> None:
    for name, code in {
        "raises": "raise OSError('libfoo.so: cannot open')",
        "crashes": "import os; os.abort()",
        "leaves": "raise SystemExit",
        "prints": "print('imported: nothing'); print('[1]')",
        "needs": "import raises",
        "good": "",
    }.items():
        (modules / f"{name}.py").write_text(code)
    found = broken_imports(["raises", "crashes", "good", "prints", "needs", "leaves", "missing"])
    assert found == {
        "raises": "OSError: libfoo.so: cannot open",
        "crashes": "it died of SIGABRT",
        "needs": "OSError: libfoo.so: cannot open",
        "leaves": "it exited with code 0",
        "missing": "ModuleNotFoundError: No module named 'missing'",
    }


def test_an_import_that_hangs_is_given_up(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (modules / "hangs.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(imports, "TIMEOUT_S", 1.0)
    assert broken_imports(["hangs"]) == {"hangs": "it did not finish in 1 s"}
