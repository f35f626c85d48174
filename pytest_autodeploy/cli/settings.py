"""Options of the plugin as options of a command, by the same words, help and checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pytest_autodeploy.limits.declarations import BY_NAME
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import Settings, resolve

if TYPE_CHECKING:
    from pytest_autodeploy.limits.tolerance import Tolerance

Command = TypeVar("Command", bound=Callable[..., Any])

TREES = ("evb_tflm_root", "evb_sdk", "evb_toolchain")
"""What firmware is built with."""

BOARD = (
    *("evb_port", "evb_probe", "evb_rig", "evb_wait", "evb_flash_tool", *TREES),
    *("evb_arena_kb", "evb_timeout", "cache", "evb_keep_build"),
)
"""How a board is reached, built for and flashed."""

_BY_NAME = {option.name: option for option in OPTIONS}


def setting_options(*names: str) -> Callable[[Command], Command]:
    """Add options of the plugin to a command: as in pytest, and without their ``evb-`` or so."""

    def decorate(command: Command) -> Command:
        for name in reversed(names):
            option = _BY_NAME[name]
            command = click.option(
                *(*_flags(option.flag, *option.aliases), name),
                help=f"{option.help}.",
                metavar=option.metavar,
            )(command)
        return command

    return decorate


def settings_of(given: Mapping[str, Any]) -> Settings:
    """The settings of a command: what was given, else the defaults. Raises SettingError."""
    by_dest = {
        _BY_NAME[name].dest: [value] if value and _BY_NAME[name].repeatable else value
        for name, value in given.items()
    }
    return resolve(OPTIONS, by_dest.get, lambda _: None, Path.cwd())


def tolerance_of(settings: Settings) -> Tolerance:
    """The tolerance that was given, else the default. Raises LimitError."""
    from pytest_autodeploy.limits.declared import declare_text
    from pytest_autodeploy.limits.tolerance import Tolerance

    texts = settings.limits.get("output_tolerance", ())
    if not texts:
        return Tolerance()
    limit = declare_text(BY_NAME["output_tolerance"], *texts[0]).limit
    assert isinstance(limit, Tolerance)
    return limit


def _flags(*flags: str) -> list[str]:
    """``--evb-port`` and, without its family, ``--port``; ``--evb`` is all there is of itself."""
    short = [flag.removeprefix("--").partition("-")[2] for flag in flags]
    return [*(f"--{each}" for each in short if each), *flags]
