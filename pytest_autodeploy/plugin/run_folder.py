"""The folder that all processes of a run share: it says which boards of the rig are out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.plugin.state import RUN_FOLDER, is_worker, settings_of

_KEY = "autodeploy_run_folder"
"""Under this name xdist's controller tells its workers."""


def prepare_folder(config: pytest.Config) -> None:
    """Make the folder of this run, which is removed at its end; a worker has its controller's."""
    if is_worker(config):
        told = getattr(config, "workerinput", {}).get(_KEY)
        if told:
            config.stash[RUN_FOLDER] = Path(told)
    elif settings_of(config).rig is not None:
        from pytest_autodeploy.base.scratch import Scratch

        scratch = Scratch("run")
        config.add_cleanup(scratch.close)
        config.stash[RUN_FOLDER] = scratch.path
        config.pluginmanager.register(RunFolder(), "autodeploy_run_folder")


class RunFolder:
    """The hooks of the process that reports."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker of xdist has the same folder."""
        node.workerinput[_KEY] = str(node.config.stash[RUN_FOLDER])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say which boards are out."""
        for line in _boards_out(terminalreporter.config):
            terminalreporter.write_line(line, red=True)


def _boards_out(config: pytest.Config) -> Iterator[str]:
    from pytest_autodeploy.run.strikes import Strikes

    file = settings_of(config).evb_quarantine
    for name, out in Strikes(config.stash[RUN_FOLDER]).out().items():
        lift = f"until `autodeploy boards --lift {name} --quarantine {file}`"
        yield f"autodeploy: board {name} {out.reason}; it is out {lift if file else 'of this run'}"
