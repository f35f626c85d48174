"""``--evb-dialect``: boards that AutoDeploy has flashed in a whole run."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.measurement import UNPROVEN
from tests.helpers.result_files import result_file
from tests.helpers.stock_board import stock_pty, stock_tcp
from tests.helpers.stock_firmware import StockFirmware
from tests.helpers.support import DIGITS, KWS
from tests.helpers.tflite_builder import add_two_inputs

FOLDER = Path("autodeploy-results/digits_cnn")


def run(pytester: pytest.Pytester, url: str, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("--evb", "apollo4p_evb", f"--evb-port={url}", *arguments)


def layers(folder: str) -> list[dict[str, str]]:
    with (FOLDER / folder / "digits_cnn.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_figure_of_every_report_says_that_the_model_is_not_proven(
    pytester: pytest.Pytester, digits: Path
) -> None:
    with stock_tcp(StockFirmware(DIGITS)) as board:
        result = run(
            *(pytester, board.url, "--tflite", digits.name, "-v", "--evb-dialect", "stock"),
            *("--junitxml=junit.xml", "--html=report.html", "--self-contained-html"),
        )
        assert board.refused == 0
    result.assert_outcomes(passed=3, skipped=1)
    result.stdout.fnmatch_lines(
        [
            f"autodeploy: apollo4p_evb, hardware: {UNPROVEN}; port *",
            f"apollo4p_evb (hardware): {UNPROVEN}",
            f"Profiled latency  * {UNPROVEN}*",
            f"Tensor arena used * {UNPROVEN}*",
            f"Output agreement  * {UNPROVEN}*",
            f"#  Layer * us ({UNPROVEN}) *",
        ]
    )
    outcome = result_file(FOLDER / "apollo4p_evb/result.json")
    sources = {each["name"]: each["source"] for each in outcome["measurements"]}
    assert {name for name, source in sources.items() if source != UNPROVEN} == {
        *("macs", "model_size"),  # of the file
    }
    assert outcome["board"]["source"] == outcome["profile"]["source"] == UNPROVEN
    assert {row["Source"] for row in layers("apollo4p_evb")} == {UNPROVEN}
    assert {row["Run"] for row in layers("apollo4p_evb")} == {"first"}
    junit = Path("junit.xml").read_text()
    found = re.findall(r'name="autodeploy\.(\w+)\.source" value="([^"]*)"', junit)
    assert {source for name, source in found if name not in ("macs", "model_size_bytes")} == {
        UNPROVEN
    }
    assert "measured" not in re.findall(r"class=ad-s-(\w+)", Path("report.html").read_text())
    assert UNPROVEN in Path("report.html").read_text()


def test_outputs_and_layers_are_those_of_the_simulated_board(
    pytester: pytest.Pytester, digits: Path
) -> None:
    chosen = ("--tflite", digits.name, "-k", "layer_profile or outputs_agree")
    with stock_pty(StockFirmware(DIGITS)) as board:
        run(pytester, board.url, *chosen).assert_outcomes(passed=2, deselected=2)
    pytester.runpytest(*chosen).assert_outcomes(passed=2, deselected=3)
    stock, simulated = layers("apollo4p_evb"), layers("sim_apollo4p_evb")
    for row, other in zip(stock, simulated, strict=True):
        assert row["Tag"] == other["Tag"]
        assert row["Est MACs"] == other["Est MACs"]
        assert row["cycles"] == other["cycles"]
        assert int(row["uSeconds"]) == int(float(other["uSeconds"]))
    theirs, ours = (
        result_file(FOLDER / board / "result.json")["agreement"]
        for board in ("apollo4p_evb", "sim_apollo4p_evb")
    )
    assert theirs["outputs"] == ours["outputs"]


def test_limits_on_what_it_cannot_do_are_not_judged_with_the_reason(
    pytester: pytest.Pytester, digits: Path
) -> None:
    with stock_tcp(StockFirmware(DIGITS)) as board:
        result = run(
            *(pytester, board.url, "--tflite", digits.name),
            *("--tflite-latency-budget", "ms=1000", "--tflite-memory-limit", "arena_kb=100"),
        )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "NOT JUDGED*latency_budget(ms=1000)*only times the layers of the first inference*",
            "NOT JUDGED*memory_limit(arena_kb=100)*the arena is built into stock firmware*",
        ]
    )


@pytest.mark.parametrize("asked", ["--tflite-profile=warm", "--tflite-latency-runs=5"])
def test_what_an_option_asks_for_and_it_cannot_do_fails(
    pytester: pytest.Pytester, digits: Path, asked: str
) -> None:
    with stock_tcp(StockFirmware(DIGITS)) as board:
        result = run(
            pytester, board.url, "--tflite", digits.name, "-k", "latency or profile", asked
        )
    result.assert_outcomes(
        deselected=2, failed=1, **{"skipped" if "profile" in asked else "passed": 1}
    )
    result.stdout.fnmatch_lines(["not judged: *only times the layers of the first inference*"])


def test_a_model_of_two_inputs_has_no_outputs_to_judge(pytester: pytest.Pytester) -> None:
    model = pytester.path / "add.tflite"
    model.write_bytes(add_two_inputs())
    with stock_tcp(StockFirmware(model)) as board:
        result = run(pytester, board.url, "--tflite", model.name, "-k", "outputs_agree")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(
        ["not judged: *output_tolerance*", "*it takes input 0 only, and the model has 2"]
    )


def test_a_test_of_the_users_own_fails_in_what_it_asks_for(
    pytester: pytest.Pytester, digits: Path
) -> None:
    pytester.makepyfile(
        """
        def test_latency(model_session):
            model_session.latency()

        def test_clock(model_session):
            with model_session.at_clock("LP"):
                pass

        def test_layers(model_session):
            assert model_session.profile("first").run == "first"
        """
    )
    with stock_tcp(StockFirmware(DIGITS)) as board:
        result = run(pytester, board.url, "--tflite", digits.name, "--tflite-no-suite")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["not judged: *only times the layers*", "not judged: *no clock modes*"]
    )


def test_another_model_is_refused(pytester: pytest.Pytester, digits: Path) -> None:
    with stock_tcp(StockFirmware(KWS)) as board:
        result = run(pytester, board.url, "--tflite", digits.name)
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["board broke: apollo4p_evb: stock firmware: *"])


def test_where_proof_is_required_nothing_is_measured(
    pytester: pytest.Pytester, digits: Path
) -> None:
    with stock_tcp(StockFirmware(DIGITS)) as board:
        result = run(pytester, board.url, "--tflite", digits.name, "--evb-require-proof")
    result.assert_outcomes(errors=4)
    result.stdout.fnmatch_lines(["*which does not tell which model it runs*"])


def test_outputs_that_are_wrong_fail(pytester: pytest.Pytester, digits: Path) -> None:
    class Wrong(StockFirmware):
        def compute(self, command, data):  # type: ignore[no-untyped-def]
            reply = super().compute(command, data)
            spoilt = np.frombuffer(reply.data, np.int8) ^ 0x40
            return reply._replace(data=spoilt.tobytes())

    with stock_tcp(Wrong(DIGITS)) as board:
        result = run(pytester, board.url, "--tflite", digits.name, "-k", "outputs_agree")
    result.assert_outcomes(failed=1, deselected=3)
    result.stdout.fnmatch_lines(["wrong output: *"])
