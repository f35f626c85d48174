"""Step two of the two-step flow: a board without RPC, flashed with the power application.

The real firmware runs on this PC behind the fake J-Link; its pins are a socket.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base.names import c_identifier
from pytest_autodeploy.deliver.files import save
from pytest_autodeploy.deliver.neuralspot_app import NeuralSpotApps
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_builds import characterization
from tests.helpers.firmware_support import needs
from tests.helpers.hardware_bench import install
from tests.helpers.pin_meter import AMPERES, VOLTS
from tests.helpers.power_app import INFERENCE_MS, FlashedMeter, HostBuilds
from tests.helpers.result_files import result_file
from tests.helpers.support import DIGITS, KWS

pytestmark = [
    pytest.mark.slow,  # windows of real time
    needs("c++"),
    pytest.mark.skipif(sys.platform != "linux", reason="board and meter share Linux's clock"),
]
RESULT = Path("autodeploy-results/digits_cnn/apollo4l_evb/result.json")
PINS = ("--evb", "apollo4l_evb", "--autodeploy-power", "joulescope", "--autodeploy-power-link=pins")
FAST = ("--autodeploy-power-window", "0.3", "--autodeploy-power-repeats", "2")
FROM = ("--autodeploy-from", "plus")
HP = ("--autodeploy-power-modes", "HP")


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostBuilds:
    model = load_model(DIGITS)
    builds = HostBuilds(tmp_path / "builds", c_identifier(model.name), model.inputs[0].bytes)
    monkeypatch.setattr(NeuralSpotApps, "build", lambda _self, *given: builds.build(*given))
    return builds


@pytest.fixture
def meter(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builds: HostBuilds
) -> Iterator[FlashedMeter]:
    """The meter of an EVB that has just been characterised elsewhere."""
    del builds
    folder = tmp_path / "bench"
    folder.mkdir()
    bench = install(monkeypatch, folder)
    meter = FlashedMeter(bench)
    made: Any = lambda *_args, **_options: meter  # noqa: E731  # stands for the class
    monkeypatch.setattr("pytest_autodeploy.power.joulescope.Joulescope", made)
    monkeypatch.setattr("pytest_autodeploy.power.handshake.WAIT_S", 1.0)
    model = load_model(DIGITS)
    save(characterization(model), pytester.path / "plus")
    shutil.copy(DIGITS, pytester.path)
    yield meter
    meter.end()
    bench.close()


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("-v", "--tflite", DIGITS.name, *PINS, *FROM, *FAST, *arguments)


def values() -> dict[str, Any]:
    return {item["name"]: item for item in result_file(RESULT)["measurements"]}


def test_time_and_energy_come_over_the_pins_alone(
    pytester: pytest.Pytester, meter: FlashedMeter, builds: HostBuilds
) -> None:
    result = run(pytester, *HP)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "Ran on *power application, no RPC*",
            "[[]Power] HP latency *ms*",
            "*2 windows of * inferences, *, pins*",
            "[[]Power] HP energy *uJ*",
            "*the board itself is asked nothing*",
        ]
    )
    time_us = values()["power_time_hp"]["value"]
    assert time_us >= 1e3 * INFERENCE_MS
    energy = values()["energy_hp"]
    assert energy["value"] == pytest.approx(AMPERES * VOLTS * time_us, rel=1e-3)
    assert "the board itself is asked nothing" in energy["note"]
    # a window of ten to plan from, then one of the wanted time; the second test measures nothing
    assert builds.built[0][0] == "10"
    assert meter.flashed == len(builds.built) == 2
    assert 20 <= int(builds.built[1][0]) <= 38


def test_a_given_number_of_inferences_takes_one_image(
    pytester: pytest.Pytester, meter: FlashedMeter, builds: HostBuilds
) -> None:
    run(pytester, *HP, "--autodeploy-power-runs", "20").assert_outcomes(passed=2)
    assert builds.built == [("20", "kHighPerformance")]
    assert meter.flashed == 1


def test_limits_of_energy_and_time_are_judged(
    pytester: pytest.Pytester, meter: FlashedMeter
) -> None:
    del meter
    limits = ("--tflite-energy-limit", "uj=100", "--tflite-latency-budget", "ms=5")
    result = run(pytester, *HP, *limits)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*digits_cnn on apollo4l_evb: energy hp is over its limit*",
            "*digits_cnn on apollo4l_evb: power time hp is over its limit*",
        ]
    )


def test_a_limit_in_a_mode_that_is_not_measured_is_red(
    pytester: pytest.Pytester, meter: FlashedMeter
) -> None:
    del meter
    result = run(pytester, *HP, "--tflite-energy-limit", "uj=1e9,mode=LP")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*there is no energy in the clock mode LP*"])


def test_a_statistic_that_windows_do_not_have_is_red(
    pytester: pytest.Pytester, meter: FlashedMeter
) -> None:
    del meter
    result = run(pytester, *HP, "--tflite-latency-budget", "ms=500,statistic=max")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*tells no max of inferences*"])


def test_a_model_that_is_not_set_up_is_told_as_lines_that_do_not_move(
    pytester: pytest.Pytester, meter: FlashedMeter, builds: HostBuilds
) -> None:
    del meter
    builds.init = 4
    result = run(pytester, *HP)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["*neither In0 nor In1 moved after the trigger*", "*Connect Out0 with GPIO 24, In0 with *"]
    )


def test_an_inference_that_fails_is_never_a_short_window(
    pytester: pytest.Pytester, meter: FlashedMeter, builds: HostBuilds
) -> None:
    del meter
    builds.invoke = -1
    result = run(pytester, *HP, "--evb-timeout", "1", "-k", "energy")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*In1 did not rise at the end of the window*"])


def test_a_flash_that_failed_gives_no_figures(
    pytester: pytest.Pytester, meter: FlashedMeter, tmp_path: Path
) -> None:
    state = tmp_path / "bench" / "jlink.json"
    state.write_text(state.read_text().replace('"good"', '"verify fails"'))
    result = run(pytester, *HP, "-k", "energy")
    assert result.ret == 1
    assert meter.flashed == 0
    assert not [name for name in values() if name.startswith("energy")]


def test_a_trigger_that_is_not_connected_ends_in_time(
    pytester: pytest.Pytester, meter: FlashedMeter
) -> None:
    meter.connected = False
    run(pytester, *HP, "-k", "energy").assert_outcomes(failed=1, deselected=1)


@pytest.mark.usefixtures("meter")
class TestBeforeTheRun:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (PINS, "give --autodeploy-from=DIR"),
            ((*PINS[2:], *FROM), "sim:apollo4p_evb has no probe"),
            ((*PINS, *FROM, "--autodeploy-power=off"), "needs --autodeploy-power joulescope"),
            ((*PINS, *FROM, "--tflite-tolerance", "lsb=1"), "cannot be judged over pins"),
            ((*PINS, *FROM, "--autodeploy-compare"), "is not for --autodeploy-power-link pins"),
            ((*PINS, *FROM, "--autodeploy-save-capture"), "keeps no streams"),
        ],
    )
    def test_what_cannot_work_is_a_usage_error(
        self, pytester: pytest.Pytester, arguments: tuple[str, ...], words: str
    ) -> None:
        result = pytester.runpytest("--tflite", DIGITS.name, *arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{words}*"])

    def test_a_characterisation_of_another_model_is_refused(
        self, pytester: pytest.Pytester
    ) -> None:
        shutil.copy(KWS, pytester.path / DIGITS.name)
        result = run(pytester, *HP, "-k", "energy")
        result.assert_outcomes(failed=1, deselected=1)
        result.stdout.fnmatch_lines(["*is of another model*"])
