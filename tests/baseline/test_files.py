"""Baseline files: stable text, refused damage, and writing that nothing can break."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.baseline.compare import compare
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.format import Baseline, Conditions
from pytest_autodeploy.baseline.store import (
    baseline_path,
    locked,
    other_boards,
    read_baseline,
    write_baseline,
)
from pytest_autodeploy.baseline.text import baseline_text, parse_baseline
from pytest_autodeploy.limits.declarations import default_regression
from tests.helpers.baseline_examples import ENTRY, baseline, with_metric
from tests.helpers.support import ROOT
from tests.helpers.users import ATTACKER, VICTIM, everybodys_folder, needs_root, run_as


def test_reading_gives_back_what_was_written() -> None:
    assert parse_baseline(baseline_text(baseline()), "f") == baseline()


def test_every_condition_is_read_back() -> None:
    values: dict[str, Any] = {
        each.name: 7 if each.name == "clock_hz" else each.name for each in fields(Conditions)
    }
    entry = replace(ENTRY, conditions=Conditions(**values))
    assert parse_baseline(baseline_text(baseline(entry)), "f") == baseline(entry)


def test_the_text_is_sorted_and_a_changed_metric_changes_one_line() -> None:
    one = baseline_text(baseline()).splitlines()
    other = baseline_text(baseline(with_metric("arena_used", 5000))).splitlines()
    assert len(one) == len(other)
    assert sum(a != b for a, b in zip(one, other, strict=True)) == 1
    shuffled = replace(ENTRY, metrics=dict(reversed(list(ENTRY.metrics.items()))))
    assert baseline_text(baseline(shuffled)) == baseline_text(baseline())


def test_the_text_says_nothing_of_time_and_machine() -> None:
    plain = json.loads(baseline_text(baseline()))
    assert set(plain) == {"schema", "model", "file", "entries"}
    assert set(plain["entries"]["HP"]) == {"conditions", "provenance", "metrics", "layers"}
    assert plain["entries"]["HP"]["metrics"]["latency_median"] == {
        "value": 10_080,
        "unit": "us",
        "better": "lower",
        "source": "modelled",
        "spread": 0,
        "repeats": 10,
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f is damaged: Expecting value"),
        (baseline_text(baseline())[:300], "f is damaged: "),
        ("[]", "f is damaged: no baseline with a schema"),
        ('{"schema": 1}', "f is damaged: it has no entries"),
        (
            baseline_text(baseline()).replace("10080", '"10080"'),
            "f is damaged: entries.HP.metrics.latency_median.value is '10080', not a number",
        ),
        (
            baseline_text(baseline()).replace('"kind"', '"kin"'),
            "f is damaged: entries.HP.conditions has no kind",
        ),
        (
            baseline_text(baseline()).replace('"model_size"', '"arena_used"'),
            "f is damaged: the key arena_used is there twice",
        ),
        ("[" * 100_000, "f is damaged: "),
        (
            baseline_text(baseline()).replace('"schema": 2', '"schema": 3'),
            "f has schema 3, this version knows up to 2",
        ),
    ],
)
def test_what_cannot_be_trusted_is_refused(text: str, says: str) -> None:
    with pytest.raises(BaselineError) as raised:
        parse_baseline(text, "f")
    assert raised.value.what.startswith(says)
    assert raised.value.hint


FORMAT_1 = re.sub('"schema": 2', '"schema": 1', baseline_text(baseline()))


def test_format_1_is_read_and_written_anew(tmp_path: Path) -> None:
    """Its latency is a median of all repeats, whose error is larger than that of a mean."""
    noisy = FORMAT_1.replace(
        '"repeats": 10, "source": "modelled", "spread": 0,',
        '"repeats": 10, "source": "modelled", "spread": 100,',
        1,
    )
    assert noisy != FORMAT_1
    read = parse_baseline(noisy, "f")
    latency = read.entries["HP"].metrics["latency_median"]
    assert latency.spread == pytest.approx(100 * math.sqrt(math.pi / 2))
    assert (latency.starts, latency.start_spread, latency.outliers) == (1, None, 0)
    assert read.entries["HP"].metrics["energy_hp"].spread == 1
    assert read != parse_baseline(baseline_text(read), "f")  # so that an update writes it
    assert '"schema": 2' in baseline_text(read)


def test_what_several_starts_say_is_read_back() -> None:
    entry = with_metric(
        "latency_median",
        10_080,
        spread=30.0,
        repeats=50,
        centre=10_090,
        outliers=3,
        starts=5,
        start_spread=20.0,
        memory=0.5,
    )
    assert parse_baseline(baseline_text(baseline(entry)), "f") == baseline(entry)
    for key, wrong in (("outliers", 50), ("starts", 51), ("memory", 2), ("start_spread", -1)):
        text = re.sub(f'"{key}": [0-9.]+', f'"{key}": {wrong}', baseline_text(baseline(entry)))
        with pytest.raises(BaselineError, match=rf"latency_median.{key} is {wrong}"):
            parse_baseline(text, "f")


POISONS = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1", "9" * 400, "9" * 5000, "1e200"),
    *("true", "null", "[]", "{}", "[1]", '"\\ud800"', f'"{"x" * 2000}"', '"x"', "1.5"),
)
"""JSON, or what Python takes for it, that is not right everywhere."""


def leaves(plain: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every value in plain data, of containers too."""
    if path:
        yield path
    if isinstance(plain, dict | list):
        for key, item in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from leaves(item, (*path, key))


def poisoned(path: tuple[str | int, ...], poison: str) -> str:
    """The text of a baseline with another value in one place."""
    plain = inner = json.loads(baseline_text(baseline()))
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = "POISON"
    return json.dumps(plain).replace('"POISON"', poison)


LEAVES = list(leaves(json.loads(baseline_text(baseline()))))


@pytest.mark.parametrize("poison", POISONS, ids=lambda text: f"{text[:12]} of {len(text)}")
def test_a_value_is_refused_by_file_entry_and_key_or_is_sound(poison: str) -> None:
    for path in LEAVES:
        try:
            found = parse_baseline(poisoned(path, poison), "f")
        except BaselineError as error:
            shown = re.sub(r"\[(\d+)\]", r".\1", error.what)
            assert shown.startswith("f is damaged: "), path
            assert ".".join(map(str, path)) in shown, (path, shown)
            continue
        assert_sound(found)
        assert poison in ('"x"', "1.5", "{}", "[]"), path


def assert_sound(found: Baseline) -> None:
    """What was read can be compared with, and written again."""
    for entry in found.entries.values():
        for metric in entry.metrics.values():
            assert math.isfinite(metric.value)
            assert metric.repeats >= 1
            assert metric.spread is None or metric.spread >= 0
        compare(entry, ENTRY, default_regression(), "f")
        compare(ENTRY, entry, default_regression(), "f")
    assert parse_baseline(baseline_text(found), "f") == found


@pytest.mark.parametrize("spread", [5e-324, 1e-200, 1e-100, 1e100])
def test_the_smallest_and_the_largest_deviation_can_be_reckoned_with(spread: float) -> None:
    entry = with_metric("latency_median", 10_080, spread=spread, repeats=3)
    assert_sound(baseline(entry))


def test_models_and_boards_have_files_of_their_own(tmp_path: Path) -> None:
    path = baseline_path(tmp_path, "a/kws", "apollo4p_evb", "simulated")
    assert path == tmp_path / "a_kws" / "apollo4p_evb.simulated.json"
    write_baseline(path, baseline())
    hardware = baseline_path(tmp_path, "a/kws", "apollo4p_evb", "hardware")
    assert other_boards(hardware) == ["apollo4p_evb.simulated"]
    assert read_baseline(hardware) is None


def test_a_folder_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "kws").write_text("a file in the way")
    with pytest.raises(BaselineError, match=r"cannot write .*kws") as raised:
        write_baseline(tmp_path / "kws" / "board.json", baseline())
    assert raised.value.hint == "nothing was changed"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write")
def test_a_read_only_folder_changes_nothing(tmp_path: Path) -> None:
    write_baseline(tmp_path / "board.json", baseline())
    tmp_path.chmod(0o500)
    with pytest.raises(BaselineError, match="Permission denied"):
        write_baseline(tmp_path / "board.json", baseline(with_metric("arena_used", 1)))
    assert read_baseline(tmp_path / "board.json") == baseline()


WRITER = """
import sys
from pathlib import Path
from tests.helpers.baseline_examples import baseline, with_metric
from pytest_autodeploy.baseline.store import locked, read_baseline, write_baseline
path = Path(sys.argv[1])
"""
FOR_EVER = (
    WRITER
    + """
number = 0
while True:
    number += 1
    with locked(path):
        write_baseline(path, baseline(with_metric("arena_used", number)))
    print(number, flush=True)
"""
)
COUNTING = (
    WRITER
    + """
for _ in range(50):
    with locked(path):
        entry = read_baseline(path).entries["HP"]
        value = entry.metrics["arena_used"].value
        write_baseline(path, baseline(with_metric("arena_used", value + 1)))
"""
)


def start(code: str, path: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, "-c", code, str(path)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="kills with a signal")
def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    for turn in range(5):
        with start(FOR_EVER, path) as writer:
            assert writer.stdout
            writer.stdout.readline()
            time.sleep(0.003 * turn)
            writer.send_signal(signal.SIGKILL)
        found = read_baseline(path)
        assert found
        assert found.entries["HP"].metrics["arena_used"].value >= 1
    (tmp_path / ".board.json.left").write_text("{")
    with locked(path, timeout_s=1):
        write_baseline(path, baseline())
    assert [file.name for file in tmp_path.iterdir()] == ["board.json"]


def test_two_updates_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    write_baseline(path, baseline(with_metric("arena_used", 0)))
    writers = [start(COUNTING, path) for _ in range(2)]
    assert [writer.wait(30) for writer in writers] == [0, 0]
    for writer in writers:
        assert writer.stdout
        writer.stdout.close()
    found = read_baseline(path)
    assert found
    assert found.entries["HP"].metrics["arena_used"].value == 100


def test_a_lock_that_is_held_is_an_error_in_time(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    with locked(path), pytest.raises(BaselineError, match="updated by another run"):  # noqa: SIM117
        with locked(path, timeout_s=0.05):
            pass


def test_an_empty_set_of_clock_modes_is_no_error() -> None:
    empty = Baseline("kws", "kws.tflite", {})
    assert parse_baseline(baseline_text(empty), "f") == empty


UPDATE = """
try:
    with locked(Path({path!r}), timeout_s=1):
        print("locked")
except BaselineError as error:
    print(error)
"""
UPDATE_IMPORTS = """
import filelock
from pathlib import Path
from pytest_autodeploy.baseline.errors import BaselineError
from pytest_autodeploy.baseline.store import locked
"""


@needs_root
def test_a_trap_of_another_user_is_one_clear_error_and_nothing_is_lost() -> None:
    """He has guessed the folder and the name of the lock, and leads it to a file of the victim."""
    with everybodys_folder() as temporary:
        path, precious = temporary / "board.json", temporary / "precious"
        precious.write_text("years of work")
        os.chown(precious, VICTIM, VICTIM)
        key = hashlib.sha256(str(path).encode()).hexdigest()[:32]
        folder = temporary / f"pytest-autodeploy-{VICTIM}"
        lock = folder / f"baseline-{key}.lock"
        trap = f"os.mkdir({str(folder)!r}, 0o777); os.symlink({str(precious)!r}, {str(lock)!r})"
        run_as(ATTACKER, f"os.umask(0); {trap}", folder=temporary)

        update = UPDATE.format(path=str(path))
        words = run_as(VICTIM, update, folder=temporary, imports=UPDATE_IMPORTS)

        assert words.splitlines() == [
            f"cannot update {path}: {folder} belongs to another user (uid {ATTACKER})",
            f"  remove {folder}, or set TMPDIR to a folder of your own",
        ]
        assert precious.read_text() == "years of work"
