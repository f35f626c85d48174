"""Vela's per-layer CSVs: both families of headers and every rule of reading them."""

from __future__ import annotations

import pytest

from pytest_autodeploy.npu.per_layer import parse_layers
from pytest_autodeploy.npu.tables import TableError, numbered, read_table
from tests.helpers.vela_csv import LEGACY_HEADER, REGOR_HEADER, LayerSpec, legacy_csv, regor_csv

CONV = LayerSpec("conv", cycles=300, npu=280, sram=40, flash=20, macs=900, staging=64)
POOL = LayerSpec("pool", cycles=100, npu=90, sram=10, staging=32, operator="AvgPool")
SOFTMAX = LayerSpec("probabilities", target="CPU", operator="Softmax")


def test_a_file_of_vela_5_gives_all_columns() -> None:
    table = parse_layers(regor_csv([CONV, POOL]))
    layer = table.layers[0]
    assert table.core == "regor"
    assert (layer.index, layer.operator, layer.nng_operator) == (0, "Conv2D", "Conv2D")
    assert (layer.target, layer.name, layer.staging_bytes) == ("NPU", "conv", 64)
    assert (layer.cycles, layer.npu_cycles, layer.sram_cycles) == (300, 280, 40)
    assert (layer.dram_cycles, layer.on_chip_flash_cycles, layer.off_chip_flash_cycles) == (
        0,
        0,
        20,
    )
    assert (layer.peak_percent, layer.cycles_percent, layer.macs_percent) == (100, 75, 100)
    assert (layer.macs, layer.utilization_percent) == (900, 12.5)


def test_an_older_file_gives_the_same_and_everything_in_it_is_on_the_npu() -> None:
    older, newer = parse_layers(legacy_csv([CONV, POOL])), parse_layers(regor_csv([CONV, POOL]))
    assert older.core == "legacy"
    assert older.layers == newer.layers


def test_the_second_of_two_equal_titles_is_numbered_1() -> None:
    assert numbered(["A", "X", "X", "B", "X"]) == ("A", "X", "X (1)", "B", "X (2)")


def test_the_second_network_share_of_an_older_file_is_that_of_macs() -> None:
    layers = parse_layers(legacy_csv([CONV, POOL])).layers
    assert [layer.cycles_percent for layer in layers] == [75, 25]
    assert [layer.macs_percent for layer in layers] == [100, 0]


def test_repeated_headers_are_no_layers() -> None:
    layers = parse_layers(legacy_csv([CONV], [POOL], [CONV])).layers
    assert [layer.name for layer in layers] == ["conv", "pool", "conv"]
    assert [layer.index for layer in layers] == [0, 1, 2]


def test_an_empty_file_has_no_layers() -> None:
    table = parse_layers("")
    assert (table.core, table.layers) == ("unknown", ())


@pytest.mark.parametrize("text", ["\n\n", "\ufeff"])
def test_a_file_of_nothing_visible_has_no_layers(text: str) -> None:
    assert parse_layers(text).layers == ()


@pytest.mark.parametrize("header", [REGOR_HEADER, LEGACY_HEADER])
def test_a_header_alone_has_no_layers(header: str) -> None:
    assert parse_layers(f"{header}\n").layers == ()


def test_commas_in_names_are_kept() -> None:
    layers = parse_layers(regor_csv([LayerSpec("a,b,,c", cycles=1)])).layers
    assert layers[0].name == "a,b,,c"


def test_commas_in_names_of_older_files_are_kept_with_and_without_quotes() -> None:
    quoted = legacy_csv([LayerSpec("a,b", cycles=1)])
    assert '"a,b"' in quoted
    assert parse_layers(quoted).layers[0].name == "a,b"
    assert parse_layers(quoted.replace('"', "")).layers[0].name == "a,b"


@pytest.mark.parametrize("name", ['"q",x', 'q"', '"', "", " a ", "a\u2028b", "<unnamed>"])
def test_vela_5_quotes_nothing_so_names_are_taken_as_they_are(name: str) -> None:
    assert parse_layers(regor_csv([LayerSpec(name, cycles=1)])).layers[0].name == name


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter() -> None:
    text = "\ufeff" + regor_csv([CONV, POOL]).replace("\n", "\r\n")
    assert parse_layers(text) == parse_layers(regor_csv([CONV, POOL]))


def test_blank_lines_do_not_matter() -> None:
    text = "\n" + regor_csv([CONV, POOL]).replace("\n", "\n\n") + "  \n"
    assert parse_layers(text).layers == parse_layers(regor_csv([CONV, POOL])).layers


@pytest.mark.parametrize(
    ("text", "value"), [("157.0", 157), ("157.25", 157.25), ("1.5e3", 1500), ("-3", -3)]
)
def test_counts_may_be_written_as_floats(text: str, value: float) -> None:
    layer = parse_layers(regor_csv([CONV]).replace(",300,", f",{text},")).layers[0]
    assert layer.cycles == value
    assert isinstance(layer.cycles, type(value))


@pytest.mark.parametrize("text", ["NaN", "nan", "inf", "-inf", ""])
def test_what_is_no_finite_number_is_unavailable(text: str) -> None:
    assert parse_layers(regor_csv([CONV]).replace(",900,", f",{text},")).layers[0].macs is None


def test_a_cell_that_is_no_number_is_named_with_its_line() -> None:
    text = regor_csv([POOL, CONV]).replace(",300,", ",many,")
    with pytest.raises(TableError, match=r"^line 3: Op Cycles is 'many', not a number$"):
        parse_layers(text)


def test_a_thousands_separator_is_no_number() -> None:
    text = legacy_csv([CONV]).replace("300.0", '"1,300"').replace(",300,", ',"1,300",')
    with pytest.raises(TableError, match="Op Cycles is '1,300'"):
        parse_layers(text)


def test_a_short_row_is_named_by_its_line() -> None:
    with pytest.raises(TableError, match=r"^line 4 has 3 of 16 columns$"):
        parse_layers(regor_csv([CONV, POOL]) + "Conv2D,Conv2D,NPU\n")


def test_a_name_with_a_line_end_is_a_short_row() -> None:
    with pytest.raises(TableError, match="line 3 has 1 of 16 columns"):
        parse_layers(regor_csv([LayerSpec("two\nlines", cycles=1)]))


@pytest.mark.parametrize("title", ["Original Operator", "Op Cycles", "Util% (MAC)", "Name"])
def test_a_missing_column_is_named_with_the_header_found(title: str) -> None:
    header = REGOR_HEADER.replace(title, "Other")
    with pytest.raises(TableError) as error:
        parse_layers(regor_csv([CONV]).replace(REGOR_HEADER, header))
    assert str(error.value) == f"there is no column {title!r}; the header found is: {header}"


def test_a_missing_column_of_an_older_file_is_named_too() -> None:
    text = legacy_csv([CONV]).replace("Network%,Util%", "Net,Util%")
    with pytest.raises(TableError, match=r"no column 'Network% \(1\)'"):
        parse_layers(text)


def test_another_target_than_npu_and_cpu_is_refused() -> None:
    with pytest.raises(TableError, match="line 2: Target is 'DSP'"):
        parse_layers(regor_csv([LayerSpec(target="DSP")]))


def test_what_is_on_the_cpu_has_no_figures_instead_of_zeros() -> None:
    layer = parse_layers(regor_csv([CONV, SOFTMAX])).layers[1]
    assert layer.target == "CPU"
    assert {layer.cycles, layer.npu_cycles, layer.macs, layer.utilization_percent} == {None}


def test_what_is_fused_has_no_utilisation_instead_of_100_per_cent() -> None:
    layer = parse_layers(regor_csv([CONV, LayerSpec("fused")])).layers[1]
    assert (layer.cycles, layer.utilization_percent) == (0, None)


def test_a_broken_quote_is_named_by_its_line() -> None:
    text = "TFLite_operator,B\n" + '"' + "a" * 140_000
    with pytest.raises(TableError, match=r"^line 2"):
        read_table(text, quoted=True)
