"""Settings that cannot work are refused before anything is collected, and nothing is made."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.run.kept_check import check_folder, check_kept
from pytest_autodeploy.run.preflight import check_output, check_settings
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import SettingError, Settings, resolve
from tests.helpers.support import DIGITS

OUT = "autodeploy-results"
MODEL: dict[str, Any] = {"tflite": ["digits_cnn.tflite"]}


@pytest.fixture(autouse=True)
def start(tmp_path: Path) -> Path:
    """The folder that pytest was started in, with one model."""
    shutil.copy(DIGITS, tmp_path)
    return tmp_path


def settings(start: Path, ini: dict[str, Any] | None = None, **options: Any) -> Settings:
    """Settings from the command line and the ini file, by their names."""
    return resolve(
        OPTIONS,
        lambda dest: options.get(dest.removeprefix("autodeploy_")),
        lambda name: (ini or {}).get(name.removeprefix("autodeploy_")),
        start,
    )


def refused(given: Settings, *, write: bool = True) -> str:
    """Why the settings are refused."""
    with pytest.raises(SettingError) as caught:
        check_settings(given, write=write)
    return str(caught.value)


def files(start: Path) -> set[str]:
    """All that is in the folder."""
    return {path.relative_to(start).as_posix() for path in start.rglob("*")}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"evb": ["sim:apollo510_evb", "qemu:mps2-an386", "apollo4p_evb"]},
        {"evb": ["sim:apollo510_evb"], "evb_counters": "mve"},
        {"evb_port": "/dev/ttyACM0"},
        {"evb_port": "socket://lab:4000"},
        {"evb_port": "rfc2217://[::1]:4000"},
        {"evb_sim_link": "bytes_per_s=1000,latency_ms=2"},
        {"evb": ["virtual:mps2-an386"], "evb_gdb": 3333},
        {"accuracy": "min=0.9", "labels": "labels.npy", "inputs": "inputs.npz"},
        {"npu": ["ethos-u55-128"]},
        {"power": "sim"},
    ],
    ids=str,
)
def test_settings_that_can_work_are_taken(start: Path, options: dict[str, Any]) -> None:
    (start / "labels.npy").touch()
    (start / "inputs.npz").touch()

    check_settings(settings(start, **MODEL, **options), write=True)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"evb": ["sim:apolo4p_evb"]}, "unknown board 'sim:apolo4p_evb'"),
        ({"evb": ["usb:apollo4p_evb"]}, "unknown kind of board 'usb:apollo4p_evb'"),
        (
            {"evb": ["sim:apollo4p_evb"], "evb_require_hardware": True},
            "--evb-require-hardware: sim:apollo4p_evb is not a hardware board",
        ),
        (
            {"evb_require_hardware": True},
            "--evb-require-hardware: sim:apollo4p_evb is not a hardware board",
        ),
        (
            {"evb": ["qemu:mps2-an386"], "evb_port": "/dev/ttyACM0"},
            "--evb-port: qemu:mps2-an386 is started by this run and has no port",
        ),
        (
            {"evb": ["apollo4p_evb", "apollo510_evb"], "evb_port": "/dev/ttyACM0"},
            "--evb-port is the port of one board; give --evb once",
        ),
        ({"evb_port": "socket://lab"}, "--evb-port socket://lab: use socket://HOST:PORT"),
        ({"evb_port": "socket://:7"}, "--evb-port socket://:7: use socket://HOST:PORT"),
        (
            {"evb_port": "rfc2217://lab:99999"},
            "--evb-port rfc2217://lab:99999: use rfc2217://HOST:PORT",
        ),
        ({"evb_sim_link": "speed=1"}, "--evb-sim-link 'speed=1': use bytes_per_s=N,latency_ms=N"),
        ({"evb_sim_link": "latency_ms=0"}, "--evb-sim-link 'latency_ms=0'"),
        (
            {"evb": ["sim:apollo4p_evb"], "evb_counters": "mve"},
            "--evb-counters: sim:apollo4p_evb has no performance monitor: its cortex-m4f has",
        ),
        (
            {"evb": ["qemu:mps3-an547"], "evb_counters": "mve"},
            "--evb-counters: qemu:mps3-an547 has no performance monitor: QEMU has none",
        ),
        (
            {"evb": ["apollo4p_evb"], "evb_dialect": "stock"},
            "--evb-dialect stock is for an EVB that AutoDeploy has flashed: this run would flash",
        ),
        (
            {"evb": ["apollo4p_evb"], "evb_dialect": "stock", "evb_port": "a", "evb_probe": "1"},
            "--evb-dialect stock is for an EVB that AutoDeploy has flashed: this run would flash",
        ),
        (
            {"evb_port": "/dev/ttyACM0", "evb_dialect": "stock"},
            "--evb-dialect stock is for an EVB that AutoDeploy has flashed: sim:apollo4p_evb is",
        ),
        (
            {"evb": ["apollo4p_evb"], "evb_port": "a", "evb_dialect": "stock"}
            | {"evb_require_proof": True},
            "--evb-require-proof: stock firmware does not tell which model it runs",
        ),
        (
            {"evb_gdb": 3333},
            "--evb-gdb: GDB debugs one virtual board, and this run has sim:apollo4p_evb",
        ),
        (
            {"evb_gdb": 3333, "evb": ["virtual:mps2-an386", "sim:apollo4p_evb"]},
            "--evb-gdb: GDB debugs one virtual board",
        ),
        ({"tflite": ["gone.tflite"]}, "no such model file"),
        ({"tflite": ["*.h5"]}, "no model matches"),
        ({"inputs": "gone.npz"}, "--tflite-inputs: no such file: gone.npz"),
        ({"labels": "gone.npy"}, "--tflite-labels: no such file: gone.npy"),
        ({"npu": ["ethos-u56"]}, "ethos-u56"),
        ({"power": "volts"}, "--autodeploy-power: "),
        ({"power": "replay:gone.jls"}, "--autodeploy-power: no such file or folder: gone.jls"),
        (
            {"power": "sim", "evb": ["apollo4p_evb"]},
            "--autodeploy-power: sim is for simulated boards that this run starts",
        ),
        (
            {"power": "sim", "evb": ["virtual:mps2-an386"]},  # a machine has no pins
            "--autodeploy-power: sim is for simulated boards that this run starts",
        ),
        (
            {"power": "sim", "evb_port": "/dev/ttyACM0"},
            "--autodeploy-power: sim is for simulated boards that this run starts",
        ),
        ({"latency_budget": "ms=-1"}, "ms must be above 0, not -1"),
        ({"accuracy": "min=0.9"}, "--tflite-accuracy: there are no labels"),
        ({"artifacts": "library", "no_suite": True}, "needs the built-in tests: give --tflite"),
        ({"artifacts": "library", "tflite": None}, "needs the built-in tests: give --tflite"),
        ({"artifacts_from": "out"}, "--autodeploy-from needs --autodeploy-artifacts"),
        (
            {"artifacts": "library", "artifacts_from": "out"},
            "--autodeploy-from: no such folder: out",
        ),
    ],
    ids=str,
)
def test_what_cannot_work_is_refused_by_its_option_and_nothing_is_made(
    start: Path, options: dict[str, Any], reason: str
) -> None:
    before = files(start)

    assert reason in refused(settings(start, **MODEL | options))
    assert files(start) == before


def test_a_limit_of_the_ini_file_is_checked_too_and_named_as_such(start: Path) -> None:
    reason = refused(settings(start, {"memory_limit": "flash_kb=1"}, **MODEL))

    assert reason.startswith("ini autodeploy_memory_limit")
    assert "'flash_kb'" in reason


def test_an_accuracy_limit_of_the_ini_file_waits_for_labels(start: Path) -> None:
    check_settings(settings(start, {"accuracy": "min=0.9"}, **MODEL), write=True)


def test_the_other_model_of_an_accuracy_limit_must_be_there(start: Path) -> None:
    (start / "labels.npy").touch()
    limit: dict[str, Any] = {
        "accuracy": "max_drop=0.1,against=float.tflite",
        "labels": "labels.npy",
    }

    assert "no such model file: float.tflite" in refused(settings(start, **MODEL, **limit))
    shutil.copy(DIGITS, start / "float.tflite")
    check_settings(settings(start, **MODEL, **limit), write=True)


def test_collecting_alone_opens_no_file_of_a_meter_and_makes_no_folder(start: Path) -> None:
    before = files(start)

    check_settings(settings(start, **MODEL, power="replay:gone.jls"), write=False)

    assert files(start) == before


def test_a_run_makes_its_results_folder_which_git_ignores(start: Path) -> None:
    check_settings(settings(start, **MODEL), write=True)

    assert (start / OUT / ".gitignore").read_text(encoding="utf-8").endswith("\n*\n")


def test_a_run_without_models_makes_none(start: Path) -> None:
    check_settings(settings(start, output="out"), write=True)

    assert not (start / "out").exists()


def test_what_is_in_the_results_folder_stays(start: Path) -> None:
    (start / OUT).mkdir()
    (start / OUT / ".gitignore").write_text("mine", encoding="utf-8")

    check_output(settings(start))

    assert (start / OUT / ".gitignore").read_text(encoding="utf-8") == "mine"


def test_a_results_folder_that_is_a_file_is_refused(start: Path) -> None:
    (start / "out").touch()

    with pytest.raises(SettingError, match=r"--autodeploy-output: cannot write to the folder .*ou"):
        check_output(settings(start, output="out"))


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may write anywhere")
def test_a_results_folder_that_cannot_be_written_is_refused(start: Path) -> None:
    (start / "out").mkdir()
    (start / "out").chmod(0o500)

    with pytest.raises(SettingError, match=r"--autodeploy-output: cannot write .*: Permission d"):
        check_output(settings(start, output="out"))


def test_a_folder_can_be_written_if_what_there_is_of_it_can(start: Path) -> None:
    check_folder(start / "a" / "b" / "c", "--out")

    assert not (start / "a").exists()


def test_a_folder_under_a_file_cannot_be_written(start: Path) -> None:
    with pytest.raises(SettingError, match=r"--out: cannot write to the folder .*digits_cnn"):
        check_folder(start / DIGITS.name / "b", "--out")


@pytest.mark.parametrize(
    ("options", "origin"),
    [
        ({"update_baseline": "new", "baselines": "file/b"}, "--autodeploy-update-baseline"),
        ({"summary": "file/summary.md"}, "--autodeploy-summary"),
        ({"history": "file/history.sqlite"}, "--autodeploy-history"),
    ],
    ids=str,
)
def test_what_is_written_at_the_end_is_checked_at_the_start(
    start: Path, options: dict[str, Any], origin: str
) -> None:
    (start / "file").touch()

    with pytest.raises(SettingError, match=f"{origin}: cannot write to the folder"):
        check_kept(settings(start, **options))


def test_what_can_be_written_at_the_end_is_not_made_at_the_start(start: Path) -> None:
    before = files(start)

    check_kept(settings(start, update_baseline="new", summary="a/s.md", history="b/history.sqlite"))

    assert files(start) == before


def test_a_history_that_is_something_else_is_refused(start: Path) -> None:
    path = start / "history.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("create table mine (text)")
    other.close()

    with pytest.raises(SettingError, match="--autodeploy-history: "):
        check_kept(settings(start, history="history.sqlite"))


def test_a_history_that_is_no_database_is_refused(start: Path) -> None:
    (start / "history.sqlite").write_text("text" * 100)

    with pytest.raises(SettingError, match="--autodeploy-history: "):
        check_kept(settings(start, history="history.sqlite"))
