"""``autodeploy generate``: artifacts of a model, characterised here or on another board."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.cli import delivery
from pytest_autodeploy.cli.bench import Bench
from pytest_autodeploy.cli.generate import generate
from pytest_autodeploy.deliver.characterization import Characterization
from pytest_autodeploy.deliver.delivery import Delivery
from pytest_autodeploy.deliver.example import ExampleRun
from tests.helpers.cli_support import keys_of, only_path, run, run_json
from tests.helpers.support import DIGITS, KWS

SIM = ("--board", "sim:apollo4p_evb", "--runs", "2")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No compiler, TFLM tree or SDK: what can be made are sources."""
    only_path(monkeypatch, tmp_path / "bin")


@pytest.fixture(scope="module")
def characterised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that was characterised on the simulated board."""
    with pytest.MonkeyPatch.context() as patch:
        only_path(patch, tmp_path_factory.mktemp("bin"))
        out = tmp_path_factory.mktemp("characterised")
        result = run("generate", DIGITS, *SIM, "--out", out)
    assert result.exit_code == 0, result.output
    return out


def test_without_tools_sources_are_written_and_it_says_why_no_more(tmp_path: Path) -> None:
    result = run("generate", DIGITS, *SIM, "--out", tmp_path / "out")

    assert result.exit_code == 0, result.output
    first, *rest = (" ".join(line.split()) for line in result.stdout.splitlines())
    assert first.startswith("digits_cnn for apollo4p_evb: bit-exact with ")
    assert any(re.fullmatch(r"Arena 3[.\d]* KB modelled", line) for line in rest)
    assert "Characterised on sim:apollo4p_evb modelled" in rest
    assert any(line.startswith("Left out the library") for line in rest)
    assert (tmp_path / "out" / "digits_cnn" / "src" / "digits_cnn_model.cc").is_file()
    assert (tmp_path / "out" / "digits_cnn_mc.json").is_file()


def test_for_a_board_that_is_not_at_hand_it_says_what_to_do_instead(tmp_path: Path) -> None:
    result = run("generate", DIGITS, "--board", "apollo3p_evb", "--out", tmp_path / "out")

    assert result.exit_code != 0
    said = " ".join(result.output.split())
    assert "--from DIR takes what an earlier run has found out" in said
    assert "--board sim:apollo3p_evb or virtual:apollo3p_evb characterises on this PC" in said


def test_for_another_board_no_board_is_touched(characterised: Path, tmp_path: Path) -> None:
    code, document = run_json(
        *("generate", DIGITS, "--board", "apollo510_evb", "--from", characterised),
        *("--out", tmp_path / "out"),
    )

    assert code == 0, document
    assert document["board"] == "apollo510_evb"
    assert document["characterised_on"] == {"board": "sim:apollo4p_evb", "source": "modelled"}
    assert "digits_cnn/lib/digits_cnn_api.h" in document["files"]
    undocumented = {key for key in keys_of(document) if key not in str(generate.help)}
    assert undocumented == {"schema"}


@pytest.mark.parametrize(
    ("asked", "not_made", "board"),
    [
        ("library,power", ["the library", "the power binary"], "apollo4p_evb"),
        ("ambiqsuite", ["TFLM's headers"], "apollo4p_evb"),
        ("validator", ["the validator binary"], "apollo4p_evb"),
        ("power", ["power"], "qemu:mps2-an386"),
    ],
)
def test_what_was_asked_for_by_name_and_not_made_is_a_failure(
    characterised: Path, tmp_path: Path, asked: str, not_made: list[str], board: str
) -> None:
    arguments = ("generate", DIGITS, "--board", board, "--from", characterised)

    result = run(*arguments, "--artifacts", asked, "--out", tmp_path / "out")

    assert result.exit_code == 1
    first, *lines, hint = result.stderr.splitlines()
    assert f"asked for {asked.replace(',', ', ')}, but not made:" in first
    assert [line.strip().partition(":")[0] for line in lines] == not_made
    assert "`all`" in hint
    assert "Left out" in result.stdout


def test_one_of_two_that_is_not_made_is_told_alone(
    characterised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = delivery.deliver

    def deliver(bench: Bench, found: Characterization, out: Path) -> Delivery:
        delivery = real(bench, found, out)
        kept = tuple(each for each in delivery.left_out if each.artifact != "library")
        return replace(delivery, left_out=kept)

    monkeypatch.setattr(delivery, "deliver", deliver)

    result = run(
        *("generate", DIGITS, *SIM, "--from", characterised),
        *("--artifacts", "library,power", "--json", "--out", tmp_path / "out"),
    )

    assert result.exit_code == 1
    assert "the power binary: " in result.stderr
    assert "the library: " not in result.stderr


def test_the_characterisation_of_another_model_is_refused(
    characterised: Path, tmp_path: Path
) -> None:
    result = run("generate", KWS, *SIM, "--from", characterised, "--out", tmp_path / "out")

    assert result.exit_code == 1
    assert "there is no kws_ds_cnn_mc.json" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--artifacts", "lib"], "'lib' is not one of library, ambiqsuite"),
        (["--artifacts", ""], "'' is not one of library, ambiqsuite"),
        (["--out", "/dev/null/out"], "--out: cannot write to the folder /dev/null/out"),
        (["--from", "nowhere"], "no such folder: nowhere"),
        (["--board", "apollo5_evb"], "unknown board 'apollo5_evb'"),
    ],
)
def test_a_wrong_option_is_explained(tmp_path: Path, arguments: list[str], words: str) -> None:
    result = run("generate", DIGITS, *SIM, "--out", tmp_path / "out", *arguments)

    assert result.exit_code == 2, result.output
    assert words in result.stderr


def test_an_example_that_found_wrong_outputs_is_a_failure(
    characterised: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = delivery.deliver

    def deliver(bench: Bench, found: Characterization, out: Path) -> Delivery:
        delivery = real(bench, found, out)
        return replace(delivery, example=ExampleRun(status=1, output="output 0 differs"))

    monkeypatch.setattr(delivery, "deliver", deliver)

    result = run("generate", DIGITS, *SIM, "--from", characterised, "--out", tmp_path / "out")

    assert result.exit_code == 1
    assert re.search(r"^Example +output 0 differs +emulated$", result.stdout, re.MULTILINE)
