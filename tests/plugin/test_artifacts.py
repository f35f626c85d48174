"""``--autodeploy-artifacts`` and ``--autodeploy-from`` in real runs on the simulated board."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.once import made_once
from tests.helpers.result_files import result_file
from tests.helpers.support import DIGITS
from tests.helpers.tflite_builder import fully_connected, relu

ARTIFACTS = "--autodeploy-artifacts"
FROM = "--autodeploy-from"
MAKE = ("--tflite", "digits_cnn.tflite", "-k", "artifacts", ARTIFACTS)
PLACE = Path("autodeploy-results", "digits_cnn", "sim_apollo4p_evb")

pytestmark = pytest.mark.usefixtures("digits", "_bare")


@pytest.fixture
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No SDK and no TFLM tree, so nothing is built."""
    for name in ("AUTODEPLOY_TFLM_ROOT", "NEURALSPOT_ROOT"):
        monkeypatch.delenv(name, raising=False)


def _make_kept(folder: Path) -> None:
    shutil.copy(DIGITS, folder)
    command = [sys.executable, "-m", "pytest", *MAKE, "all", "--autodeploy-output", "kept"]
    lacking = {"AUTODEPLOY_TFLM_ROOT", "NEURALSPOT_ROOT"}
    bare = {name: value for name, value in os.environ.items() if name not in lacking}
    subprocess.run(command, cwd=folder, env=bare, check=True, timeout=120, capture_output=True)


@pytest.fixture
def kept(pytester: pytest.Pytester, run_folder: Path) -> Path:
    """The characterisation of the digits model, in a folder of its own."""
    made = made_once(run_folder, "kept-artifacts", _make_kept)
    return Path(shutil.copytree(made / "kept", pytester.path / "kept"))


def result(place: Path = PLACE) -> dict[str, Any]:
    """The JSON result of the inner run."""
    return result_file(place / "result.json")


def test_nothing_is_made_unless_it_is_asked_for(pytester: pytest.Pytester) -> None:
    run = pytester.runpytest("--tflite", "digits_cnn.tflite", "--collect-only", "-q")

    assert "artifacts" not in run.stdout.str()


def test_the_run_leaves_the_tree_and_says_what_is_missing(pytester: pytest.Pytester) -> None:
    run = pytester.runpytest(*MAKE, "all", "-v", "--junitxml", "junit.xml", "--html", "report.html")

    run.assert_outcomes(passed=1)
    run.stdout.fnmatch_lines(
        [
            f"Artifacts *files in {PLACE.as_posix()}",
            "Characterised on *sim:apollo4p_evb *modelled*",
            "Left out *the library*",
            "*no neuralSPOT to build firmware with*--evb-sdk=DIR*",
        ]
    )
    assert (PLACE / "digits_cnn/lib/digits_cnn_api.h").is_file()
    assert (PLACE / "digits_cnn_power/module.mk").is_file()
    made = result()["artifacts"]
    assert "digits_cnn_mc.json" in made["files"]
    assert made["folder"] == "digits_cnn/sim_apollo4p_evb"
    report = ET.parse("junit.xml")  # noqa: S314  # our own
    names = {each.get("name"): each.get("value") for each in report.iter("property")}
    assert int(names["autodeploy.artifacts"] or 0) == len(made["files"])
    assert "the library" in (names["autodeploy.artifacts_left_out"] or "")
    assert "no neuralSPOT to build" in Path("report.html").read_text()


def test_the_ini_file_may_ask_for_artifacts(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nautodeploy_artifacts = validator")

    pytester.runpytest(*MAKE[:4]).assert_outcomes(passed=1)

    folders = {path.name for path in PLACE.iterdir() if path.is_dir()}
    assert folders == {"tflm_validator"}


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_what_is_asked_for_by_name_and_not_made_is_a_failure(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    run = pytester.runpytest(*MAKE, "library,power", *workers)

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        [
            "*asked for library, power, but not made:",
            "*the library: no neuralSPOT to build firmware with*",
            "*the power binary: *",
            "Left out *the library*",
        ]
    )
    assert (PLACE / "digits_cnn/lib/digits_cnn_api.h").is_file()


def test_wrong_outputs_make_nothing(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        "def evb_options(): return {'sim_arguments': ['--fault', 'corrupt-op:0']}\n"
    )

    run = pytester.runpytest(*MAKE, "all", "--autodeploy-explain", "off")

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["*wrong output: digits_cnn on sim:apollo4p_evb: outputs differ*"])
    run.stdout.fnmatch_lines(["Left out *all artifacts*"])
    assert not list(PLACE.glob("*_mc.json"))
    assert "outputs differ" in result()["artifacts"]["left_out"][0]["why"]


def test_another_board_needs_only_the_files(pytester: pytest.Pytester, kept: Path) -> None:
    run = pytester.runpytest(
        "-v", "--tflite", "digits_cnn.tflite", ARTIFACTS, "all", FROM, kept, "--evb",
        "apollo4l_evb",
    )  # fmt: skip

    run.assert_outcomes(passed=1)
    run.stdout.no_fnmatch_line("*nothing was measured*")
    run.stdout.fnmatch_lines(["Characterised on *sim:apollo4p_evb *modelled*"])
    place = PLACE.with_name("apollo4l_evb")
    first = kept / "digits_cnn/sim_apollo4p_evb/digits_cnn_mc.json"
    assert (place / "digits_cnn_mc.json").read_text() == first.read_text()
    assert (place / "digits_cnn_power/src/power_main.cc").is_file()
    assert result(place)["artifacts"]["characterised_on"] == "sim:apollo4p_evb"


EVERY = ("fits", "agree", "latency", "layer_profile")


@pytest.mark.parametrize(
    ("asked", "tests"),
    [
        (("--tflite-latency-budget=ms=1000",), EVERY),
        (("--tflite-memory-limit=arena_kb=640", "-n", "1"), EVERY),
        (("--autodeploy-power=sim",), (*EVERY, "energy")),
        (("--autodeploy-update-baseline",), EVERY),
    ],
    ids=["latency", "memory", "meter", "update"],
)
@pytest.mark.slow
def test_what_only_a_board_can_tell_is_measured_beside_kept_files(
    pytester: pytest.Pytester, kept: Path, asked: tuple[str, ...], tests: tuple[str, ...]
) -> None:
    given = ("--tflite=digits_cnn.tflite", ARTIFACTS, "all", FROM, kept)
    quick = ("--autodeploy-power-window=0.1", "--tflite-runs=2")
    off = () if "energy" in tests else ("--autodeploy-power=off",)

    run = pytester.runpytest_subprocess(*given, *quick, *off, *asked, "-v")

    run.assert_outcomes(passed=len(tests) + 1)
    run.stdout.fnmatch_lines_random([f"*test_*{name}*" for name in (*tests, "artifacts_from")])
    run.stdout.no_fnmatch_line("*test_artifacts[[]*")
    measured = {each["name"] for each in result()["measurements"]}
    assert {"latency_median", "profile_time"} <= measured
    assert result()["artifacts"]["characterised_on"] == "sim:apollo4p_evb"


@pytest.mark.slow
def test_a_limit_that_does_not_hold_is_red_beside_kept_files(
    pytester: pytest.Pytester, kept: Path
) -> None:
    given = ("--tflite=digits_cnn.tflite", ARTIFACTS, "all", FROM, kept)

    limited = pytester.runpytest_subprocess(*given, "--tflite-latency-budget=us=1", "-k=lat")
    compared = pytester.runpytest_subprocess(*given, "--autodeploy-compare", "-k=lat")

    assert (limited.ret, compared.ret) == (1, 1)
    limited.stdout.fnmatch_lines(["FAILED *test_latency*"])
    compared.stdout.fnmatch_lines(["*no baseline*"])


def test_limits_of_the_ini_file_need_no_board_beside_kept_files(
    pytester: pytest.Pytester, kept: Path
) -> None:
    pytester.makeini("[pytest]\nautodeploy_latency_budget = us=1\n")

    run = pytester.runpytest(
        "--tflite=digits_cnn.tflite", ARTIFACTS, "all", FROM, kept, "--evb", "apollo4l_evb"
    )

    run.assert_outcomes(passed=1)


def test_files_of_another_model_are_refused(pytester: pytest.Pytester, kept: Path) -> None:
    Path("digits_cnn.tflite").write_bytes(fully_connected())

    run = pytester.runpytest(*MAKE, "all", FROM, kept)

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["*digits_cnn_mc.json is of another model: its SHA-256 is *"])
    assert not PLACE.joinpath("digits_cnn").exists()


def test_damaged_files_are_refused(pytester: pytest.Pytester, kept: Path) -> None:
    path = kept / "digits_cnn/sim_apollo4p_evb/digits_cnn_mc.json"
    path.write_text(path.read_text()[:-10])

    run = pytester.runpytest(*MAKE, "all", FROM, kept)

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["*digits_cnn_mc.json is damaged or cut short*"])


def test_a_board_without_room_is_refused(pytester: pytest.Pytester) -> None:
    Path("digits_cnn.tflite").write_bytes(relu((1, 130_000)))  # an arena of 1 MB
    wide = ("--evb", "sim:apollo510_evb", "--autodeploy-output", "kept", "--tflite-runs", "1")
    pytester.runpytest(*MAKE, "all", *wide).assert_outcomes(passed=1)

    run = pytester.runpytest(*MAKE, "all", FROM, "kept", "--evb", "apollo3p_evb")

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(["*the arena does not fit: arena 1,0* KB + reserved *> SRAM*"])


@pytest.mark.slow
def test_workers_make_artifacts_too(pytester: pytest.Pytester) -> None:
    boards = ("--evb", "sim:apollo4p_evb", "--evb", "sim:apollo510_evb")
    pytester.runpytest(*MAKE, "all", *boards, "-n", "2").assert_outcomes(passed=2)

    for board in ("sim_apollo4p_evb", "sim_apollo510_evb"):
        assert result(PLACE.with_name(board))["artifacts"]["files"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((ARTIFACTS, "lib", *MAKE[:2]), "'lib' is not one of library, ambiqsuite"),
        ((ARTIFACTS, "all"), "needs the built-in tests: give --tflite=PATH"),
        ((ARTIFACTS, "all", "--tflite-no-suite", *MAKE[:2]), "needs the built-in tests"),
        ((FROM, "kept", *MAKE[:2]), "--autodeploy-from needs --autodeploy-artifacts"),
        ((ARTIFACTS, "all", FROM, "nowhere", *MAKE[:2]), "no such folder: nowhere"),
    ],
)
def test_what_cannot_work_is_a_usage_error(
    pytester: pytest.Pytester, arguments: tuple[str, ...], words: str
) -> None:
    run = pytester.runpytest(*arguments)

    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines([f"*{words}*"])
