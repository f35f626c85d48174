"""Vela's summary CSV."""

from __future__ import annotations

import pytest

from pytest_autodeploy.npu.summary import parse_summary
from pytest_autodeploy.npu.tables import TableError
from tests.helpers.vela_csv import LayerSpec, summary_csv

LAYERS = [LayerSpec(cycles=300, npu=280, sram=40, flash=20, macs=900, staging=5968)]


def test_totals_are_read() -> None:
    summary = parse_summary(summary_csv(LAYERS))
    assert summary.cycles["total"] == 300
    assert summary.cycles["npu"] == 280
    assert summary.cycles["off_chip_flash"] == 20
    assert (summary.clock_hz, summary.batch, summary.macs) == (500e6, 1, 900)


def test_memories_are_kib_in_the_file_and_bytes_in_the_result() -> None:
    text = summary_csv(LAYERS)
    assert ",5.828125," in text
    assert parse_summary(text).used_bytes["sram"] == 5968


def test_what_is_nan_is_none() -> None:
    assert parse_summary(summary_csv(LAYERS, cycles_total="nan")).cycles["total"] is None


def test_all_cells_are_kept_as_they_were_written() -> None:
    assert parse_summary(summary_csv(LAYERS)).cells["nn_tops"] == "nan"


def test_a_missing_column_is_named() -> None:
    with pytest.raises(TableError, match="no column 'cycles_total'"):
        parse_summary(summary_csv(LAYERS).replace("cycles_total", "cycles"))


def test_no_totals_are_refused() -> None:
    header = summary_csv(LAYERS).partition("\n")[0]
    with pytest.raises(TableError, match="0 rows of totals"):
        parse_summary(header)
    with pytest.raises(TableError, match="no column"):
        parse_summary("")
