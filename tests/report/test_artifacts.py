"""Artifacts in the reports: where they are, what they take by part, what was left out and why."""

from __future__ import annotations

from typing import Any

from pytest_autodeploy.deliver.footprint import Footprint, PartSize
from pytest_autodeploy.report.artifacts import (
    artifact_figures,
    footprint_columns,
    footprint_lines,
)

LIBRARY = Footprint("library", (PartSize("model", 54_000, 0), PartSize("arena", 0, 23_216)))
EXAMPLE = Footprint("example", (*LIBRARY.parts, PartSize("C library", 36_646, 2_533)))
REASON = "no TFLM tree\nName one with --evb-tflm-root"


def result(**artifacts: Any) -> dict[str, Any]:
    """A result with artifacts."""
    empty: dict[str, Any] = {"files": [], "footprints": [], "left_out": []}
    return {"artifacts": empty | artifacts}


def test_flash_and_ram_stand_beside_each_other_for_library_and_example() -> None:
    lines = footprint_lines(result(footprints=[LIBRARY.as_dict(), EXAMPLE.as_dict()]))

    assert lines == [
        "",
        "Bytes as linked  Library flash  Library RAM  Example flash  Example RAM",
        "model                   54,000            0         54,000            0",
        "arena                        0       23,216              0       23,216",
        "C library                                           36,646        2,533",
        "all                     54,000       23,216         90,646       25,749",
    ]


def test_a_library_alone_has_its_own_columns() -> None:
    columns = footprint_columns(result(footprints=[LIBRARY.as_dict()]))

    assert [column.heading for column in columns] == [
        "Bytes as linked",
        "Library flash",
        "Library RAM",
    ]


def test_without_a_library_there_is_no_table() -> None:
    assert footprint_lines(result()) == []
    assert footprint_lines({"artifacts": None}) == []


def test_the_files_are_where_the_user_looks_for_results() -> None:
    (figure,) = artifact_figures(result(files=["a", "b"], folder="kws@board"), "results")

    assert (figure.label, figure.value) == ("Artifacts", "2 files in results/kws@board")


def test_the_words_of_the_example_are_those_of_an_emulated_board() -> None:
    (figure,) = artifact_figures(
        result(example={"status": 1, "output": "kws: output 0\nkws: outputs differ\n"})
    )

    assert figure.value == "kws: output 0; kws: outputs differ"
    assert figure.source == "emulated"


def test_one_reason_stands_once_with_all_that_it_is_the_reason_of() -> None:
    left_out = [{"what": what, "why": REASON} for what in ("the library", "the validator binary")]

    (figure,) = artifact_figures(result(left_out=left_out))

    assert figure.value == "the library, the validator binary"
    assert figure.note == "no TFLM tree?Name one with --evb-tflm-root"


def test_a_result_without_artifacts_has_nothing_to_tell() -> None:
    assert artifact_figures({"artifacts": None}) == []
    assert artifact_figures({}) == []
