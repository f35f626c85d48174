"""What is done around each test with a model: before set-up, after its body, on its report."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.errors import BoardGivenUp, ResultsError
from pytest_autodeploy.metrics.failures import classified
from pytest_autodeploy.plugin.collection import Case, case_of
from pytest_autodeploy.plugin.explaining import explained
from pytest_autodeploy.plugin.limits import limits_of, task_of, tolerance_of
from pytest_autodeploy.plugin.owed import note_judged, owes, skip_reason
from pytest_autodeploy.plugin.state import (
    ATTEMPTS,
    FAILURE,
    FILES,
    JUDGEMENT,
    RUNTIME,
    UNJUDGED,
    runtime_of,
    settings_of,
)
from pytest_autodeploy.plugin.subject import estimate_of, session_of, subject_of
from pytest_autodeploy.run.preflight import check_output
from pytest_autodeploy.settings.meter_choice import NO_METER, chosen_for
from pytest_autodeploy.settings.settings import SettingError

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.reference.runner import Reference


UNTRUSTED = ("wrong output", "unstable")
"""Classes of failures after which right outputs are not to be trusted."""


def before_protocol(item: pytest.Item) -> None:
    """A test that cannot run, as an earlier one broke its board, is not rerun."""
    case = case_of(item)
    if case is None or RUNTIME not in item.config.stash:
        return
    if runtime_of(item.config).troubles.of(*case.key):
        item.add_marker(pytest.mark.flaky(reruns=0), append=False)


def before_setup(item: pytest.Item) -> None:
    """Refuse what is known to be broken, and what no board can run; skip what may be skipped."""
    case = case_of(item)
    if case is None:
        return
    runtime = runtime_of(item.config)
    _refuse_broken(item, case)
    if reason := skip_reason(item):
        item.stash[UNJUDGED] = reason
        pytest.skip(reason)
    try:
        check_output(settings_of(item.config))
    except SettingError as error:
        raise ResultsError(str(error)) from None
    if not uses(item, "model_session"):
        return
    if uses(item, "power_meter") and not has_meter(item, case):
        pytest.skip(NO_METER)
    if runtime.settings.inputs_path:
        runtime.data.inputs(runtime.models.load(case.model))
    runtime.data.labels()
    runtime.models.runnable(case.model)


def _refuse_broken(item: pytest.Item, case: Case) -> None:
    """A follower of a broken board is an error in one line; of a model that is no good a skip."""
    trouble = runtime_of(item.config).troubles.of(*case.key)
    if trouble is None:
        return
    if trouble.of_board:
        raise BoardGivenUp(trouble.words)
    if trouble.test == item.nodeid:  # a rerun must not turn it into a skip
        raise trouble.error
    pytest.skip(trouble.words)


def has_meter(item: pytest.Item, case: Case) -> bool:
    """Whether the board of a test has a power meter."""
    return chosen_for(case.board or "", settings_of(item.config)).kind != "off"


def reference_of(item: pytest.Item, model: Model) -> Reference:
    """The PC side for the output tolerance of a test, which may pin a kernel path."""
    return runtime_of(item.config).pc.reference(model, tolerance_of(item).reference)


def uses(item: pytest.Item, fixture: str) -> bool:
    """Whether a test needs a fixture."""
    return fixture in getattr(item, "fixturenames", ())


def after_setup(item: pytest.Item) -> None:
    """Start the PC side, and let the board prove that it runs the model."""
    session = session_of(item)
    if session is None:
        return
    session.task = task_of(item)
    if any(declared.name == "output_tolerance" for declared in limits_of(item)):
        reference = reference_of(item, session.model)
        reference.start()
        session.before_run = functools.partial(reference.begin, reset_each=session.reset_each)
    session.ensure()


def after_call(item: pytest.Item) -> None:
    """Judge the limits; fail the test when a row is red."""
    if session_of(item) is None and estimate_of(item) is None:
        return
    from pytest_autodeploy.metrics.judgement import judge
    from pytest_autodeploy.run.metrics import metrics

    owed = functools.partial(owes, item)
    judgement = judge(subject_of(item), limits_of(item), metrics(), owed)
    session = session_of(item)
    if session is not None and judgement.broke is None:
        judgement = explained(item, session, judgement)
    item.stash[JUDGEMENT] = judgement
    note_judged(item, judgement.rows)
    if session is not None:
        _keep_arrays(item, judgement)
        _keep_changed(item, judgement)
    if judgement.broke is not None:
        raise judgement.broke
    if judgement.red:
        failure = judgement.red[0].failure or "other"
        item.stash[FAILURE] = failure
        words = "\n\n".join(row.text for row in judgement.red)
        pytest.fail(classified(failure, words), pytrace=False)
    _refuse_unstable(item)


def _refuse_unstable(item: pytest.Item) -> None:
    """Outputs that were wrong in an earlier attempt and are right now are not to be trusted."""
    wrong = [each for each in item.stash.get(ATTEMPTS, []) if each.failure in UNTRUSTED]
    if wrong:
        item.stash[FAILURE] = "unstable"
        count = len(item.stash[ATTEMPTS]) + 1
        words = f"outputs were wrong in an earlier attempt and are right in attempt {count}"
        pytest.fail(classified("unstable", f"{words}\n{wrong[0].message}"), pytrace=False)


def _keep_arrays(item: pytest.Item, judgement: Judgement) -> None:
    session, case = session_of(item), case_of(item)
    agreement = judgement.evidence.agreement
    run = session.measured.run if session else None
    if session is None or run is None or case is None or agreement is None or agreement.passed:
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
    case, accuracy = case_of(item), judgement.evidence.accuracy
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
