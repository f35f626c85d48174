"""What all commands share: how they fail, and how they print."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.exhausted import exhausted
from pytest_autodeploy.settings.settings import SettingError

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress

SCHEMA = 1
"""Version of the JSON that the commands print."""

TROUBLE, USAGE = 1, 2
"""Exit codes: something is wrong or failed, and the command was not understood."""

_JSON = f"{__name__}.json"

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
)


class Commands(click.Group):
    """The group of commands: what fails is words on standard error, or an object with --json."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not ctx.meta[_JSON]:
                raise
            text, code = error.format_message(), USAGE
        except SettingError as error:
            text, code = str(error), USAGE
        except AutodeployError as error:
            text, code = str(error), TROUBLE
        except OSError as error:
            known = exhausted(error)
            if known is None:
                raise
            text, code = str(known), TROUBLE
        return _fail(ctx, text, code)


def _fail(ctx: click.Context, text: str, code: int) -> NoReturn:
    if ctx.meta[_JSON]:
        print_json({"error": text})
    else:
        click.echo(f"Error: {text}", err=True)
    ctx.exit(code)


def plain_data(record: object) -> dict[str, Any]:
    """A dataclass as plain values; what is no number in JSON is null."""
    import msgspec

    from pytest_autodeploy.base.numbers import finite_data

    plain: dict[str, Any] = finite_data(msgspec.to_builtins(record))
    return plain


def print_json(document: dict[str, Any]) -> None:
    """Print the only JSON object of a command, with the version of its format."""
    click.echo(json.dumps({"schema": SCHEMA, **document}, indent=2))


def progress() -> Progress:
    """Shows on standard error how far long work of this command is, when that is a terminal."""
    from pytest_autodeploy.base.progress import Display, LiveLine, shown_on, silent

    if not sys.stderr.isatty():
        return silent

    def write(text: str) -> None:
        click.echo(text, nl=False, err=True)

    screen = LiveLine(write, lambda: 0, lambda: shutil.get_terminal_size().columns)
    return click.get_current_context().with_resource(shown_on(Display(screen)))


def print_lines(lines: Sequence[str]) -> None:
    """Print lines of text."""
    click.echo("\n".join(lines))
