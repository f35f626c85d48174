"""``--tflite-profile``: of which inference the layers are, told wherever they are shown."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.helpers.result_files import result_file

FOLDER = Path("autodeploy-results/digits_cnn/sim_apollo4p_evb")


def run(pytester: pytest.Pytester, digits: Path, *arguments: str) -> pytest.RunResult:
    result = pytester.runpytest("--tflite", digits.name, "-k", "layer_profile", "-v", *arguments)
    result.assert_outcomes(passed=1, deselected=4)
    return result


def runs_in(name: str) -> set[str]:
    with (FOLDER / name).open(newline="") as file:
        return {row["Run"] for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("chosen", "words"), [((), "warm, median of 10"), (("--tflite-profile", "first"), "first")]
)
def test_one_profile_says_which_inference_it_is_of(
    pytester: pytest.Pytester, digits: Path, chosen: tuple[str, ...], words: str
) -> None:
    result = run(pytester, digits, *chosen)
    text = result.stdout.str()
    for label in (
        "Profiled latency",
        "Total CPU cycles",
        "MACs per second",
        "Cycles per MAC",
    ):
        assert re.search(rf"^{label}\s[^;]*; (sum of layers; )?{words}$", text, re.MULTILINE), label
    assert f"\nLayers ({words})\n" in text
    assert runs_in("digits_cnn.csv") == {words}
    profile = result_file(FOLDER / "result.json")["profile"]
    assert profile["run"] == words.partition(",")[0]
    assert result_file(FOLDER / "result.json")["first_profile"] is None
    assert not (FOLDER / "digits_cnn_first.csv").exists()


def test_rates_are_those_of_the_profile_that_they_stand_beside(
    pytester: pytest.Pytester, digits: Path
) -> None:
    run(pytester, digits, "--tflite-profile", "both")
    values = {m["name"]: m["value"] for m in result_file(FOLDER / "result.json")["measurements"]}
    macs, time_s = values["macs"], values["profile_time"] * 1e-6
    assert values["macs_per_second"] == pytest.approx(macs / time_s, rel=1e-9)
    assert values["cycles_per_mac"] == pytest.approx(values["profile_cycles"] / macs, rel=1e-9)


def test_both_are_kept_apart(pytester: pytest.Pytester, digits: Path) -> None:
    result = run(pytester, digits, "--tflite-profile", "both", "--html", "r.html")
    result.stdout.fnmatch_lines(
        ["Profiled first inference *; first", "Layers (first)", "Layers (warm, median of 10)"]
    )
    assert runs_in("digits_cnn.csv") == {"warm, median of 10"}
    assert runs_in("digits_cnn_first.csv") == {"first"}
    page = Path("r.html").read_text()
    assert "Layers, warm inference (median of 10)" in page
    assert "Layers, first inference" in page
