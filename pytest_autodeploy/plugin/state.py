"""What the plugin keeps in pytest's stashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.board.use import BoardUse
    from pytest_autodeploy.metrics.failures import FailureClass
    from pytest_autodeploy.metrics.judgement import Judgement
    from pytest_autodeploy.metrics.record import Attempt, RecordFiles
    from pytest_autodeploy.metrics.records.artifacts import ArtifactsRecord
    from pytest_autodeploy.run.runtime import Runtime
    from pytest_autodeploy.session.over_pins import PinsRun
    from pytest_autodeploy.settings.settings import Settings

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
RUNTIME: pytest.StashKey[Runtime] = pytest.StashKey()
RUN_FOLDER: pytest.StashKey[Path] = pytest.StashKey()
"""What all processes of a run share; there is one where there is a rig."""
USAGE_PROBLEMS: pytest.StashKey[list[str]] = pytest.StashKey()
JUDGEMENT: pytest.StashKey[Judgement] = pytest.StashKey()
ATTEMPTS: pytest.StashKey[list[Attempt]] = pytest.StashKey()
UNJUDGED: pytest.StashKey[str] = pytest.StashKey()
FAILURE: pytest.StashKey[FailureClass | None] = pytest.StashKey()
FILES: pytest.StashKey[RecordFiles] = pytest.StashKey()
OVER_PINS: pytest.StashKey[PinsRun] = pytest.StashKey()
BROKE: pytest.StashKey[Board] = pytest.StashKey()
USES: pytest.StashKey[tuple[BoardUse, ...]] = pytest.StashKey()
ARTIFACTS: pytest.StashKey[ArtifactsRecord] = pytest.StashKey()


def settings_of(config: pytest.Config) -> Settings:
    """The settings of the run: the defaults when nothing has been set. Raises SettingError."""
    if SETTINGS not in config.stash:
        from pathlib import Path

        from pytest_autodeploy.settings.options import OPTIONS
        from pytest_autodeploy.settings.settings import resolve

        folder = Path(config.invocation_params.dir)
        config.stash[SETTINGS] = resolve(
            OPTIONS, config.getoption, config.getini, folder, config.rootpath
        )
    return config.stash[SETTINGS]


def runtime_of(config: pytest.Config) -> Runtime:
    """The runtime of this process, made when first asked for and closed when pytest ends."""
    if RUNTIME not in config.stash:
        from pytest_autodeploy.plugin.progress import progress_on
        from pytest_autodeploy.run.runtime import Runtime
        from pytest_autodeploy.run.termination import interrupt_on_sigterm

        runtime = Runtime(
            settings_of(config), progress_on(config), config.stash.get(RUN_FOLDER, None)
        )
        config.stash[RUNTIME] = runtime
        if not is_worker(config):
            config.add_cleanup(interrupt_on_sigterm())
        config.add_cleanup(runtime.close)
    return config.stash[RUNTIME]


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker."""
    return hasattr(config, "workerinput")
