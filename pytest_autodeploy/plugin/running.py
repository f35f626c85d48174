"""What is done around each test with a model: before set-up, after its body, on its report."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.errors import InputsError, MissingExtra, ResultsError
from pytest_autodeploy.limits.tolerance import Tolerance
from pytest_autodeploy.metrics.failures import classified
from pytest_autodeploy.model.find import ModelFile
from pytest_autodeploy.plugin.collection import Case, against_path, case_of, limits_of, task_of
from pytest_autodeploy.plugin.comparing import gate_of
from pytest_autodeploy.plugin.explaining import explained
from pytest_autodeploy.plugin.state import FAILURE, FILES, JUDGEMENT, runtime_of, settings_of
from pytest_autodeploy.power.errors import PowerError
from pytest_autodeploy.run.preflight import check_output
from pytest_autodeploy.settings.meter_choice import NO_METER, chosen_for
from pytest_autodeploy.settings.settings import SettingError

if TYPE_CHECKING:
    from pytest_autodeploy.limits.declarations import Declared
    from pytest_autodeploy.metrics.judge import Judgement
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.model_session import ModelSession


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
    if not uses(item, "model_session"):
        return
    if uses(item, "power_meter") and not _has_meter(item, case):
        pytest.skip(NO_METER)
    model = runtime.model(case.model)
    if runtime.inputs_path:
        runtime.inputs(model)
    runtime.labels()


def _has_meter(item: pytest.Item, case: Case) -> bool:
    return chosen_for(case.board or "", settings_of(item.config)).kind != "off"


def _power(item: pytest.Item) -> PowerMeter | None:
    case = case_of(item)
    if case is None or not _has_meter(item, case):
        return None
    return runtime_of(item.config).meters.power_meter(None)


def reference_of(item: pytest.Item, model: Model) -> Reference:
    """The PC side for the output tolerance of a test, which may pin a kernel path."""
    tolerance = limits_of(item)["output_tolerance"].limit
    assert isinstance(tolerance, Tolerance)
    return runtime_of(item.config).reference(model, tolerance.reference)


def _task_side(
    item: pytest.Item, model: Model, declared: Declared | None
) -> tuple[Model, Reference]:
    """The model that the PC runs on data with labels, and what runs it."""
    runtime = runtime_of(item.config)
    path = against_path(item, declared) if declared else None
    other = runtime.static_model(ModelFile(path.stem, path)) if path else model
    return other, runtime.reference(other)


def uses(item: pytest.Item, fixture: str) -> bool:
    """Whether a test needs a fixture."""
    return fixture in getattr(item, "fixturenames", ())


def after_setup(item: pytest.Item) -> None:
    """Start the PC side, and let the board prove that it runs the model."""
    session = session_of(item)
    if session is None:
        return
    limits = limits_of(item)
    session.task = task_of(limits)
    if "output_tolerance" in limits:
        reference = reference_of(item, session.model)
        reference.start()
        session.before_run = functools.partial(reference.begin, reset_each=session.reset_each)
    session.ensure()


def session_of(item: pytest.Item) -> ModelSession | None:
    """The session that a test has, if any."""
    from pytest_autodeploy.session.model_session import ModelSession

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
    except (PowerError, MissingExtra, InputsError) as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    if judgement is None:
        return
    session = session_of(item)
    if session is not None:
        judgement = explained(item, session, judgement, limits_of(item))
    item.stash[JUDGEMENT] = judgement
    if session is not None:
        _keep_arrays(item, session, judgement)
        _keep_changed(item, judgement)
    if judgement.failures:
        failure = judgement.failures[0].failure
        item.stash[FAILURE] = failure
        words = "\n\n".join(verdict.text for verdict in judgement.failures)
        pytest.fail(classified(failure, words), pytrace=False)
    if judgement.unjudged:
        limit = judgement.unjudged[0]
        pytest.skip(f"{limit.limit} cannot be judged: {limit.words}")


def _judgement(item: pytest.Item) -> Judgement | None:
    from pytest_autodeploy.metrics.accuracy.judge import with_accuracy
    from pytest_autodeploy.metrics.judge import judge, judge_estimate

    limits = limits_of(item)
    session, estimate = session_of(item), estimate_of(item)
    parts = []
    if session is not None:
        gate = gate_of(item, limits)
        if gate:
            gate.measure(session)
        pc_side, power = (lambda: reference_of(item, session.model)), (lambda: _power(item))
        judgement = judge(session, limits, pc_side, power)
        task_side = functools.partial(_task_side, item, session.model)
        parts.append(with_accuracy(judgement, session, limits, task_side))
        if gate:
            parts[0] = gate.judged(session, parts[0])
    if estimate is not None:
        parts.append(judge_estimate(estimate, limits))
    if not parts:
        return None
    verdicts = tuple(verdict for part in parts for verdict in part.verdicts)
    return replace(parts[0], verdicts=verdicts)


def _keep_arrays(item: pytest.Item, session: ModelSession, judgement: Judgement) -> None:
    run = session.measured.run
    case = case_of(item)
    if run is None or case is None or judgement.agreement is None or judgement.agreement.passed:
        return
    from pytest_autodeploy.base.naming import file_name
    from pytest_autodeploy.metrics.record import NO_FILES
    from pytest_autodeploy.report.npz import write_mismatch

    place = Path(file_name(case.key[0])) / file_name(case.key[1]) / f"{file_name(item.name)}.npz"
    by_path = reference_of(item, session.model).run(run.inputs, reset_each=run.reset_each)
    output = settings_of(item.config).output_path
    write_mismatch(output / place, run.inputs.arrays, run.outputs, by_path)
    item.stash[FILES] = replace(item.stash.get(FILES, NO_FILES), npz=place.as_posix())


def _keep_changed(item: pytest.Item, judgement: Judgement) -> None:
    """The samples whose decision changed, with both outputs."""
    case, accuracy = case_of(item), judgement.accuracy
    if case is None or accuracy is None or not len(accuracy.changed):
        return
    from pytest_autodeploy.base.naming import file_name
    from pytest_autodeploy.metrics.record import NO_FILES
    from pytest_autodeploy.report.npz import write_arrays

    name = f"{file_name(item.name)}-changed.npz"
    place = Path(file_name(case.key[0])) / file_name(case.key[1]) / name
    write_arrays(settings_of(item.config).output_path / place, accuracy.changed_arrays())
    item.stash[FILES] = replace(item.stash.get(FILES, NO_FILES), changed=place.as_posix())


def after_teardown(item: pytest.Item) -> None:
    """The next test starts with nothing measured."""
    item.stash[FAILURE] = None
    session = session_of(item)
    if session is not None:
        session.begin()
