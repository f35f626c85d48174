"""A PC that lacks something that is usually there: a clear message, or the run goes on without."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.helpers.scarce import (
    NOT_IN_PASSWD,
    become,
    mounted,
    needs_mounts,
    run,
    said,
)
from tests.helpers.support import DIGITS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")

PYTEST = (sys.executable, "-m", "pytest", "autodeploy", "--tflite=digits_cnn.tflite")
AUTODEPLOY = (sys.executable, "-c", "from pytest_autodeploy.cli import main; main()")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model."""
    shutil.copy(DIGITS, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"files": 24}, ["this PC: Too many open files", "ulimit -n 1024"]),
        ({"files": 16}, ["this PC: Too many open files", "ulimit -n 1024"]),
        ({"file_bytes": 8_192}, ["this PC: File too large", "ulimit -f unlimited"]),
    ],
)
def test_a_run_beyond_a_limit_of_the_process_names_it(
    folder: Path, limit: dict[str, int], words: list[str]
) -> None:
    done = run(PYTEST, folder, **limit)  # type: ignore[arg-type]
    text = said(done)
    assert all(part in text for part in words), text
    assert done.returncode == 1
    assert "board broke" not in text


def test_a_command_beyond_a_limit_names_it(folder: Path) -> None:
    command = (*AUTODEPLOY, "diff", "digits_cnn.tflite", "--evb", "sim:apollo4p_evb")
    done = run(command, folder, file_bytes=8_192)
    assert "Error: this PC: File too large" in said(done)
    assert done.returncode == 1


@needs_mounts
def test_a_full_folder_for_temporary_files_is_named(folder: Path) -> None:
    small = folder / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=16k none '{small}'"
    done = run(mounted(mount, PYTEST), folder, TMPDIR=str(small))
    text = said(done)
    assert "this PC: No space left on device" in text
    assert "TMPDIR" in text
    assert done.returncode == 1


@needs_mounts
def test_without_pseudo_terminals_the_simulated_board_has_a_tcp_port(folder: Path) -> None:
    without = "mount -t tmpfs none /dev/pts"
    asked = (sys.executable, "-c", "import os; os.openpty()")
    assert "OSError" in run(mounted(without, asked), folder).stderr
    done = run(mounted(without, PYTEST), folder)
    assert "5 passed" in said(done)


@needs_mounts
def test_a_user_without_a_name_and_a_home_runs_all(folder: Path) -> None:
    asked = (sys.executable, "-c", "import pwd, os; print(os.getuid()); pwd.getpwuid(os.getuid())")
    probe = run(become(NOT_IN_PASSWD, asked), folder)
    assert probe.stdout.strip() == str(NOT_IN_PASSWD)
    assert "KeyError" in probe.stderr
    (folder / "tmp").mkdir()
    done = run(become(NOT_IN_PASSWD, PYTEST), folder, TMPDIR=str(folder / "tmp"))
    assert "5 passed" in said(done)
    private = folder / "tmp" / f"pytest-autodeploy-{NOT_IN_PASSWD}"
    assert private.stat().st_mode & 0o077 == 0


BROKEN = {
    "tflite_micro": ("tflite-micro", "raise OSError('libfoo.so: cannot open')"),
    "flatbuffers": ("flatbuffers", "raise ImportError('half of it is missing')"),
}


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A module that cannot be imported: where it is, and the package that is to blame."""
    package, code = BROKEN[request.param]
    (tmp_path / "broken" / request.param).mkdir(parents=True)
    (tmp_path / "broken" / request.param / "__init__.py").write_text(code)
    return str(tmp_path / "broken"), package


def test_a_package_that_cannot_be_imported_is_to_blame_and_no_model(
    folder: Path, broken: tuple[str, str]
) -> None:
    path, package = broken
    words = f"the package {package} is installed but cannot be imported"
    for command in (PYTEST, (*AUTODEPLOY, "inspect", "digits_cnn.tflite")):
        done = run(command, folder, behind=path)
        text = said(done)
        assert words in text, text
        assert f"pip install --force-reinstall {package}" in text
        assert "TFLM refuses" not in text
        assert done.returncode == 1


def test_a_simulated_board_for_a_person_does_not_start_with_it(
    folder: Path, broken: tuple[str, str]
) -> None:
    path, package = broken
    done = run((*AUTODEPLOY, "sim", "apollo4p_evb"), folder, behind=path)
    assert f"Error: the package {package} is installed but cannot be imported" in said(done)
    assert done.returncode == 1


def test_the_doctor_imports_what_it_calls_ready(folder: Path, broken: tuple[str, str]) -> None:
    path, package = broken
    done = run((*AUTODEPLOY, "doctor", "simulated"), folder, behind=path)
    text = said(done)
    assert "Simulated boards: not ready, lacks tflite-micro" in text
    assert "is installed but cannot be imported" in text
    assert package in text
    assert "--force-reinstall" in text
    assert done.returncode == 1
