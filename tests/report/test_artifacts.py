"""Artifacts in the reports: where they are, what they take by part, what was left out and why."""

from __future__ import annotations

from typing import Any

from pytest_autodeploy.deliver.footprint import Footprint, PartSize
from pytest_autodeploy.metrics.records.artifacts import (
    ArtifactsRecord,
    ExampleRecord,
    OmissionRecord,
)
from pytest_autodeploy.report.artifacts import (
    artifact_figures,
    footprint_columns,
    footprint_lines,
)
from pytest_autodeploy.run.artifacts import footprint_record

LIBRARY = Footprint("library", (PartSize("model", 54_000, 0), PartSize("arena", 0, 23_216)))
EXAMPLE = Footprint("example", (*LIBRARY.parts, PartSize("C library", 36_646, 2_533)))
REASON = "no TFLM tree\nName one with --evb-tflm-root"


def made(**artifacts: Any) -> ArtifactsRecord:
    """The record of artifacts."""
    return ArtifactsRecord(**artifacts)


def test_flash_and_ram_stand_beside_each_other_for_library_and_example() -> None:
    lines = footprint_lines(made(footprints=(footprint_record(LIBRARY), footprint_record(EXAMPLE))))

    assert lines == [
        "",
        "Bytes as linked  Library flash  Library RAM  Example flash  Example RAM",
        "model                   54,000            0         54,000            0",
        "arena                        0       23,216              0       23,216",
        "C library                                           36,646        2,533",
        "all                     54,000       23,216         90,646       25,749",
    ]


def test_a_library_alone_has_its_own_columns() -> None:
    columns = footprint_columns(made(footprints=(footprint_record(LIBRARY),)))

    assert [column.heading for column in columns] == [
        "Bytes as linked",
        "Library flash",
        "Library RAM",
    ]


def test_without_a_library_there_is_no_table() -> None:
    assert footprint_lines(made()) == []
    assert footprint_lines(None) == []


def test_the_files_are_where_the_user_looks_for_results() -> None:
    (figure,) = artifact_figures(made(files=("a", "b"), folder="kws@board"), "results")

    assert (figure.label, figure.value) == ("Artifacts", "2 files in results/kws@board")


def test_the_words_of_the_example_are_those_of_an_emulated_board() -> None:
    (figure,) = artifact_figures(
        made(example=ExampleRecord(1, "kws: output 0\nkws: outputs differ\n"))
    )

    assert figure.value == "kws: output 0; kws: outputs differ"
    assert figure.source == "emulated"


def test_one_reason_stands_once_with_all_that_it_is_the_reason_of() -> None:
    what = ("the library", "the validator binary")
    left_out = tuple(OmissionRecord(each, REASON) for each in what)

    (figure,) = artifact_figures(made(left_out=left_out))

    assert figure.value == "the library, the validator binary"
    assert figure.note == "no TFLM tree?Name one with --evb-tflm-root"


def test_a_result_without_artifacts_has_nothing_to_tell() -> None:
    assert artifact_figures(None) == []
    assert artifact_figures(made()) == []
