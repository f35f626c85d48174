"""The arrays of a test that are kept: outputs that differ, and decisions that changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.collection import case_of
from pytest_autodeploy.plugin.places import arrays_place
from pytest_autodeploy.plugin.state import FILES, settings_of
from pytest_autodeploy.plugin.subject import reference_of

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.session.model_session import ModelSession


def keep_mismatch(item: pytest.Item, session: ModelSession, judgement: Judgement) -> None:
    """The inputs and the outputs of the board and of the PC, when they do not agree."""
    case, run = case_of(item), session.measured.run
    agreement = judgement.evidence.agreement
    if case is None or run is None or agreement is None or agreement.passed:
        return
    from pytest_autodeploy.metrics.record import NO_FILES
    from pytest_autodeploy.report.npz import write_mismatch

    place = arrays_place(item, case)
    by_path = reference_of(item, session.model).run(run.inputs, reset_each=run.reset_each)
    output = settings_of(item.config).output_path
    write_mismatch(output / place, run.inputs.arrays, run.outputs, by_path)
    item.stash[FILES] = replace(item.stash.get(FILES, NO_FILES), npz=place.as_posix())


def keep_changed(item: pytest.Item, judgement: Judgement) -> None:
    """The samples whose decision changed, with both outputs."""
    case, accuracy = case_of(item), judgement.evidence.accuracy
    if case is None or accuracy is None or not len(accuracy.changed):
        return
    from pytest_autodeploy.metrics.record import NO_FILES
    from pytest_autodeploy.report.npz import write_arrays

    place = arrays_place(item, case, "-changed")
    write_arrays(settings_of(item.config).output_path / place, accuracy.changed_arrays())
    item.stash[FILES] = replace(item.stash.get(FILES, NO_FILES), changed=place.as_posix())
