"""``autodeploy commission``: each fault turns the row red that is about it, and no other."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.cli.settings import settings_of
from pytest_autodeploy.run.commission.commission import CHECKS, Commissioning, commission
from pytest_autodeploy.run.commission.kept import write_zip
from pytest_autodeploy.run.commission.rig import Effort, Rig
from pytest_autodeploy.run.commission.rows import RED, Row
from pytest_autodeploy.run.commissioned import NotCommissioned, check_commissioned, remember
from tests.helpers.cli_support import run_json
from tests.helpers.commission_models import FOLDER, MODELS

BOARD = "sim:apollo4p_evb"
SHORT = Effort(link_bytes=8192, calls=20, seconds=0.4, latencies=100, resets=2, window_s=0.1)
"""A commissioning in a second or two; what is found is the same."""

CLOCK = ("--fault", "own-clock")


_expected = Rig.expected
_known: dict[str, Any] = {}


def expected_once(rig: Rig, name: str) -> Any:
    """What the PC makes of a model, for all tests of this module: a process takes seconds."""
    if name not in _known:
        _known[name] = _expected(rig, name)
    return _known[name]


@pytest.fixture(autouse=True, scope="module")
def known_outputs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rig, "expected", expected_once)
        yield


def commissioned(*arguments: str, recordings: Path | None = None, **more: Any) -> Commissioning:
    """The rows of a simulated board with faults."""
    settings = settings_of({"evb": BOARD, **more})
    options = {"sim_arguments": [*arguments]}
    return commission(settings, SHORT, lambda *_: None, options=options, recordings=recordings)


def red(found: Commissioning) -> list[str]:
    return [row.name for row in found.rows if row.verdict in RED]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Commissioning, Path]:
    folder = tmp_path_factory.mktemp("recordings")
    return commissioned(*CLOCK, recordings=folder), folder


def test_a_good_board_is_green_and_tells_what_has_no_sense(
    good: tuple[Commissioning, Path],
) -> None:
    found = {row.name: row for row in good[0].rows}
    assert list(found) == [check.name for check in CHECKS]
    assert good[0].green
    left = {name for name, row in found.items() if row.verdict == "not applicable"}
    assert left == {"ports and permissions", "first inference", "power: sleep"}
    assert all(row.actual for row in found.values())
    assert not any(row.advice for row in found.values())


def test_a_clock_is_judged_only_where_there_is_one() -> None:
    found = {row.name: row.verdict for row in commissioned().rows}
    assert {found["ticks: HP"], found["ticks: LP"], found["ticks: wrap"]} == {"not applicable"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "row"),
    [
        (("--fault", "wrong-board"), "identify"),
        (("--fault", "corrupt-input"), "link: integrity"),
        (("--link-bytes-per-s", "6000"), "link: throughput"),
        (("--link-latency-ms", "40"), "link: small calls"),
        (("--fault", "fast-clock-hp"), "ticks: HP"),
        (("--fault", "fast-clock-lp"), "ticks: LP"),
        (("--fault", "stuck-clock"), "ticks: HP to LP"),
        (("--fault", "wrapping-clock"), "ticks: wrap"),
        (("--fault", "corrupt-op:SOFTMAX"), "outputs: int8 CNN"),
        (("--fault", "corrupt-op:LOGISTIC"), "outputs: float dense"),
        (("--fault", "corrupt-op:SVDF"), "outputs: int8 SVDF"),
        (("--timing-noise", "outlier=0.05x1.05"), "latency: repeats"),
        (("--fault", "slow-profiler"), "profiler"),
        (("--fault", "die@reboot"), "reset"),
        (("--power-fault", "cut-in1"), "power: wiring"),
        (("--power-fault", "low-supply"), "power: supply"),
        (("--power-fault", "busy-idle"), "power: idle"),
        (("--power-fault", "swinging-supply"), "power: energy"),
        (("--power-noise", "20"), "power: two lengths"),
        (("--fault", "bad-dtcm"), "arena in DTCM"),
    ],
)
def test_each_fault_turns_its_row_red_and_no_other(arguments: tuple[str, ...], row: str) -> None:
    found = commissioned(*arguments)
    assert red(found) == [row]
    (told,) = (each for each in found.rows if each.name == row)
    assert told.advice
    assert not found.green


def test_a_board_that_does_not_start_is_red_and_ends() -> None:
    found = commissioned("--fault", "die@configure")
    assert "reset" in red(found)
    assert not found.green


def test_the_zip_has_rows_versions_and_recordings_and_names_nobody(
    good: tuple[Commissioning, Path], tmp_path: Path
) -> None:
    path = write_zip(good[0], good[1], tmp_path)
    assert path.name.startswith("commission-sim_apollo4p_evb-2")
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        plain = json.loads(file.read("commission.json"))
    assert sum(name.startswith("recordings/") for name in names) == 4
    assert not any(name.endswith(".tflite") for name in names)
    assert plain["green"] is True
    assert plain["made_with"]["versions"]["pytest-autodeploy"]
    assert [Row(**row) for row in plain["rows"]] == list(good[0].rows)
    assert str(Path.home()) + "/" not in json.dumps(plain)


@pytest.mark.parametrize(
    ("days", "green", "text"),
    [
        (8, True, "which is longer ago than 7d"),
        (1, False, "failed its commissioning"),
        (-1, True, "longer ago"),  # of a clock that was wrong
    ],
)
def test_a_board_is_refused_whose_commissioning_is_old_or_red(
    tmp_path: Path, days: int, green: bool, text: str
) -> None:
    date = (datetime.now(UTC) - timedelta(days)).isoformat()
    remember("apollo4p_evb", None, date, green=green, folder=tmp_path)
    with pytest.raises(NotCommissioned, match=text) as error:
        check_commissioned("apollo4p_evb", None, "7d", tmp_path)
    assert "autodeploy commission --evb apollo4p_evb" in str(error.value)


def test_a_young_green_commissioning_is_accepted_for_its_probe_alone(tmp_path: Path) -> None:
    date = datetime.now(UTC).isoformat()
    remember("apollo4p_evb", "123", date, green=True, folder=tmp_path)
    check_commissioned("apollo4p_evb", "123", "12h", tmp_path)
    with pytest.raises(NotCommissioned, match="was never commissioned"):
        check_commissioned("apollo4p_evb", None, "12h", tmp_path)


def test_what_is_kept_may_be_damaged(tmp_path: Path) -> None:
    (tmp_path / "apollo4p_evb.json").write_text('{"date": 1}')
    with pytest.raises(NotCommissioned, match="cannot be read"):
        check_commissioned("apollo4p_evb", None, "7d", tmp_path)


def test_the_models_are_what_their_script_makes() -> None:
    assert {path.name: path.read_bytes() for path in FOLDER.iterdir()} == dict(MODELS)
    assert sum(map(len, MODELS.values())) < 10_000


@pytest.mark.slow
def test_the_command_writes_the_zip_and_a_run_may_demand_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, digits: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(pytester.path / "cache"))
    demanded = ("--tflite", digits.name, "--evb-commissioned=7d", "-k=fits")
    refused = pytester.runpytest(*demanded)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*sim:apollo4p_evb was never commissioned*"])
    short = ("--megabytes=0.01", "--calls=9", "--seconds=0.1", "--latencies=99", "--resets=1")
    code, document = run_json("commission", "--evb", BOARD, "--out", "zips", *short)
    assert code == 0, document
    assert document["green"]
    assert Path(document["zip"]).is_file()
    pytester.runpytest(*demanded).assert_outcomes(passed=1, deselected=4)
