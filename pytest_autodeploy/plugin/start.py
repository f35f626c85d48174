"""The start of a run: its settings, checked before anything is collected or touched."""

from __future__ import annotations

import pytest

from pytest_autodeploy.plugin.declarations import is_asked
from pytest_autodeploy.plugin.state import SETTINGS, is_worker, settings_of


def trace(config: pytest.Config) -> None:
    """Trace the run, as ``--autodeploy-trace`` asks for. Raises pytest.UsageError."""
    from pytest_autodeploy.plugin.tracing import begin

    begin(config)


def start(session: pytest.Session) -> None:
    """Settle and check the settings of a run, and prepare its end. Raises pytest.UsageError."""
    config = session.config
    keeps = _runs_tests(config) and not is_worker(config)
    if is_asked(config):
        _check(config, keeps=keeps)
    if keeps:
        from pytest_autodeploy.plugin.end import Ending

        config.pluginmanager.register(Ending(session), "autodeploy_ending")


def _check(config: pytest.Config, *, keeps: bool) -> None:
    from pytest_autodeploy.base.exhausted import exhausted
    from pytest_autodeploy.plugin.rootdir import check_rootdir
    from pytest_autodeploy.plugin.run_folder import prepare_folder
    from pytest_autodeploy.run.kept_check import check_kept
    from pytest_autodeploy.run.preflight import check_settings
    from pytest_autodeploy.settings.settings import SettingError

    try:
        settings = settings_of(config)
        if not is_worker(config):
            check_rootdir(config, settings)
        check_settings(settings, write=_runs_tests(config))
        if keeps:
            check_kept(settings)
        if keeps or is_worker(config):
            prepare_folder(config)
    except SettingError as error:
        raise pytest.UsageError(str(error)) from None
    except OSError as error:
        known = exhausted(error)
        if known is None:
            raise
        raise pytest.UsageError(str(known)) from None


def _runs_tests(config: pytest.Config) -> bool:
    return not (config.option.collectonly or config.option.autodeploy_check_wiring)


def header(config: pytest.Config) -> list[str]:
    """Which boards will answer, and where each value that is not a default came from."""
    if SETTINGS not in config.stash or not settings_of(config).sources:
        return []
    from pytest_autodeploy.plugin.rootdir import overlooked_ini_line
    from pytest_autodeploy.report.header import header_lines

    return [*header_lines(settings_of(config)), *overlooked_ini_line(config)]
