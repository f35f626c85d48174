"""``--autodeploy-check-wiring``: the lines to the meter, reached as the project's tests do."""

from __future__ import annotations

from pathlib import Path

import pytest

WORKS = [
    "sim:apollo4p_evb: Out0 to GPIO 24: works",
    "sim:apollo4p_evb: In0 from GPIO 22: works",
    "sim:apollo4p_evb: In1 from GPIO 23: works",
]
IN0_IS_CUT = [WORKS[0], "sim:apollo4p_evb: In0 from GPIO 22: never moved", WORKS[2]]
CUT_IN0 = "{'sim_arguments': ['--power-fault', 'cut-in0']}"


def override(fixture: str, value: str) -> str:
    """A conftest whose fixture needs one of pytest's, and leaves a file when it ends."""
    return (
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def {fixture}(tmp_path_factory):\n    yield {value}\n    open('ended', 'x').close()\n"
    )


def check(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A check of the wiring."""
    return pytester.runpytest("--autodeploy-check-wiring", *arguments)


def lines_of(result: pytest.RunResult) -> list[str]:
    """What a check has printed."""
    return [line for line in result.outlines if line]


def test_wiring_is_checked_instead_of_tests(pytester: pytest.Pytester, digits: Path) -> None:
    pytester.makepyfile("def test_it(): raise SystemExit")
    result = pytester.runpytest("--tflite", digits.name, "--autodeploy-check-wiring")
    assert result.ret == 0
    assert lines_of(result) == WORKS
    result.stdout.no_fnmatch_line("*test session starts*")
    assert not Path("autodeploy-results").exists()


def test_what_is_odd_about_the_pins_of_a_board_is_told(
    pytester: pytest.Pytester, digits: Path
) -> None:
    result = check(pytester, "--tflite", digits.name, "--evb=sim:apollo4l_blue_evb")
    assert result.ret == 0
    assert lines_of(result)[0] == "sim:apollo4l_blue_evb: Out0 to GPIO 24: works"
    (note,) = lines_of(result)[3:]
    assert note.startswith("sim:apollo4l_blue_evb: note: pin 24 is the SWO pin of this board")


def test_a_board_without_a_meter_cannot_be_checked(pytester: pytest.Pytester) -> None:
    result = check(pytester, "--autodeploy-power", "off")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: sim:apollo4p_evb: no power meter; give *"])


def test_options_of_the_conftest_hold(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(override("evb_options", CUT_IN0))
    result = check(pytester)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert lines_of(result) == IN0_IS_CUT
    assert Path("ended").exists()


@pytest.mark.parametrize("arguments", [(), ("-v",), ("-n", "2"), ("-p", "no:xdist"), ("-s",)])
def test_a_check_says_the_same_whatever_the_output_of_runs_is(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    pytester.makeconftest(override("evb_options", CUT_IN0))
    result = check(pytester, *arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert lines_of(result) == IN0_IS_CUT


class TestFolders:
    """A conftest holds in its folder: the tests in there have options of their own."""

    @pytest.fixture(autouse=True)
    def folder(self, pytester: pytest.Pytester) -> Path:
        folder = pytester.mkdir("tests")
        (folder / "conftest.py").write_text(override("evb_options", CUT_IN0))
        return folder

    @pytest.mark.parametrize("arguments", [(), ("tests",)])
    def test_the_options_of_tests_in_a_folder_hold(
        self, pytester: pytest.Pytester, arguments: tuple[str, ...]
    ) -> None:
        result = check(pytester, *arguments)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert lines_of(result) == ["with the options of tests:", *IN0_IS_CUT]

    def test_built_in_tests_have_those_of_the_root(
        self, pytester: pytest.Pytester, digits: Path
    ) -> None:
        result = check(pytester, "--tflite", digits.name)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert lines_of(result) == [*WORKS, "with the options of tests:", *IN0_IS_CUT]

    def test_a_folder_that_is_not_named_is_not_checked(self, pytester: pytest.Pytester) -> None:
        pytester.mkdir("others")
        result = check(pytester, "others")
        assert result.ret == 0
        assert lines_of(result) == ["with the options of others:", *WORKS]

    def test_a_test_file_may_have_options_of_its_own(
        self, pytester: pytest.Pytester, folder: Path
    ) -> None:
        fault = CUT_IN0.replace("cut-in0", "swapped-lines")
        (folder / "test_own.py").write_text(override("evb_options", fault))
        result = check(pytester, "tests/test_own.py")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert lines_of(result)[0] == "with the options of tests/test_own.py:"
        assert any("swapped with In1" in line for line in lines_of(result))


class TestMistakes:
    @pytest.mark.parametrize(
        ("fixture", "value", "says"),
        [
            ("evb_options", "{'sim': []}", "evb_options: sim unknown; valid are sim_arguments"),
            ("power_meter_options", "{'io_voltage': 9}", "power_meter_options: io_voltage is 9,*"),
        ],
    )
    def test_options_that_cannot_be_used_are_no_success(
        self, pytester: pytest.Pytester, fixture: str, value: str, says: str
    ) -> None:
        pytester.makeconftest(override(fixture, value))
        result = check(pytester)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines([f"sim:apollo4p_evb: cannot check: {says}"])

    def test_a_fixture_that_fails_is_told(self, pytester: pytest.Pytester) -> None:
        pytester.makeconftest(override("evb_options", "1 / 0"))
        result = check(pytester)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            ["ERROR: evb_options or power_meter_options failed: ZeroDivisionError: *"]
        )


def test_a_meter_gets_the_voltage_of_the_conftest(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = pytest.importorskip("joulescope.v1.driver", reason="needs the extra 'joulescope'")
    from tests.helpers.fake_joulescope import FakeDriver

    fake = FakeDriver()
    fake.paths.append("u/js110/001234")
    monkeypatch.setattr(package, "Driver", lambda: fake)
    monkeypatch.setattr(package.DriverWrapper, "__singleton__", None)
    monkeypatch.setattr(package.atexit, "register", lambda _function: None)
    pytester.makeconftest(override("power_meter_options", "{'io_voltage': 3.0}"))
    result = check(pytester, "--evb", "apollo510_evb", "--autodeploy-power", "joulescope")
    fake.finalize()
    assert fake.values("extio/voltage") == [3000]
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["apollo510_evb: cannot check: the firmware for a check comes *"])
