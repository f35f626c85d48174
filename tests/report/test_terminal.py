"""The terminal's summary."""

from __future__ import annotations

from dataclasses import replace

from pytest_autodeploy.metrics.record import TestRecord
from pytest_autodeploy.metrics.records.facts import NO_BOARD
from pytest_autodeploy.report.results import ResultStore
from pytest_autodeploy.report.terminal import summary_lines
from tests.helpers.report_examples import (
    AGREEMENT,
    BOARD,
    MODEL,
    measurement,
    profile,
    record,
    setup_failure,
    verdict,
)


def section(*records: TestRecord, **options: bool | int | str) -> tuple[str, list[str]]:
    store = ResultStore()
    for each in records:
        store.add(each)
    (result,) = store.results()
    return summary_lines(result, **options)  # type: ignore[arg-type]


def line(lines: list[str], label: str) -> str:
    return next(line for line in lines if line.startswith(label))


def test_the_title_says_what_ran_where() -> None:
    title, _ = section(record())
    assert title == "kws_ref_model on sim:apollo4p_evb (simulated)"


def test_the_lines_of_the_characterization_report() -> None:
    _, lines = section(record(), output="out", width=100)
    assert lines[:13] == [
        "Ran on                     cortex-m4f, HP 192.0 MHz, tflite-micro 0.dev20250101",
        "HP latency                 320.6 ms    modelled",
        "                           320.648 ms; warm, median of 10, first 322.010 ms, "
        "p95 320.7 ms, max 320.7 ms",
        "Profiled latency           320.6 ms    modelled  320.648 ms; sum of layers",
        "Total estimated MACs       2.66 M      estimated  2,656,768",
        "Total CPU cycles           61.6 M      modelled  61,562,930",
        "Total model layers         13          modelled",
        "MACs per second            8.29 M/s    modelled  8,285,621.000/s",
        "Cycles per MAC             23.2        modelled  23.172",
        "Tensor arena used          22.4 KB     modelled  22,928 B; of 128.0 KB given; "
        "TFLM on this PC",
        "Model size                 52.7 KB     exact  53,936 B; 1 KB = 1024 B",
        "Output agreement           within 1 step of ref  modelled",
        "Per-layer statistics file  out/kws_ref_model/sim_apollo4p_evb/kws_ref_model.csv",
    ]


def test_what_was_not_measured_is_left_out() -> None:
    arena = measurement("arena_used", 22928, "B")
    few = record(measurements=(arena,), agreement=None, profile=None, verdicts=())
    _, lines = section(few)
    assert [text.split("  ")[0] for text in lines] == ["Ran on", "Tensor arena used", "Result file"]


def test_unknown_macs_say_why_and_are_never_0() -> None:
    model = replace(MODEL, macs=None, known_macs=1_200_000)
    model = replace(model, unknown_operators=("CUSTOM_X", "CUSTOM_Y"))
    _, lines = section(record(model=model, measurements=(measurement("layers", 13),)))
    assert line(lines, "Total estimated MACs").endswith(
        "unknown (2 operators not modelled: CUSTOM_X, CUSTOM_Y)"
    )
    assert "  the others have 1.20 M" in "\n".join(lines)
    assert line(lines, "Cycles per MAC").endswith("unknown (needs the MACs)")


def test_low_power_is_the_minimum_performance() -> None:
    slow = replace(BOARD, clock="LP", clock_hz=96_000_000)
    _, lines = section(record(board=slow))
    assert line(lines, "LP latency")


def test_every_verdict_is_listed() -> None:
    verdicts = [verdict(True), verdict(False), verdict(None)]
    verdicts.append(replace(verdict(None, "no power meter"), measurement=None, status="NOT JUDGED"))
    _, lines = section(record(verdicts=tuple(verdicts)))
    table = lines[lines.index("") + 1 :]
    assert table == [
        "Limit                   Metric          Verdict        Value  Source    Set by",
        "test_kws.py::test_kws",
        "latency_budget(ms=400)  latency median  pass        320.6 ms  modelled  marker",
        "latency_budget(ms=400)  latency median  FAIL        320.6 ms  modelled  marker",
        "latency_budget(ms=400)  latency median  no limit    320.6 ms  modelled  marker",
        "latency_budget(ms=400)  latency budget  NOT JUDGED                      marker",
        "latency_budget(ms=400): no power meter",
    ]


def test_a_verdict_that_two_tests_share_is_listed_once_under_the_first() -> None:
    _, lines = section(record("a"), record("b"))
    assert sum(text.startswith("latency_budget") for text in lines) == 1
    assert [text for text in lines if text in ("a", "b")] == ["a"]


def test_each_limit_stands_under_its_test() -> None:
    other = replace(verdict(True), limit="latency_budget(ms=500)")
    _, lines = section(record("a"), record("b", verdicts=(other,)))
    assert lines[lines.index("a") + 1].startswith("latency_budget(ms=400)")
    assert lines[lines.index("b") + 1].startswith("latency_budget(ms=500)")


def test_a_limit_on_two_values_names_each() -> None:
    limit = "memory_limit(arena_kb=32, model_kb=100)"
    values = (measurement("arena_used", 22928, "B"), measurement("model_size", 53936, "B"))
    verdicts = (replace(verdict(True), limit=limit, measurement=value) for value in values)
    _, lines = section(record(verdicts=tuple(verdicts)))
    assert line(lines, f"{limit}  arena used")
    assert line(lines, f"{limit}  model size")


def test_accuracy_by_the_highest_scores_is_named_as_the_other() -> None:
    names = ("accuracy_top3", "accuracy_top3_drop", "accuracy_top3_pc")
    measured = tuple(measurement(name, 0.5, "1") for name in names)
    _, lines = section(record(measurements=measured))
    shown = [text.split("  ")[0] for text in lines if text.startswith("Accuracy")]
    assert shown == ["Accuracy, top 3", "Accuracy on the PC, top 3", "Accuracy drop, top 3"]


def test_outputs_that_differ_say_how_far() -> None:
    words = "18 steps from ref, allowed 1 step"
    _, lines = section(record(agreement=replace(AGREEMENT, passed=False, text=words)))
    assert words in line(lines, "Output agreement")


def test_verbose_adds_the_layers() -> None:
    _, lines = section(record(), verbose=True)
    assert lines[-14:-11] == [
        " #  Layer              us (modelled)   Share  MACs (estimated)  Cycles (modelled)",
        " 0  CONV_2D                   47,794  14.9 %           320,000          9,176,380",
        " 1  DEPTHWISE_CONV_2D         23,334   7.3 %            72,000          4,480,072",
    ]
    assert lines[-16:-14] == ["", "Layers (warm)"]
    assert lines[:-16] == section(record())[1]


def test_both_profiles_are_shown_with_the_inference_that_they_are_of() -> None:
    first = replace(profile(), run="first")
    _, lines = section(record(first_profile=first), verbose=True)
    heads = [text for text in lines if text.startswith("Layers (")]
    assert heads == ["Layers (first)", "Layers (warm)"]
    assert line(lines, "… of the first inference").endswith("kws_ref_model_first.csv")


def test_a_setup_failure_shows_its_error_and_no_empty_lines_of_figures() -> None:
    _, lines = section(setup_failure("BoardTimeout: no answer after 2 s\n  restart the board"))
    assert lines == [
        "nothing was measured",
        "ERROR test_kws.py::test_dead",
        "  BoardTimeout: no answer after 2 s",
    ]


def test_tests_that_were_skipped_say_why_when_none_failed() -> None:
    _, lines = section(setup_failure("sim:apollo4p_evb is broken", outcome="skipped"))
    assert lines[1:] == ["SKIPPED test_kws.py::test_dead", "  sim:apollo4p_evb is broken"]


def test_a_model_without_a_board_has_a_title() -> None:
    title, _ = section(setup_failure(board=NO_BOARD))
    assert title == "kws_ref_model, no board"


def test_names_cannot_steer_the_terminal() -> None:
    layer, *others = profile().layers
    layers = (replace(layer, tag="\x1b]0;x\x07"), *others)
    names = replace(MODEL, id="\x1b[2Jkws")
    evil = record(model=names, profile=replace(profile(), layers=layers))
    title, lines = section(evil, verbose=True)
    assert "\x1b" not in title + "".join(lines)
