"""The explanation of a difference in the HTML report."""

from __future__ import annotations

from dataclasses import replace

from pytest_autodeploy.report.explanation import compared_figure, explanation_parts
from pytest_autodeploy.report.html import extra_html
from pytest_autodeploy.report.junit import properties
from tests.helpers.explanation_examples import explanation, layer
from tests.helpers.report_examples import record

WRONG = explanation(layer(0, 0, 0), layer(1, 63, 63), layer(2, 255, 0))


def test_a_bar_is_as_high_as_the_logarithm_of_its_distance() -> None:
    parts = explanation_parts(record(explanation=WRONG))
    assert parts is not None
    bars = parts["picture"]["bars"]
    assert [bar["apart"] for bar in bars] == [0, 114 * 6 / 8, 114]
    assert [bar["adds"] for bar in bars] == [0, 114 * 6 / 8, 0]
    assert [bar["wrong"] for bar in bars] == [False, True, False]
    assert bars[1]["title"] == "1 CONV_2D: 63 steps apart, adds 63 steps"
    assert parts["picture"]["top"] == "255 steps"


def test_a_nan_has_a_bar_and_no_number() -> None:
    nan = layer(0, None, None, not_a_number=True, unit="real", wrong=True)
    parts = explanation_parts(record(explanation=explanation(nan)))
    assert parts is not None
    assert parts["picture"]["bars"][0]["adds"] == 114
    assert parts["picture"]["top"] == "not a number"


def test_the_section_shows_what_the_failure_says() -> None:
    page = extra_html(record(explanation=WRONG))
    for text in (
        "Why: the board",
        "board and TFLM: &lt;12&gt; steps",
        "it starts in operator 1 CONV_2D",
        "output: tensor 2 t1, int8 [1, 4], scale 0.5, zero point 3",
        "inference 3, first elements: [0, 2] board 17, TFLM 5",
        "To do: check it",
        "Not done: reading the rest",
        "<svg class=ad-e",
    ):
        assert text in page


def test_a_record_without_an_explanation_has_no_section() -> None:
    assert "ad-e" not in extra_html(record())


def test_an_explanation_without_layers_has_no_picture() -> None:
    page = extra_html(record(explanation=explanation()))
    assert "Why: the board" in page
    assert "ad-e" not in page


def test_figures_of_operators_become_properties_on_request() -> None:
    asked = dict(properties(record(explanation=replace(WRONG, requested=True))))
    assert asked["autodeploy.layer_1_adds_steps"] == 63
    assert asked["autodeploy.layer_1_cosine"] == 0.75
    assert "autodeploy.layer_1_nse" not in asked
    unasked = dict(properties(record(explanation=WRONG)))
    assert not any(name.startswith("autodeploy.layer_") for name in unasked)
    assert unasked["autodeploy.divergence"] == "board"
    assert unasked["autodeploy.divergence_operator"] == "1 CONV_2D"


def test_a_run_that_agrees_says_how_far_its_operators_are_apart() -> None:
    agree = explanation(layer(0, 0, 0), layer(1, 2, 0), cause="agree", problems=("no time",))
    figure = compared_figure(record(explanation=agree))
    assert figure is not None
    assert (figure.label, figure.value) == ("Operators compared", "2")
    assert figure.note == "2 steps apart at most; no time"
    assert compared_figure(record(explanation=WRONG)) is None
