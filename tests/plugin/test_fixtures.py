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

    @pytest.mark.parametrize(
        ("fixture", "value", "says"),
        [
            ("model_session_options", "{'clock': 'hp'}", "clock is 'hp', not one of HP, LP"),
            ("evb_options", "{'sim_argument': []}", "sim_argument unknown; valid are sim_arg*"),
            ("power_meter_options", "{'io_voltage': '3'}", "io_voltage is '3', not one of 1.8*"),
            ("model_inputs", "0", "the number of inputs must be at least 1, not 0"),
            ("model_labels", "'labels.txt'", "labels.txt: labels are read from *"),
        ],
    )
    def test_a_value_that_cannot_be_used_is_one_message_that_names_the_fixture(
        self, pytester: pytest.Pytester, fixture: str, value: str, says: str
    ) -> None:
        pytester.makeconftest(
            f"import pytest\n@pytest.fixture(scope='session')\ndef {fixture}(): return {value}\n"
        )
        result = pytester.runpytest("--tflite", "digits_cnn.tflite", "-k", "latency")
        result.assert_outcomes(errors=1, deselected=4)
        result.stdout.fnmatch_lines(["___* ERROR at setup of test_latency* ___*"])
        result.stdout.fnmatch_lines([f"{fixture}: {says}"])
        assert "Traceback" not in result.stdout.str()
        assert "model_session = <" not in result.stdout.str()

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


@pytest.mark.usefixtures("digits")
def test_the_arena_of_a_simulated_board_is_in_the_memory_that_was_chosen(
    pytester: pytest.Pytester,
) -> None:
    psram_kb = 32_940_032 // 1024
    result = run(
        pytester,
        "def test_it(model_session):\n"
        f"    assert model_session.memory().arena_given_bytes // 1024 == {psram_kb}\n",
        *("--evb", "sim:apollo510_evb", "--evb-arena-memory", "PSRAM"),
    )
    result.assert_outcomes(passed=1)
