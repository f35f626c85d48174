"""Estimates as measurements, CSV, sweep table and HTML."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from pytest_autodeploy.metrics.records.facts import accelerator_facts
from pytest_autodeploy.npu.errors import NpuEstimateFailed
from pytest_autodeploy.npu.evaluate import evaluate
from pytest_autodeploy.npu.layer_csv import COLUMNS, layer_csv
from pytest_autodeploy.npu.measurements import measurements_of
from pytest_autodeploy.npu.results import Estimate
from pytest_autodeploy.report.npu_html import estimate_html, sweep_html
from pytest_autodeploy.report.npu_sweep import FailedEstimate, sweep_lines, sweep_rows, sweep_tables
from tests.helpers.npu_examples import (
    FIRST,
    MIXED,
    SYSTEM,
    cpu_estimate,
    mixed_estimate,
    mixed_model,
    model,
)
from tests.helpers.npu_examples import whole_estimate as whole
from tests.helpers.vela_csv import LayerSpec, vela_output

EVIL = "<img src=x onerror=alert(1)>'\"<b>"
CRASH = NpuEstimateFailed("Vela died of SIGSEGV", kind="crashed", hint="it may be damaged")


def on(accelerator: str, cycles: float, *, of: str = "whole") -> Estimate:
    """An estimate on an accelerator that takes so many cycles."""
    system = replace(SYSTEM, accelerator=accelerator)
    layers = (
        [replace(FIRST, cycles=cycles), *MIXED[1:]]
        if of == "mixed"
        else [
            replace(FIRST, cycles=cycles),
            LayerSpec("second", 4),
            LayerSpec("fallback", 1),
            LayerSpec("real", 5),
        ]
    )
    return evaluate(model(mixed_model(), "kws"), system, vela_output(layers, 6), "5.2.0")


class Texts(HTMLParser):
    """The tags and the texts of a fragment."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(fragment)

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data.strip())


def test_measurements_are_estimated_and_in_base_units() -> None:
    by_name = {each.name: each for each in measurements_of(whole())}
    assert {each.source for each in by_name.values()} == {"estimated"}
    assert (by_name["npu_total_cycles"].value, by_name["npu_total_cycles"].unit) == (400, "1")
    assert by_name["npu_time"].value == pytest.approx(0.8)
    assert by_name["npu_time"].unit == "us"
    assert (by_name["npu_sram"].value, by_name["npu_sram"].unit) == (64, "B")
    assert by_name["npu_inferences_per_second"].better == "higher"
    assert by_name["npu_coverage"].value == 1


def test_what_is_unavailable_is_no_measurement() -> None:
    names = {each.name for each in measurements_of(mixed_estimate())}
    assert not {"npu_dram", "npu_inferences_per_second", "npu_coverage_macs"} & names
    assert [each.name for each in measurements_of(cpu_estimate())] == ["npu_coverage"]


def test_measurements_of_a_part_say_so() -> None:
    notes = {each.note for each in measurements_of(mixed_estimate())}
    assert notes == {"NPU part only, 2 of 4 operators"}


def test_the_accelerator_stands_where_a_record_has_its_board() -> None:
    facts = accelerator_facts(whole())
    assert facts.id == "ethos-u55-128"
    assert facts.source == "estimated"
    assert (facts.clock_hz, facts.engine_version) == (500e6, "5.2.0")
    assert accelerator_facts(cpu_estimate()).clock_hz is None


def test_the_layer_csv_has_the_operators_of_the_model() -> None:
    header, first, fused, fallback, *_ = csv.reader(io.StringIO(layer_csv(mixed_estimate())))
    assert tuple(header) == COLUMNS
    assert first[:6] == ["0", "0", "FULLY_CONNECTED", "Conv2D", "NPU", "300"]
    assert first[-2:] == ["first", "estimated"]
    assert fused[COLUMNS.index("MAC utilisation %")] == ""
    assert fallback[1:6] == ["1", "MyOperator", "Passthrough", "CPU", ""]


def test_no_name_in_the_layer_csv_can_be_run_as_a_formula() -> None:
    layers = [replace(FIRST, name='=HYPERLINK("x"),y')]
    estimate = evaluate(model(mixed_model()), SYSTEM, vela_output(layers, 6), "5.2.0")
    assert next(iter(csv.DictReader(io.StringIO(layer_csv(estimate)))))["Tensor"] == (
        '\'=HYPERLINK("x"),y'
    )


def test_the_fastest_accelerator_comes_first_and_others_say_how_far_they_are() -> None:
    slow, fast = on("ethos-u55-32", 450), on("ethos-u55-256", 300)
    rows = sweep_rows([slow, fast])
    assert [(row.accelerator, row.delta) for row in rows] == [
        ("ethos-u55-256", "best"),
        ("ethos-u55-32", "+50.0 %"),
    ]


def test_who_runs_less_of_the_model_comes_later_and_is_not_compared() -> None:
    part, all_of_it = on("ethos-u55-32", 1, of="mixed"), on("ethos-u55-256", 300)
    rows = sweep_rows([part, all_of_it])
    assert [(row.accelerator, row.delta) for row in rows] == [
        ("ethos-u55-256", "best"),
        ("ethos-u55-32", "-"),
    ]
    assert rows[1].remark == "NPU part only, 2 of 4 operators"


def test_an_accelerator_without_an_estimate_comes_last_with_its_reason() -> None:
    failed = FailedEstimate("whole", "ethos-u85-256", CRASH.what)
    rows = sweep_rows([failed, cpu_estimate(), whole()])
    assert [row.remark for row in rows] == [
        "",
        "nothing runs on the NPU, 0 of 1 operators",
        "Vela died of SIGSEGV",
    ]
    assert {row.cycles for row in rows[1:]} == {"-"}
    assert sweep_rows([failed])[0].delta == "-"


def test_a_sweep_is_one_table_per_model() -> None:
    plain = [whole(name=name) for name in ("a", "b", "a")]
    assert [(model, len(rows)) for model, rows in sweep_tables(plain).items()] == [
        ("a", 2),
        ("b", 1),
    ]


def test_the_table_of_the_terminal_has_a_line_per_accelerator() -> None:
    lines = sweep_lines(sweep_rows([whole()]), width=160)
    assert lines[0].split("  ")[0] == "Accelerator"
    assert "Cycles (estimated)" in lines[0]
    assert "Remark" not in lines[0]
    assert lines[1].startswith("ethos-u55-128  2 of 2 operators")
    assert len(lines) == 2


def test_what_80_columns_have_no_room_for_is_below_each_accelerator() -> None:
    failed = FailedEstimate("whole", "ethos-u65-256", CRASH.what)
    wide = sweep_lines(sweep_rows([whole(), failed]), width=400)
    lines = sweep_lines(sweep_rows([whole(), failed]), width=80)
    assert len(wide) == 3
    assert max(map(len, lines)) <= 80
    said = set(" ".join(lines).replace(",", "").split())
    assert set(" ".join(wide).replace(",", "").split()) <= said | {"-", "DRAM"}
    assert [line.split()[0] for line in lines if line[0] != " "] == [
        "Accelerator", "ethos-u55-128", "ethos-u65-256",
    ]  # fmt: skip


def test_the_html_of_a_sweep_escapes_and_is_empty_without_estimates() -> None:
    fragment = sweep_html([whole(name=EVIL), FailedEstimate("b", "x", CRASH.what)])
    assert "img" not in Texts(fragment).tags
    assert f"{EVIL} on Ethos-U" in Texts(fragment).texts
    assert '"' not in fragment.replace("&#34;", "")
    assert sweep_html([]) == ""


def test_the_html_of_an_estimate_shows_figures_reasons_and_the_scope_at_each() -> None:
    estimate = mixed_estimate()
    texts = Texts(estimate_html(estimate, csv=layer_csv(estimate))).texts
    assert "mixed on ethos-u55-128" in texts
    assert texts.count("NPU part only, 2 of 4 operators") > 5
    assert "Unsupported opType" in texts
    assert "Embedded has no DRAM" in texts
    assert "Vela removed or merged 2 more" in texts
    assert "layers.csv" in texts


def test_the_html_of_a_model_on_the_cpu_has_no_zeros() -> None:
    texts = Texts(estimate_html(cpu_estimate())).texts
    assert "nothing runs on the NPU" in texts
    assert texts.count("unavailable") == 13
    assert not {"0 B", "0.0 ns", "nan", "NaN"} & set(texts)


def test_names_from_a_model_are_escaped_in_the_html() -> None:
    layers = [replace(FIRST, name="x"), *MIXED[1:]]
    reasons = {("CUSTOM", "fallback"): EVIL}
    output = vela_output(layers, 6, reasons=reasons)
    estimate = evaluate(model(mixed_model(EVIL), EVIL), SYSTEM, output, "5.2.0")
    parsed = Texts(estimate_html(estimate, csv=layer_csv(estimate)))
    assert not {"img", "b"} & set(parsed.tags[4:])
    assert EVIL in parsed.texts
