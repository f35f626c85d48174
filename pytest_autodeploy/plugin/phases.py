"""What is done before and after a test with a model: what it needs, and forgetting it."""

from __future__ import annotations

import functools

import pytest

from pytest_autodeploy.base.errors import BoardError, BoardGivenUp, ResultsError
from pytest_autodeploy.plugin.collection import Case, case_of, uses
from pytest_autodeploy.plugin.limits import limits_of, task_of
from pytest_autodeploy.plugin.owed import skip_reason
from pytest_autodeploy.plugin.second_chance import protocol as protocol
from pytest_autodeploy.plugin.second_chance import status_of as status_of
from pytest_autodeploy.plugin.second_chance import try_again
from pytest_autodeploy.plugin.services import session_of
from pytest_autodeploy.plugin.state import FAILURE, RUNTIME, UNJUDGED, runtime_of, settings_of
from pytest_autodeploy.plugin.subject import reference_of
from pytest_autodeploy.plugin.suite.collector import in_suite
from pytest_autodeploy.run.preflight import check_output
from pytest_autodeploy.settings.meter_choice import NO_METER, board_has_meter
from pytest_autodeploy.settings.settings import SettingError

_COMPARING = ("test_outputs_agree", "test_accuracy", "test_artifacts")
"""The built-in tests that run a model on this PC, too."""
_COMPARED: pytest.StashKey[frozenset[str]] = pytest.StashKey()


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
    try_again(item, case)
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
    if uses(item, "power_meter") and not board_has_meter(case.board or "", runtime.settings):
        pytest.skip(NO_METER)
    if runtime.settings.inputs_path:
        runtime.data.inputs(runtime.models.load(case.model))
    runtime.data.labels()
    runtime.models.runnable(case.model, case.board or "")


def _refuse_broken(item: pytest.Item, case: Case) -> None:
    """A follower of a broken board is an error in one line; of a model that is no good a skip."""
    trouble = runtime_of(item.config).troubles.of(*case.key)
    if trouble is None:
        return
    if trouble.of_board:
        raise BoardGivenUp(trouble.text)
    if trouble.test == item.nodeid:  # a rerun must not turn it into a skip
        raise trouble.error
    pytest.skip(trouble.text)


def after_setup(item: pytest.Item) -> None:
    """Start the PC side when it is needed, and let the board prove that it runs the model."""
    session = session_of(item)
    if session is None:
        return
    session.task = task_of(item)
    if any(declared.name == "output_tolerance" for declared in limits_of(item)):
        reference = reference_of(item, session.model)
        if _is_compared(item):  # else the process would start in vain
            reference.start()
        session.before_run = functools.partial(reference.begin, reset_each=session.reset_each)
    try:
        session.ensure()
    except BoardError:
        if session.kind.pc_kernels:  # TFLM has not tried it before, and says more
            runtime_of(item.config).models.try_on_pc(session.model)
        raise


def _is_compared(item: pytest.Item) -> bool:
    """Whether this run compares the outputs of the test's model, here or in another test."""
    if _COMPARED not in item.config.stash:
        cases = (case_of(each) for each in item.session.items if _compares(each))
        item.config.stash[_COMPARED] = frozenset(case.model.id for case in cases if case)
    case = case_of(item)
    return case is not None and case.model.id in item.config.stash[_COMPARED]


def _compares(item: pytest.Item) -> bool:
    return not in_suite(item) or getattr(item, "originalname", "") in _COMPARING


def after_teardown(item: pytest.Item, following: pytest.Item | None) -> None:
    """The next test starts with nothing measured, another model with a board leased anew."""
    item.stash[FAILURE] = None
    session = session_of(item)
    if session is not None:
        session.begin()
    case, after = case_of(item), case_of(following) if following is not None else None
    if case and case.board and (after is None or after.key != case.key):
        runtime_of(item.config).boards.give_up(case.board)
