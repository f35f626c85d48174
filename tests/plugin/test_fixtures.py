"""The fixtures and what can be overridden."""

from __future__ import annotations

import pytest

HEAD = """
import numpy as np
import pytest
pytestmark = pytest.mark.tflite("digits_cnn.tflite")
"""


def run(pytester: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=HEAD + test)
    return pytester.runpytest("test_it.py", *arguments)


@pytest.mark.usefixtures("digits")
class TestSession:
    def test_run_gives_one_array_per_output(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
def test_it(model_session):
    result = model_session.run(inputs=3)
    assert result.inputs.count == 3
    assert result.outputs[0].shape == (3, 1, 10)
    assert result.outputs[0].dtype == np.int8
""",
        )
        result.assert_outcomes(passed=1)

    def test_the_session_gives_latency_profile_and_memory(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
def test_it(model_session, tflite_model):
    latency = model_session.latency(runs=3)
    assert len(latency.samples_us) == 3
    assert 0 < latency.median_us <= latency.p95_us <= latency.max_us
    profile = model_session.profile("first")
    assert [layer.tag for layer in profile.layers] == [o.name for o in tflite_model.operators]
    assert profile.total_macs == tflite_model.macs
    assert profile.total_us == pytest.approx(latency.median_us)
    memory = model_session.memory()
    assert 0 < memory.arena_used_bytes < memory.arena_given_bytes
    assert memory.source == "modelled"
""",
        )
        result.assert_outcomes(passed=1)

    def test_the_tuned_arena_runs_the_model(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
def test_it(model_session):
    tuned = model_session.tune_arena()
    assert tuned.arena_bytes >= model_session.memory().arena_used_bytes
    assert tuned.arena_bytes < model_session.memory().arena_given_bytes
    model_session.board.client.configure(tuned.arena_bytes)
    model_session.board.client.invoke(1)
""",
        )
        result.assert_outcomes(passed=1)

    def test_low_power_runs_at_its_own_clock(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            "def test_it(model_session):\n"
            "    assert model_session.latency().median_us > 40_000\n"
            "    assert model_session.identity.tick_hz == 96_000_000\n",
            *("--evb-clock", "LP"),
        )
        result.assert_outcomes(passed=1)

    def test_the_arena_can_be_given(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            "def test_it(model_session):\n"
            "    assert model_session.memory().arena_given_bytes == 16 * 1024\n",
            *("--evb-arena-kb", "16"),
        )
        result.assert_outcomes(passed=1)

    def test_the_reference_runs_the_same_inputs(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            """
def test_it(model_session, reference):
    result = model_session.run()
    assert set(reference.run(result.inputs)) == {"ref", "optimized", "xnnpack"}
""",
        )
        result.assert_outcomes(passed=1)

    def test_the_board_is_offered(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            'def test_it(evb, model_session):\n    assert evb.spec.name == "apollo4p_evb"\n'
            "    assert evb.client.identify().kind.name == 'SIMULATED'\n",
        )
        result.assert_outcomes(passed=1)

    def test_the_model_needs_no_board(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            "def test_it(tflite_model):\n    assert tflite_model.macs > 0\n",
            *("-p", "no:html"),
        )
        result.assert_outcomes(passed=1)


@pytest.mark.usefixtures("digits")
class TestOverrides:
    def test_overrides_hold_in_the_file_that_makes_them(self, pytester: pytest.Pytester) -> None:
        override = """
@pytest.fixture(scope="session")
def model_inputs(): return np.zeros((7, 8, 8, 1), np.float32)

@pytest.fixture(scope="session")
def model_session_options(): return {"latency_runs": 2, "arena_bytes": 20480}
"""
        seven = (
            "def test_it(model_session):\n    assert model_session.run().inputs.count == 7\n"
            "    assert len(model_session.latency().samples_us) == 2\n"
            "    assert model_session.memory().arena_given_bytes == 20480\n"
        )
        ten = (
            "def test_it(model_session):\n    assert model_session.run().inputs.count == 10\n"
            "    assert model_session.memory().arena_given_bytes > 20480\n"
        )
        pytester.makepyfile(test_1=HEAD + ten, test_2=HEAD + override + seven, test_3=HEAD + ten)
        pytester.runpytest().assert_outcomes(passed=3)

    def test_an_unknown_option_names_the_valid_ones(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            '@pytest.fixture(scope="session")\ndef model_session_options(): return {"arena": 1}\n'
            "def test_it(model_session): pass\n",
        )
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*model_session_options: arena unknown; valid are*"])

    def test_inputs_that_do_not_fit_are_one_error(self, pytester: pytest.Pytester) -> None:
        result = run(
            pytester,
            '@pytest.fixture(scope="session")\ndef model_inputs(): return np.zeros((2, 5))\n'
            "def test_it(model_session): pass\n",
        )
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*shape*"])


@pytest.mark.usefixtures("digits")
def test_a_test_with_a_power_meter_is_skipped_without_one(pytester: pytest.Pytester) -> None:
    test, off = "def test_it(model_session, power_meter): pass", "--autodeploy-power=off"
    result = run(pytester, test, off, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*no power meter; give --autodeploy-power METER"])
