"""The records of all tests, merged into one result per model and board, and their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.base.naming import file_name
from pytest_autodeploy.metrics.comparison import merged
from pytest_autodeploy.profile.layer_csv import csv_text
from pytest_autodeploy.report.result_json import json_text

Record = Mapping[str, Any]
TEST_FACTS = ("nodeid", "outcome", "message", "failure_class")
Key = tuple[str, str, str, str]
"""Ids of model and board, SHA-256 of the model, as two suites may use one id, and clock."""


class ResultStore:
    """Collects the record of each test; the results do not depend on the order of arrival."""

    def __init__(self) -> None:
        self._records: dict[tuple[Key, str], Record] = {}

    def add(self, record: Record) -> None:
        """Add the record of a test; a later one of the same test, as of a rerun, replaces it."""
        model = record["model"]
        board = record["board"]
        clock = "LP" if board.get("clock") == "LP" else ""
        key = (model.get("id", ""), board.get("id", ""), model.get("sha256", ""), clock)
        self._records[key, record["nodeid"]] = record

    def records(self) -> list[Record]:
        """The records of all tests, by model, board and test id."""
        return [self._records[key] for key in sorted(self._records)]

    def results(self) -> list[dict[str, Any]]:
        """One merged result per model and board, sorted by their ids.

        Of each measurement, agreement and profile the last by test id counts, except that an
        agreement that failed is never hidden by one that passed.
        """
        by_key: dict[Key, list[Record]] = {}
        for key, nodeid in sorted(self._records):
            by_key.setdefault(key, []).append(self._records[key, nodeid])
        folders = _folders(by_key)
        return [_merge(records, folders[key]) for key, records in by_key.items()]


def write_result(
    result: Mapping[str, Any], output: Path, provenance: Mapping[str, Any]
) -> list[Path]:
    """Write CSV and JSON of a merged result below ``output`` and list them; raises ResultsError.

    ``provenance`` (versions, hashes) goes into the JSON, see ``result_json.json_text``.
    """
    written = []
    csv = result["npu_csv"] or (csv_text(result["profile"]) if result["profile"] else "")
    if csv:
        written.append(output / result["files"]["csv"])
        write_bytes(written[-1], csv.encode())
    plain = {key: value for key, value in result.items() if key != "npu_csv"}
    written.append(output / result["files"]["json"])
    write_bytes(written[-1], json_text(plain, provenance).encode())
    return written


def result_folder(model_id: str, board_id: str, clock: str = "") -> str:
    """The folder of a model on a board below the results folder; ``clock`` is LP or nothing."""
    place = f"{board_id or 'no-board'}{clock and f'-{clock}'}"
    return f"{file_name(model_id or 'no-model')}/{file_name(place)}"


def _folders(keys: Iterable[Key]) -> dict[Key, str]:
    folders: dict[Key, str] = {}
    taken: set[str] = set()
    for model, board, sha256, clock in keys:
        base = result_folder(model, board, clock)
        folder, number = base, 2
        while folder.lower() in taken:
            folder, number = f"{base}-{number}", number + 1
        taken.add(folder.lower())
        folders[model, board, sha256, clock] = folder
    return folders


def _merge(records: list[Record], folder: str) -> dict[str, Any]:
    model = _merged_facts(record["model"] for record in records)
    board = _merged_facts(record["board"] for record in records)
    profile = _last(record.get("profile") for record in records)
    files: dict[str, Any] = {"json": f"{folder}/result.json"}
    npu_csv = _last(record.get("npu_csv") for record in records)
    if profile or npu_csv:
        files["csv"] = f"{folder}/{csv_name(model)}"
    if npz := sorted({r["files"]["npz"] for r in records if _file(r, "npz")}):
        files["npz"] = npz
    if changed := sorted({r["files"]["changed"] for r in records if _file(r, "changed")}):
        files["changed"] = changed
    return {
        "model": model,
        "run": {"port": board.pop("port", None)},
        "board": board,
        "seed": _last(record.get("seed") for record in records),
        "tests": [{key: record[key] for key in TEST_FACTS if key in record} for record in records],
        "measurements": _measurements(records),
        "state": _last(record.get("state") for record in records),
        "agreement": _agreement(records),
        "accuracy": _last(record.get("accuracy") for record in records),
        "explanation": _last(record.get("explanation") for record in records),
        "profile": profile,
        "power": _power(records),
        "artifacts": _last(record.get("artifacts") for record in records),
        "comparison": merged([r["comparison"] for r in records if r.get("comparison")]),
        "npu": _last(record.get("npu") for record in records),
        "npu_csv": npu_csv,
        "verdicts": [
            {**verdict, "test": record["nodeid"]}
            for record in records
            for verdict in record.get("verdicts", ())
        ],
        "files": files,
    }


def _file(record: Record, key: str) -> str | None:
    name: str | None = record.get("files", {}).get(key)
    return name


def _power(records: list[Record]) -> list[dict[str, Any]]:
    """The latest of each clock mode, without its waveform, which is for the test's own report."""
    by_mode: dict[str, dict[str, Any]] = {}
    for record in records:
        for energy in record.get("power", ()):
            plain = {key: value for key, value in energy.items() if key != "waveform"}
            by_mode[energy["mode"]] = {**plain, "test": record["nodeid"]}
    return [by_mode[mode] for mode in sorted(by_mode)]


def csv_name(model: Mapping[str, Any]) -> str:
    """The file name of a model's CSV."""
    return f"{file_name(model.get('name') or 'model')}.csv"


def _merged_facts(facts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for some in facts:
        merged |= {key: value for key, value in some.items() if value is not None}
    return merged


def _last(values: Iterable[Any]) -> Any:
    return next((value for value in reversed(list(values)) if value is not None), None)


def _measurements(records: list[Record]) -> list[dict[str, Any]]:
    by_name: dict[str, dict[str, Any]] = {}
    for record in records:
        for measurement in record.get("measurements", ()):
            by_name[measurement["name"]] = {**measurement, "test": record["nodeid"]}
    return [by_name[name] for name in sorted(by_name)]


def _agreement(records: list[Record]) -> dict[str, Any] | None:
    agreements = [{**r["agreement"], "test": r["nodeid"]} for r in records if r.get("agreement")]
    failed = [agreement for agreement in agreements if not agreement["passed"]]
    shown = failed or agreements
    return shown[-1] if shown else None
