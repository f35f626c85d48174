"""The characterisation that every run of the built-in tests leaves, for boards it cannot reach."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.plugin.limits import tolerance_of
from pytest_autodeploy.plugin.places import result_place
from pytest_autodeploy.plugin.state import FILES, is_worker, runtime_of, settings_of
from pytest_autodeploy.plugin.subject import reference_of
from pytest_autodeploy.plugin.suite.collector import in_suite

if TYPE_CHECKING:
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.session.measured import TunedArena
    from pytest_autodeploy.session.model_session import ModelSession

OUTPUTS = "test_outputs_agree"


def keep_characterization(item: pytest.Item, session: ModelSession, judgement: Judgement) -> None:
    """Remember an arena that was found; with right outputs, write what is known of the model.

    Files of an earlier run are removed when the outputs are wrong now. ``test_artifacts`` writes
    them itself.
    """
    tuned = runtime_of(item.config).tuned
    key = (session.model.sha256, session.board.id)
    if session.measured.arena is not None:
        tuned[key] = session.measured.arena
    if not in_suite(item) or getattr(item, "originalname", "") != OUTPUTS:
        return
    if settings_of(item.config).artifacts or session.measured.run is None:
        return
    # Workers of xdist do not know what the others have found.
    if (arena := tuned.get(key)) is not None or is_worker(item.config):
        _write(item, session, judgement, arena)


def _write(
    item: pytest.Item, session: ModelSession, judgement: Judgement, arena: TunedArena | None
) -> None:
    from pytest_autodeploy.deliver.characterize import characterize
    from pytest_autodeploy.deliver.errors import DeliveryError
    from pytest_autodeploy.deliver.files import remove, save
    from pytest_autodeploy.metrics.record import NO_FILES

    place = result_place(item)
    folder = settings_of(item.config).output_path / place
    remove(session.model.name, folder)
    agreement = judgement.evidence.agreement
    if judgement.broke is not None or agreement is None or not agreement.passed:
        return
    before, reference = session.measured.arena, reference_of(item, session.model)
    try:
        asked = settings_of(item.config).sensitivity
        found = characterize(session, reference, tolerance_of(item), arena, probe=asked)
    except DeliveryError:
        return  # a type that C does not have: there is nothing to make a library from
    finally:
        session.measured.arena = before
    written = save(found, folder)[0]
    files = item.stash.get(FILES, NO_FILES)
    item.stash[FILES] = replace(files, characterization=(place / written.name).as_posix())
