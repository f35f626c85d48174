"""What goes wrong with baselines and the history."""

from __future__ import annotations

from pytest_autodeploy.base.errors import AutodeployError


class BaselineError(AutodeployError):
    """A baseline cannot be read, written or trusted."""


class HistoryError(AutodeployError):
    """The history file cannot be read or written."""
