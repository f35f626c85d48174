"""What is done around each test with a model: before set-up, after its body, on its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_autodeploy.collection import Case, case_of, limits_of
from pytest_autodeploy.comparing import gate_of, relative_name
from pytest_autodeploy.config import SettingError
from pytest_autodeploy.errors import (
    AutodeployError,
    BoardDied,
    BoardTimeout,
    LinkError,
    MissingExtra,
    ModelError,
    ResultsError,
)
from pytest_autodeploy.failures import class_of_error, classified
from pytest_autodeploy.power.choose import NO_METER, chosen_for
from pytest_autodeploy.power.errors import PowerError
from pytest_autodeploy.preflight import check_output
from pytest_autodeploy.reference.tolerance import Tolerance
from pytest_autodeploy.state import FAILURE, FILES, JUDGEMENT, runtime_of, settings_of
from pytest_autodeploy.suite.collector import in_suite

if TYPE_CHECKING:
    from pytest_autodeploy.judge import Judgement
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session import ModelSession

TRANSIENT = (BoardDied, BoardTimeout, LinkError)
"""What a fresh board may not do again."""


def before_setup(item: pytest.Item) -> None:
    """Skip what is known to be broken; refuse what no board can run."""
    case = case_of(item)
    if case is None:
        return
    runtime = runtime_of(item.config)
    reason = runtime.broken(*case.key)
    if reason:
        pytest.skip(reason)
    try:
        check_output(settings_of(item.config))
    except SettingError as error:
        raise ResultsError(str(error)) from None
    if not _uses(item, "model_session"):
        return
    if _uses(item, "power_meter") and not _has_meter(item, case):
        pytest.skip(NO_METER)
    model = runtime.model(case.model)
    if runtime.inputs_path:
        runtime.inputs(model)


def _has_meter(item: pytest.Item, case: Case) -> bool:
    return chosen_for(case.board or "", settings_of(item.config)).kind != "off"


def _power(item: pytest.Item) -> PowerMeter | None:
    case = case_of(item)
    if case is None or not _has_meter(item, case):
        return None
    return runtime_of(item.config).meters.power_meter(None)


def _reference(item: pytest.Item, model: Model) -> Reference:
    """The PC side for the output tolerance of a test, which may pin a kernel path."""
    tolerance = limits_of(item)["output_tolerance"].limit
    assert isinstance(tolerance, Tolerance)
    return runtime_of(item.config).reference(model, tolerance.reference)


def _uses(item: pytest.Item, fixture: str) -> bool:
    return fixture in getattr(item, "fixturenames", ())


def after_setup(item: pytest.Item) -> None:
    """Start the PC side, and let the board prove that it runs the model."""
    session = session_of(item)
    if session is None:
        return
    if "output_tolerance" in limits_of(item):
        _reference(item, session.model).start()
    session.ensure()


def session_of(item: pytest.Item) -> ModelSession | None:
    """The session that a test has, if any."""
    from pytest_autodeploy.session import ModelSession

    session = getattr(item, "funcargs", {}).get("model_session")
    return session if isinstance(session, ModelSession) else None


def estimate_of(item: pytest.Item) -> Estimate | None:
    """The NPU estimate that a test has, if any."""
    estimate = getattr(item, "funcargs", {}).get("npu_estimate")
    return estimate if hasattr(estimate, "accelerator") else None


def after_call(item: pytest.Item) -> None:
    """Judge the limits; fail or skip the test accordingly."""
    try:
        judgement = _judgement(item)
    except (PowerError, MissingExtra) as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    if judgement is None:
        return
    item.stash[JUDGEMENT] = judgement
    session = session_of(item)
    if session is not None:
        _keep_arrays(item, session, judgement)
    if judgement.failures:
        failure = judgement.failures[0].failure
        item.stash[FAILURE] = failure
        words = "\n\n".join(verdict.words for verdict in judgement.failures)
        pytest.fail(classified(failure, words), pytrace=False)
    if judgement.unjudged:
        limit = judgement.unjudged[0]
        pytest.skip(f"{limit.limit} cannot be judged: {limit.words}")


def _judgement(item: pytest.Item) -> Judgement | None:
    from pytest_autodeploy.judge import Judgement, judge, judge_estimate

    limits = limits_of(item)
    session, estimate = session_of(item), estimate_of(item)
    parts = []
    if session is not None:
        gate = gate_of(item, limits)
        if gate:
            gate.measure(session)
        pc_side, power = (lambda: _reference(item, session.model)), (lambda: _power(item))
        parts.append(judge(session, limits, pc_side, power))
        if gate:
            parts[0] = gate.judged(session, parts[0])
    if estimate is not None:
        parts.append(judge_estimate(estimate, limits))
    if not parts:
        return None
    verdicts = tuple(verdict for part in parts for verdict in part.verdicts)
    return Judgement(verdicts, parts[0].agreement, parts[0].comparison)


def _keep_arrays(item: pytest.Item, session: ModelSession, judgement: Judgement) -> None:
    run = session.measured.run
    case = case_of(item)
    if run is None or case is None or judgement.agreement is None or judgement.agreement.passed:
        return
    from pytest_autodeploy.model.naming import file_name
    from pytest_autodeploy.report.npz import write_mismatch

    place = Path(file_name(case.key[0])) / file_name(case.key[1]) / f"{file_name(item.name)}.npz"
    by_path = _reference(item, session.model).run(run.inputs)
    output = settings_of(item.config).output_path
    write_mismatch(output / place, run.inputs.arrays, run.outputs, by_path)
    item.stash[FILES] = {"npz": place.as_posix()}


def after_teardown(item: pytest.Item) -> None:
    """The next test starts with nothing measured."""
    item.stash[FAILURE] = None
    session = session_of(item)
    if session is not None:
        session.begin()


def complete_report(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> None:
    """Show our errors as one message, note broken boards, and attach the record."""
    case = case_of(item)
    error = call.excinfo.value if call.excinfo else None
    failure = item.stash.get(FAILURE, None) or class_of_error(error)
    if isinstance(error, AutodeployError):
        if call.when != "call" or in_suite(item):
            report.longrepr = classified(failure, str(error))
        elif crash := getattr(report.longrepr, "reprcrash", None):
            crash.message = classified(failure, crash.message)
        if case is not None:
            _note_fault(item, case, error, call.when)
    if case is None or (call.when != "call" and report.passed):
        return
    record = _record(item, case, report)
    if report.failed:
        record["failure_class"] = failure
    if record.get("log"):
        report.sections.append(("Log of the board", record["log"]))
    report.autodeploy = record  # type: ignore[attr-defined]
    _set_properties(item, report, record)
    if item.config.getoption("htmlpath", None):
        extra = {
            "name": "model",
            "format_type": "html",
            "content": _html(record),
            "mime_type": None,
            "extension": None,
        }
        report.extras = [*getattr(report, "extras", []), extra]  # type: ignore[attr-defined]


def _html(record: dict[str, Any]) -> str:
    if "npu" in record:
        from pytest_autodeploy.npu.html import estimate_html
        from pytest_autodeploy.report.results import csv_name

        return estimate_html(
            record["npu"], csv=record["npu_csv"], csv_name=csv_name(record["model"])
        )
    from pytest_autodeploy.report.html import extra_html

    return extra_html(record)


def _set_properties(item: pytest.Item, report: pytest.TestReport, record: dict[str, Any]) -> None:
    """On this report and on those to come, of which JUnit takes the last; once after a rerun."""
    from pytest_autodeploy.report.junit import properties

    others = [pair for pair in item.user_properties if not pair[0].startswith("autodeploy.")]
    item.user_properties[:] = [*others, *properties(record)]
    report.user_properties[:] = item.user_properties


def _note_fault(item: pytest.Item, case: Case, error: AutodeployError, when: str) -> None:
    runtime = runtime_of(item.config)
    if isinstance(error, TRANSIENT):
        runtime.fault(*case.key, error, item.nodeid)
    elif when == "setup":
        runtime.give_up(*case.key, error, item.nodeid)


def _record(item: pytest.Item, case: Case, report: pytest.TestReport) -> dict[str, Any]:
    from pytest_autodeploy.record import board_facts, estimate_facts, measured_facts

    session = session_of(item)
    record: dict[str, Any] = {
        "nodeid": item.nodeid,
        "outcome": _outcome(report),
        "message": _message(report),
        "model": _model_facts(item, case),
        "board": _board_asked_for(item, case),
        "files": item.stash.get(FILES, {}),
    }
    if session is not None and session.known:
        record["board"] = board_facts(session)
        record |= measured_facts(session, item.stash.get(JUDGEMENT, None))
    estimate = estimate_of(item)
    if estimate is not None and session is None:
        record |= estimate_facts(estimate, item.stash.get(JUDGEMENT, None))
    return record


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.passed else "xfailed"
    return "error" if report.failed and report.when != "call" else str(report.outcome)


def _board_asked_for(item: pytest.Item, case: Case) -> dict[str, Any]:
    if case.board is None:
        return {}
    session = session_of(item)
    clock = session.clock if session else settings_of(item.config).evb_clock
    return {"id": case.board} | ({"clock": clock} if _uses(item, "evb") else {})


def _model_facts(item: pytest.Item, case: Case) -> dict[str, Any]:
    runtime = runtime_of(item.config)
    try:
        model: Model = runtime.static_model(case.model)
    except ModelError:
        return {"id": case.model.id, "name": case.model.path.stem, "path": str(case.model.path)}
    from pytest_autodeploy.record import model_facts

    file = relative_name(case.model.path, settings_of(item.config).rootdir)
    return model_facts(case.model.id, model) | {"file": file}


def _message(report: pytest.TestReport) -> str:
    """The first line of a failure, or the reason of a skip."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    return next(iter(text.strip().splitlines()), "").removeprefix("Failed: ")
