"""Energy in the plugin: options, fixture, markers, built-in test, reports, captures."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.helpers.result_files import result_file

HEAD = 'import pytest\npytestmark = pytest.mark.tflite("digits_cnn.tflite")\n'
FAST = ("--autodeploy-power-window", "0.1", "--autodeploy-power-repeats", "2")
ENERGY = ("-k", "energy", *FAST)
RESULT = Path("autodeploy-results/digits_cnn/sim_apollo4p_evb/result.json")

needs_jls = pytest.mark.skipif(
    find_spec("pyjls") is None, reason="needs the extra 'joulescope' (pyjls)"
)


def run(pytester: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=HEAD + test)
    return pytester.runpytest("test_it.py", *FAST, *arguments)


def measurements() -> dict[str, Any]:
    return {item["name"]: item for item in result_file(RESULT)["measurements"]}


def test_the_built_in_test_measures_both_modes(pytester: pytest.Pytester, digits: Path) -> None:
    files = ("--html", "r.html", "--self-contained-html", "--junitxml", "j.xml")
    result = pytester.runpytest("--tflite", digits.name, "-v", *ENERGY, *files)
    result.assert_outcomes(passed=1, deselected=4)
    result.stdout.fnmatch_lines(
        [
            "[[]Power] HP latency *modelled*",
            "*2 windows of * inferences, * simulated meter*",
            "[[]Power] HP energy *modelled*",
            "*standard deviation *, differences from * on are real*",
            "[[]Power] HP mean power *modelled*",
            "[[]Power] LP latency *modelled*",
            "[[]Power] LP energy *modelled*",
            "[[]Power] LP mean power *modelled*",
        ]
    )
    by_name = measurements()
    for mode in ("hp", "lp"):
        energy, power, time = (
            by_name[f"{kind}_{mode}"] for kind in ("energy", "power", "power_time")
        )
        assert energy["source"] == "modelled"
        assert energy["spread"] >= 0
        assert energy["value"] == pytest.approx(power["value"] * time["value"] / 1e3, rel=1e-9)
    tree = ElementTree.parse("j.xml")  # noqa: S314  # written by this very test
    properties = {item.get("name"): item.get("value") for item in tree.iter("property")}
    assert float(properties["autodeploy.energy_lp_uJ"] or 0) == by_name["energy_lp"]["value"]
    assert properties["autodeploy.energy_lp_uJ.source"] == "modelled"
    page = Path("r.html").read_text()
    assert "Power over time, HP, first window" in page
    assert "Power over time, LP, first window" in page
    assert re.search(r"idle 3\.4\d mW", page)


def test_the_same_seed_gives_the_same_result(pytester: pytest.Pytester, digits: Path) -> None:
    values = []
    for _ in range(2):
        pytester.runpytest("--tflite", digits.name, *ENERGY)
        values.append({name: item["value"] for name, item in measurements().items()})
    assert values[0] == values[1]


def test_without_a_meter_there_is_no_built_in_test(pytester: pytest.Pytester, digits: Path) -> None:
    result = pytester.runpytest("--tflite", digits.name, *ENERGY, "--autodeploy-power", "off")
    result.assert_outcomes(deselected=4)


@pytest.mark.usefixtures("digits")
class TestLimits:
    def test_an_energy_limit_fails_readably(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            "@pytest.mark.energy_limit(uj=250)\ndef test_it(model_session): pass\n",
        )
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "digits_cnn on sim:apollo4p_evb: energy hp is over its limit",
                "  declared energy_limit(uj=250) by marker",
                "  limit   250.0 uJ",
                "  value   * (modelled)",
                "  over    * uJ (* %)",
            ]
        )

    def test_each_mode_has_its_own_limit(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
@pytest.mark.energy_limit(uj=1000, mode="HP")
@pytest.mark.energy_limit(uj=1, mode="LP")
def test_energies(model_session): pass

@pytest.mark.power_limit(mw=10)
def test_too_much(model_session): pass

@pytest.mark.power_limit(mw=10, mode="LP")
def test_met(model_session, power_meter):
    assert power_meter.measure(model_session, mode="LP").mean_mw < 10
""",
        )
        result.assert_outcomes(passed=1, failed=2)
        result.stdout.fnmatch_lines(
            ["*energy lp is over its limit", "*power hp is over its limit", "*limit   10 mW"],
        )

    def test_the_closest_marker_of_a_mode_wins(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
@pytest.mark.energy_limit(uj=1)
class TestIt:
    @pytest.mark.energy_limit(uj=1000)
    def test_it(self, model_session): pass
""",
        )
        result.assert_outcomes(passed=1)

    def test_options_and_ini_judge_the_built_in_test(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        pytester.makepyprojecttoml(
            '[tool.pytest]\nautodeploy_energy_limit = ["uj=1000", "uj=1,mode=LP"]\n'
        )
        power = ("--tflite-power-limit", "mw=1", "--tflite-power-limit", "mw=100,mode=LP")
        result = pytester.runpytest("--tflite", digits.name, *ENERGY, *power)
        result.assert_outcomes(failed=1, deselected=4)
        result.stdout.fnmatch_lines(
            [
                "*energy lp is over its limit",
                "*by ini autodeploy_energy_limit",
                "*power hp is over its limit",
                "*by --tflite-power-limit",
            ]
        )
        result.stdout.fnmatch_lines(["energy_limit(uj=1000) *pass *", "power_limit(* pass *"])


def test_an_inference_of_a_test_of_its_own(pytester: pytest.Pytester, digits: Path) -> None:
    result = run(
        pytester,
        """
def test_it(model_session, power_meter):
    energy = power_meter.measure(model_session, mode="HP", runs=7)
    assert energy.inferences == 7
    assert energy.uj > 0
    assert energy.source == "modelled"
""",
    )
    result.assert_outcomes(passed=1)


@needs_jls
def test_a_kept_capture_replays_to_the_same_figures(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.runpytest("--tflite", digits.name, *ENERGY, "--autodeploy-save-capture")
    live = measurements()
    captures = sorted(Path("autodeploy-results/captures").iterdir())
    assert [path.suffix for path in captures] == [".jls", ".jls"]
    replay = ("--autodeploy-power", "replay:autodeploy-results/captures")
    result = pytester.runpytest("--tflite", digits.name, *ENERGY, *replay)
    result.assert_outcomes(passed=1, deselected=4)
    again = measurements()
    for name in ("energy_hp", "energy_lp", "power_peak_hp", "power_idle_lp", "charge_hp"):
        assert again[name]["value"] == live[name]["value"]
        assert again[name]["source"] == "modelled"
    assert "replay of" in again["energy_hp"]["note"]


@needs_jls
def test_a_capture_of_another_model_is_refused(pytester: pytest.Pytester, digits: Path) -> None:
    from tests.helpers.support import KWS

    pytester.runpytest("--tflite", digits.name, *ENERGY, "--autodeploy-save-capture")
    (hp, _) = sorted(Path("autodeploy-results/captures").iterdir())
    result = pytester.runpytest("--tflite", str(KWS), *ENERGY, "--autodeploy-power", f"replay:{hp}")
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["*: the capture * is of the model *, not *"])


def test_a_joulescope_that_is_not_there_is_an_error(
    pytester: pytest.Pytester, digits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "joulescope.v1", None)
    result = pytester.runpytest_inprocess(
        "--tflite", digits.name, *ENERGY, "--autodeploy-power", "joulescope:000415"
    )
    result.assert_outcomes(errors=1, deselected=4)
    result.stdout.fnmatch_lines(["*--autodeploy-power joulescope needs the extra 'joulescope'*"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--autodeploy-power", "joule"), "*'joule' is not joulescope[[]:SERIAL], replay:FILE*"),
        (("--autodeploy-power", "replay:"), "*'replay:' is not *"),
        (("--autodeploy-power", "replay:no.jls"), "*no such file or folder: no.jls"),
        (("--autodeploy-power", "sim", "--evb-port", "socket://x:1"), "*sim is for simulated*"),
        (("--autodeploy-power-window", "0"), "*'0' is not a positive number"),
        (("--tflite-energy-limit", "uj=-1"), "*uj must be above 0, not -1*"),
        (("--tflite-power-limit", "mw=1,mode=XP"), "*mode='XP' is not one of HP, LP*"),
    ],
)
def test_a_wrong_option_is_a_usage_error(
    pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...], says: str
) -> None:
    result = pytester.runpytest("--tflite", digits.name, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])


def test_one_clock_mode_is_measured_when_it_alone_is_asked_for(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.runpytest("--tflite", digits.name, *ENERGY, "--autodeploy-power-modes", "LP")
    assert {name for name in measurements() if name.startswith("energy")} == {
        "energy_lp",
        "energy_resolution_lp",
    }
