"""Progress on the terminal of a pytest run."""

from __future__ import annotations

import pytest

from pytest_autodeploy.base.progress import Progress, ProgressLine, silent


def progress_on(config: pytest.Config) -> Progress:
    """A function ``(what, done, total)`` that shows progress once work has taken a second."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.isatty:
        return silent
    return ProgressLine(config.pluginmanager.get_plugin("capturemanager"), reporter._tw)
