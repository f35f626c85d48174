"""The process that Vela runs in, with stand-ins for Vela that do what it does on a bad day."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.vela import VelaOutput, last_line, run_vela
from tests.helpers.npu_examples import SYSTEM
from tests.helpers.vela_csv import LayerSpec, perf_table, regor_csv, source_table, summary_csv

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> Path:
    """A file that is run instead of Vela."""
    package = tmp_path / "path" / "ethosu" / "vela"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(package.parent.parent))
    return package / "__main__.py"


def run(stand_in: Path, program: str, *, timeout_s: float = 60) -> VelaOutput:
    stand_in.write_text(textwrap.dedent(program))
    return run_vela(b"model", SYSTEM, name="kws", timeout_s=timeout_s)


def failure(stand_in: Path, program: str, *, timeout_s: float = 60) -> NpuEstimateFailed:
    with pytest.raises(NpuEstimateFailed) as error:
        run(stand_in, program, timeout_s=timeout_s)
    assert "Traceback" not in str(error.value)
    return error.value


def test_vela_gets_copies_absolute_paths_and_an_explicit_system(stand_in: Path) -> None:
    layers = [LayerSpec("a]]>b", cycles=5)]
    output = run(
        stand_in,
        f"""
        import pathlib, sys
        arguments = sys.argv[1:]
        model, *rest = arguments
        given = dict(zip(rest, rest[1:]))
        out = pathlib.Path(given["--output-dir"])
        assert pathlib.Path(model).read_bytes() == b"model" and model.endswith("model.tflite")
        assert pathlib.Path(given["--config"]).read_bytes() == b"[x]"
        assert all(pathlib.Path(each).is_absolute() for each in (model, out, given["--config"]))
        assert given["--accelerator-config"] == "ethos-u55-128"
        assert (given["--system-config"], given["--memory-mode"]) == ("Embedded", "Shared")
        assert {{"--verbose-performance", "--enable-debug-db"}} <= set(rest)
        out.mkdir()
        (out / "model_summary_Embedded.csv").write_text({summary_csv(layers)!r})
        (out / "model_per-layer.csv").write_text({regor_csv(layers)!r})
        (out / "model_debug.xml").write_text('<table name="perf">\\n<![CDATA[\\n'
            + {perf_table(layers)!r} + ']]>\\n</table>\\n<table name="source">\\n<![CDATA[\\n'
            + {source_table(1)!r} + ']]>\\n</table>\\n')
        print("CPU operators = 0 (0.0%)")
        """,
    )
    assert output == VelaOutput(
        summary_csv(layers),
        regor_csv(layers),
        perf_table(layers),
        source_table(1),
        "CPU operators = 0 (0.0%)\n",
    )


def test_nothing_is_left_in_the_temporary_folder(stand_in: Path, temporary: Path) -> None:
    failure(stand_in, "open('left.txt', 'w').write('x' * 1000)")
    assert list(temporary.iterdir()) == []


def test_a_traceback_becomes_its_last_line(stand_in: Path) -> None:
    error = failure(stand_in, "raise RuntimeError('Compilation failed:\\n  IFM must be INT8')")
    assert error.kind == "rejected"
    assert error.what == "kws on ethos-u55-128: Vela refused it: IFM must be INT8"
    assert "int8" in str(error.hint)


def test_an_exit_code_without_words_is_told(stand_in: Path) -> None:
    assert "Vela refused it: exit code 7" in failure(stand_in, "raise SystemExit(7)").what


def test_an_error_on_standard_output_is_told(stand_in: Path) -> None:
    error = failure(stand_in, "print('Error: Invalid TFLite file'); raise SystemExit(1)")
    assert error.what.endswith("Vela refused it: Error: Invalid TFLite file")


@posix
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT"])
def test_a_crash_is_told_by_its_signal(stand_in: Path, name: str) -> None:
    program = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    error = failure(stand_in, program)
    assert error.kind == "crashed"
    assert error.what == f"kws on ethos-u55-128: Vela died of {name}"
    assert "damaged" in str(error.hint)


@posix
def test_a_kill_from_outside_is_told_apart(stand_in: Path) -> None:
    error = failure(stand_in, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert "memory of this PC" in str(error.hint)


def test_good_ends_without_a_summary_are_told(stand_in: Path) -> None:
    error = failure(stand_in, "print('all is well')")
    assert error.kind == "unreadable"
    assert "wrote no summary: all is well" in error.what


def test_a_vela_that_does_not_end_is_ended(stand_in: Path) -> None:
    started = time.monotonic()
    error = failure(stand_in, "import time; time.sleep(60)", timeout_s=0.5)
    assert time.monotonic() - started < 50
    assert error.kind == "timeout"
    assert "Vela did not finish after 0.5 s" in str(error)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a named pipe shows who still lives")
def test_what_vela_started_ends_with_it(stand_in: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    program = f"""
        import subprocess, sys, time
        with open({str(pipe)!r}, "wb") as held:
            held.write(b"held")
            held.flush()
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=held)
            time.sleep(60)
        """
    try:
        failure(stand_in, program, timeout_s=5)
        assert os.read(reader, 99) == b"held"
        readable, _, _ = select.select([reader], [], [], 10)
        assert readable
        assert os.read(reader, 99) == b""  # nobody holds the other end any more
    finally:
        os.close(reader)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems may not limit memory")
def test_a_vela_that_takes_all_memory_is_stopped(stand_in: Path) -> None:
    error = failure(stand_in, "bytearray(8 << 30)")
    assert error.what.endswith("Vela refused it: MemoryError")


def test_files_that_are_no_utf_8_do_no_harm(stand_in: Path) -> None:
    output = run(
        stand_in,
        """
        import pathlib, sys
        out = pathlib.Path(sys.argv[-1])
        out.mkdir()
        (out / "model_summary_x.csv").write_bytes(b"\\xef\\xbb\\xbfa,b\\xff\\n")
        """,
    )
    assert output.summary == "a,b\ufffd\n"
    assert (output.per_layer, output.perf) == ("", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("a\n\n ---- \n###\n", "a"),
        ("Traceback\nethosu.vela.errors.CliOptionError: bad", "CliOptionError: bad"),
        ("http.server: x", "server: x"),
        ("x" * 999, "x" * 300),
    ],
)
def test_last_words_are_the_last_line_that_says_something(text: str, words: str) -> None:
    assert last_line(text) == words
