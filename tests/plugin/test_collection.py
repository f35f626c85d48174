"""What a test is parametrised with, by markers, options and the ini file, and wrong uses of both.

Nothing runs here: pytest only collects.
"""

from __future__ import annotations

import shutil

import pytest

from tests.helpers.collecting import SIM, TEST_IT, collected, options, refused, write
from tests.helpers.support import DIGITS

DIGITS_ON_SIM = [f"test_it[digits_cnn-{SIM}]"]


@pytest.fixture(autouse=True)
def models(pytester: pytest.Pytester) -> None:
    """Two models beside the test file."""
    for name in ("digits_cnn", "other"):
        shutil.copy(DIGITS, f"{name}.tflite")


def test_a_test_of_a_session_runs_on_each_model_and_each_board(pytester: pytest.Pytester) -> None:
    given = options(SIM, "qemu:mps2-an386", models=("digits_cnn.tflite", "other.tflite"))

    assert sorted(collected(pytester, "def test_it(model_session): pass", *given)) == [
        "test_it[digits_cnn-qemu:mps2-an386]",
        f"test_it[digits_cnn-{SIM}]",
        "test_it[other-qemu:mps2-an386]",
        f"test_it[other-{SIM}]",
    ]


def test_the_tests_of_one_model_on_one_board_stay_together(pytester: pytest.Pytester) -> None:
    given = options(SIM, "qemu:mps2-an386", models=("digits_cnn.tflite", "other.tflite"))
    two = "def test_one(model_session): pass\ndef test_two(model_session): pass"

    cases = [test.partition("[")[2] for test in collected(pytester, two, *given)]

    assert cases[0::2] == cases[1::2]
    assert len(set(cases)) == 4


@pytest.mark.parametrize(
    ("fixture", "ids"),
    [
        ("tflite_model", ["test_it[digits_cnn]", "test_it[other]"]),
        ("reference", ["test_it[digits_cnn]", "test_it[other]"]),
        ("evb", [f"test_it[{SIM}]", "test_it[sim:apollo510_evb]"]),
        ("tmp_path", ["test_it"]),
    ],
)
def test_a_test_runs_only_on_what_its_fixtures_are_about(
    pytester: pytest.Pytester, fixture: str, ids: list[str]
) -> None:
    given = options(SIM, "sim:apollo510_evb", models=("digits_cnn.tflite", "other.tflite"))

    assert collected(pytester, f"def test_it({fixture}): pass", *given) == ids


def test_a_fixture_of_the_user_that_asks_for_a_session_is_enough(pytester: pytest.Pytester) -> None:
    test = (
        "@pytest.fixture\ndef outputs(model_session): return model_session.run()\n"
        "def test_it(outputs): pass"
    )

    assert collected(pytester, test, *options()) == DIGITS_ON_SIM


class TestModels:
    def test_the_marker_beats_the_option(self, pytester: pytest.Pytester) -> None:
        test = "@pytest.mark.tflite('digits_cnn.tflite')\ndef test_it(model_session): pass"

        assert collected(pytester, test, *options(models=("other.tflite",))) == DIGITS_ON_SIM

    def test_the_marker_nearest_to_the_test_wins(self, pytester: pytest.Pytester) -> None:
        test = (
            "pytestmark = pytest.mark.tflite('other.tflite')\n"
            "@pytest.mark.tflite('digits_cnn.tflite')\ndef test_it(tflite_model): pass\n"
            "def test_of_module(tflite_model): pass"
        )

        assert collected(pytester, test) == ["test_it[digits_cnn]", "test_of_module[other]"]

    @pytest.mark.parametrize("path", [".", "*.tflite"])
    def test_a_marker_may_name_many(self, pytester: pytest.Pytester, path: str) -> None:
        test = f"@pytest.mark.tflite({path!r})\ndef test_it(tflite_model): pass"

        assert collected(pytester, test) == ["test_it[digits_cnn]", "test_it[other]"]

    def test_a_path_of_a_marker_starts_at_the_test_else_at_the_root(
        self, pytester: pytest.Pytester
    ) -> None:
        pytester.makeini("[pytest]")
        folder = pytester.mkdir("deep")
        shutil.copy(DIGITS, folder / "mine.tflite")
        (folder / "test_deep.py").write_text(
            "import pytest\n"
            "@pytest.mark.tflite('mine.tflite')\ndef test_beside(tflite_model): pass\n"
            "@pytest.mark.tflite('other.tflite')\ndef test_root(tflite_model): pass\n"
        )

        result = pytester.runpytest_inprocess("--collect-only", "-q", "deep")

        result.stdout.fnmatch_lines(["*::test_beside[[]mine]", "*::test_root[[]other]"])

    def test_a_path_of_the_ini_file_starts_at_the_root(
        self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytester.makeini("[pytest]\nautodeploy_tflite = digits_cnn.tflite\n")
        write(pytester, "def test_it(tflite_model): pass")
        monkeypatch.chdir(pytester.mkdir("deep"))

        result = pytester.runpytest_inprocess("--collect-only", "-q", "../test_it.py")

        result.stdout.fnmatch_lines(["*::test_it[[]digits_cnn]"])

    def test_a_test_parametrised_by_hand_keeps_its_models(self, pytester: pytest.Pytester) -> None:
        test = (
            "@pytest.mark.parametrize('tflite_model', ['digits_cnn.tflite'], indirect=True)\n"
            "def test_it(model_session): pass"
        )
        (case,) = collected(pytester, test, *options(models=("other.tflite",)))

        assert "digits_cnn.tflite" in case
        assert "other" not in case

    def test_one_model_of_two_spellings_is_one(self, pytester: pytest.Pytester) -> None:
        given = options(models=("digits_cnn.tflite", "./digits_cnn.tflite", "digits_*.tflite"))

        assert collected(pytester, "def test_it(tflite_model): pass", *given) == [
            "test_it[digits_cnn]"
        ]

    def test_without_any_it_is_a_usage_error(self, pytester: pytest.Pytester) -> None:
        (error,) = refused(pytester, "def test_it(model_session): pass")

        assert error.startswith(f"{TEST_IT}: no model; mark it with @pytest.mark.tflite(")

    @pytest.mark.parametrize(
        ("marker", "reason"),
        [
            ("tflite()", "wrong use of the marker tflite; use tflite(path)"),
            ("tflite(7)", "wrong use of the marker tflite; use tflite(path)"),
            ("tflite('a', 'b')", "wrong use of the marker tflite; use tflite(path)"),
            ("tflite(path='digits_cnn.tflite')", "wrong use of the marker tflite; use tflite("),
            ("tflite('gone/*.tflite')", "no model matches "),
        ],
    )
    def test_a_marker_that_gives_none_is_a_usage_error(
        self, pytester: pytest.Pytester, marker: str, reason: str
    ) -> None:
        test = f"@pytest.mark.{marker}\ndef test_it(tflite_model): pass"

        assert refused(pytester, test)[0].startswith(f"{TEST_IT}: {reason}")


class TestBoards:
    def test_the_marker_beats_the_option(self, pytester: pytest.Pytester) -> None:
        test = f"@pytest.mark.evb({SIM!r}, 'qemu:mps3-an547')\ndef test_it(evb): pass"

        assert collected(pytester, test, *options("sim:apollo510_evb")) == [
            f"test_it[{SIM}]",
            "test_it[qemu:mps3-an547]",
        ]

    def test_the_ini_file_names_them_and_the_option_beats_it(
        self, pytester: pytest.Pytester
    ) -> None:
        pytester.makeini("[pytest]\nautodeploy_evb = sim:apollo510_evb\n")
        test = "def test_it(evb): pass"

        assert collected(pytester, test) == ["test_it[sim:apollo510_evb]"]
        assert collected(pytester, test, f"--evb={SIM}") == [f"test_it[{SIM}]"]

    def test_a_board_that_is_named_twice_is_one(self, pytester: pytest.Pytester) -> None:
        test = f"@pytest.mark.evb({SIM!r}, {SIM!r})\ndef test_it(evb): pass"

        assert collected(pytester, test) == [f"test_it[{SIM}]"]
        assert collected(pytester, "def test_it(evb): pass", *options(SIM, SIM)) == [
            f"test_it[{SIM}]"
        ]

    def test_a_test_parametrised_by_hand_keeps_its_boards(self, pytester: pytest.Pytester) -> None:
        test = (
            "@pytest.mark.parametrize('evb', ['sim:apollo510_evb'], indirect=True)\n"
            "def test_it(model_session): pass"
        )

        (case,) = collected(pytester, test, *options(SIM))

        assert "sim:apollo510_evb" in case
        assert SIM not in case

    @pytest.mark.parametrize(
        ("marker", "reason"),
        [
            ("evb()", "wrong use of the marker evb; use evb(*names)"),
            ("evb(name='sim:apollo4p_evb')", "wrong use of the marker evb; use evb(*names)"),
            ("evb(['sim:apollo4p_evb'])", "wrong use of the marker evb; use evb(*names)"),
            ("evb('sim:apolo4p_evb')", "unknown board 'sim:apolo4p_evb'"),
            ("evb('usb:apollo4p_evb')", "unknown kind of board 'usb:apollo4p_evb'"),
        ],
    )
    def test_a_marker_that_gives_none_is_a_usage_error(
        self, pytester: pytest.Pytester, marker: str, reason: str
    ) -> None:
        test = f"@pytest.mark.{marker}\ndef test_it(evb): pass"

        assert refused(pytester, test)[0].startswith(f"{TEST_IT}: {reason}")

    def test_a_simulated_board_is_refused_where_hardware_is_required(
        self, pytester: pytest.Pytester
    ) -> None:
        test = f"@pytest.mark.evb({SIM!r})\ndef test_it(evb): pass"

        errors = refused(pytester, test, "--evb=apollo4p_evb", "--evb-require-hardware")

        assert f"--evb-require-hardware: {SIM} is not a hardware board" in errors[0]


class TestAccelerators:
    TEST = "def test_it(npu_estimate): pass"

    def test_an_estimate_is_of_each_accelerator(self, pytester: pytest.Pytester) -> None:
        npus = ("--tflite-npu=ethos-u55-128", "--tflite-npu=ethos-u85-256")

        assert sorted(collected(pytester, self.TEST, *options(), *npus)) == [
            "test_it[digits_cnn-ethos-u55-128]",
            "test_it[digits_cnn-ethos-u85-256]",
        ]

    def test_the_markers_name_their_own(self, pytester: pytest.Pytester) -> None:
        test = (
            "@pytest.mark.npu_budget(accelerator='ethos-u55-128', ms=1)\n"
            "@pytest.mark.npu_budget(accelerator='ethos-u65-256', ms=1)\n" + self.TEST
        )
        found = collected(pytester, test, *options(), "--tflite-npu=ethos-u85-256")

        assert sorted(found) == [
            "test_it[digits_cnn-ethos-u55-128]",
            "test_it[digits_cnn-ethos-u65-256]",
        ]

    def test_without_any_it_is_a_usage_error(self, pytester: pytest.Pytester) -> None:
        (error,) = refused(pytester, self.TEST, *options())

        assert error.startswith(f"{TEST_IT}: no accelerator; give @pytest.mark.npu_budget")

    def test_one_that_does_not_exist_is_a_usage_error(self, pytester: pytest.Pytester) -> None:
        test = "@pytest.mark.npu_budget(accelerator='ethos-u56', ms=1)\n" + self.TEST

        assert any("ethos-u56" in error for error in refused(pytester, test, *options()))


class TestModelsThatCannotBeKnown:
    def test_a_fixture_of_ones_own_says_how_to_test_what_it_builds(
        self, pytester: pytest.Pytester
    ) -> None:
        pytester.makepyfile(
            test_own="import pytest\n"
            "@pytest.fixture\n"
            "def tflite_model(tmp_path): return tmp_path / 'built.tflite'\n"
            "def test_it(model_session): pass\n"
        )
        result = pytester.runpytest("test_own.py")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            [
                "ERROR: test_own.py::test_it: the fixture tflite_model of *.py:* replaces *",
                "*write the model to a file when the module is imported*@pytest.mark.tflite(path)",
            ]
        )

    def test_a_marker_names_both_places_where_it_looked_and_other_tests_run(
        self, pytester: pytest.Pytester
    ) -> None:
        folder = pytester.mkdir("unit")
        (folder / "test_it.py").write_text(
            "import pytest\n@pytest.mark.tflite('gone.tflite')\ndef test_it(model_session): pass\n"
            "def test_other(): pass\n"
        )
        result = pytester.runpytest("unit")
        result.assert_outcomes(errors=1, passed=1)
        result.stdout.fnmatch_lines(
            [
                "no such model file: gone.tflite",
                f"*searched in {folder} and {pytester.path}:*",
            ]
        )
