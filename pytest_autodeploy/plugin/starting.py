"""The start of a run: its settings, checked before anything is collected or touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.base.exhausted import exhausted
from pytest_autodeploy.plugin.state import SETTINGS, is_worker, settings_of
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import SettingError, resolve


def start(session: pytest.Session) -> None:
    """Settle and check the settings of a run, and prepare its end. Raises pytest.UsageError."""
    config = session.config
    keeps = _runs_tests(config) and not is_worker(config)
    try:
        folder = Path(config.invocation_params.dir)
        settings = resolve(OPTIONS, config.getoption, config.getini, folder, config.rootpath)
        config.stash[SETTINGS] = settings
        if settings.sources:
            from pytest_autodeploy.plugin.rootdir import check_rootdir
            from pytest_autodeploy.run.preflight import check_kept, check_settings

            if not is_worker(config):
                check_rootdir(config, settings)
            check_settings(settings, write=_runs_tests(config))
            if keeps:
                check_kept(settings)
    except SettingError as error:
        raise pytest.UsageError(str(error)) from None
    except OSError as error:
        known = exhausted(error)
        if known is None:
            raise
        raise pytest.UsageError(str(known)) from None
    if keeps:
        from pytest_autodeploy.plugin.ending import Ending

        config.pluginmanager.register(Ending(session), "autodeploy_ending")


def _runs_tests(config: pytest.Config) -> bool:
    return not (config.option.collectonly or config.option.autodeploy_check_wiring)


def header(config: pytest.Config) -> list[str]:
    """Which boards will answer, and where each value that is not a default came from."""
    settings = settings_of(config)
    if not settings.sources:
        return []
    from pytest_autodeploy.plugin.rootdir import overlooked_ini_line
    from pytest_autodeploy.report.header import header_lines

    return [*header_lines(settings), *overlooked_ini_line(config)]
