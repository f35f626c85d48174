"""Reference tables as Markdown, from declarations, options, fixtures, types and the catalog."""

from __future__ import annotations

import ast
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest_autodeploy
from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.limits.declaration import Declaration
from pytest_autodeploy.limits.declarations import DECLARATIONS
from pytest_autodeploy.plugin import derived, fixtures
from pytest_autodeploy.plugin.declarations import SEVERAL
from pytest_autodeploy.settings.option import Option
from pytest_autodeploy.settings.options import OPTIONS

ROOT = Path(__file__).parents[2]


def cell(text: object) -> str:
    """A text for a cell of a table: one line, with what would end the cell escaped."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines) + "\n"


def paragraphs(docstring: str | None) -> str:
    """A docstring as Markdown: its double backticks are single ones."""
    return inspect.cleandoc(docstring or "").replace("``", "`")


def options(group: str) -> str:
    """The options under a heading of `pytest --help`, with their ini keys."""
    rows = [_option(option) for option in OPTIONS if option.group == group]
    return table(("option and ini key", "what"), rows)


def _option(option: Option) -> tuple[str, str]:
    value = f" {option.metavar}" if option.metavar else ""
    ini = f"`{option.ini_name}`" if option.ini else "no ini key"
    choices = f" One of: {', '.join(option.choices)}." if option.choices else ""
    env = f" Also `${option.env}`." if option.env else ""
    kind = f" In an ini file: {_ini_type(option)}." if option.ini else ""
    also = "".join(f" Also `{alias}`." for alias in option.aliases)
    return f"`{option.flag}{value}` {ini}", f"{option.help}.{choices}{also}{env}{kind}"


def _ini_type(option: Option) -> str:
    several = SEVERAL[str(option.ini)].lower() if option.repeatable else ""
    return f"{option.ini}; {several}" if several else str(option.ini)


def markers() -> str:
    """Every marker, with its option, what has to be there and what takes it away."""
    own = [tuple(text.split(": ", 1)) for text in derived.MARKERS[:2]]
    parts = [f"### `{usage}`\n\n{what.capitalize()}.\n" for usage, what in own]
    return "\n".join([*parts, *map(_marker, DECLARATIONS)])


def _marker(declaration: Declaration) -> str:
    facts = {
        "option": f"`{declaration.flag}`",
        "ini key": f"`autodeploy_{declaration.name}`",
        "built-in test": f"`{declaration.suite_test}`",
        "needs": f"a {declaration.needs}" if declaration.needs != "labels" else "labels",
        "keywords that say which limit": _names(declaration.which),
        "one value in several units": ", ".join(map(_names, declaration.alternatives)) or "none",
        "default of the built-in tests": _default(declaration),
    }
    body = table(("", ""), facts.items())
    about = paragraphs(declaration.signature.__doc__)
    return f"### `{declaration.usage}`\n\n{about}\n\n{_sentence(declaration.marker_help)}\n\n{body}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _default(declaration: Declaration) -> str:
    given = declaration.default or {}
    return ", ".join(f"`{key}={value!r}`" for key, value in given.items()) or "none: no limit"


def groups() -> str:
    """What `no_regression` allows by default."""
    rows = [
        (f"`{group.name}`", _names(group.measurements), f"{group.percent:g} %", _floor(group))
        for declaration in DECLARATIONS
        for group in declaration.groups
    ]
    return table(("keyword", "measurements", "allowed", "floor"), rows)


def _floor(group: Any) -> str:
    return f"`{group.floor_keyword}={group.floor_default:g}`" if group.floor_keyword else "built in"


def built_in_tests() -> str:
    """The built-in tests, with the limits that they judge."""
    source = resource("plugin", "suite", "builtin.py").read_text(encoding="utf-8")
    rows = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            flags = [each.flag for each in DECLARATIONS if each.suite_test == node.name]
            about = paragraphs(ast.get_docstring(node)).splitlines()[0]
            rows.append((f"`{node.name}`", about, _names(flags)))
    return table(("test", "passes when", "limits"), rows)


def fixture_list() -> str:
    """The fixtures that a test may ask for or override, in the order of the module."""
    tree = ast.parse(Path(fixtures.__file__).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return "\n".join(_fixture(node) for node in functions if not node.name.startswith("_"))


def _fixture(node: ast.FunctionDef) -> str:
    kind = ast.unparse(node.returns) if node.returns else ""
    scope = "session" if "session" in ast.unparse(node.decorator_list[0]) else "function"
    gives = f"{{py:class}}`~pytest_autodeploy.{kind}`" if _public(kind) else f"`{kind}`"
    about = paragraphs(ast.get_docstring(node))
    return f"### `{node.name}`\n\n{about}\n\nGives {gives}; scope: {scope}.\n"


def _public(name: str) -> bool:
    return name in pytest_autodeploy.__all__


def types() -> str:
    """Every public type with its members, by autodoc."""
    return _autodoc(name for name in pytest_autodeploy.__all__ if not _is_error(name))


PARTS = (
    *("base.measurement.Measurement", "base.repeats.Repeats", "base.statistics.Spread"),
    *("catalog.boards.BoardSpec", "rpc.messages.Identity"),
    *("model.graph.Quantization", "model.graph.Signature", "reference.facts.OutputFacts"),
    *("session.labelled.Side", "power.window.Window"),
    *(f"npu.results.{name}" for name in ("Totals", "Layer", "OperatorEstimate", "Coverage")),
    "npu.results.Provenance",
)
"""Records that public types have in their attributes."""


def parts() -> str:
    """The records in the attributes of public types, by autodoc."""
    lines = [line for name in PARTS for line in _class(f"pytest_autodeploy.{name}")]
    return "\n".join(["```{eval-rst}", *lines, "```", ""])


def errors() -> str:
    """Every public error."""
    return _autodoc(filter(_is_error, pytest_autodeploy.__all__), members=False)


def _is_error(name: str) -> bool:
    value = getattr(pytest_autodeploy, name)
    return inspect.isclass(value) and issubclass(value, Exception)


def _autodoc(names: Iterable[str], *, members: bool = True) -> str:
    return "\n".join(_autodoc_of(name, members=members) for name in names)


def _autodoc_of(name: str, *, members: bool) -> str:
    value = getattr(pytest_autodeploy, name)
    if not inspect.isclass(value):
        return f"({_anchor(name)})=\n\n`{name}`: one of {_choices(value)}\n"
    lines = _class(f"pytest_autodeploy.{name}")
    lines += [] if members else ["   :no-members:", "   :show-inheritance:"]
    return "\n".join([f"({_anchor(name)})=", "```{eval-rst}", *lines, "```", ""])


def _anchor(name: str) -> str:
    return f"type-{name.lower()}"


def _class(name: str) -> list[str]:
    return [f".. autoclass:: {name}"]


def _choices(literal: Any) -> str:
    return _names(map(str, literal.__args__))


def schema() -> str:
    """Every object of the JSON result, from its JSON Schema."""
    text = resource("report", "result.schema.json").read_text(encoding="utf-8")
    document = json.loads(text)
    parts = document["$defs"]
    names = sorted(parts, key=lambda name: (name != "Result", name.rpartition(".")[2]))
    return "\n".join(_object(name, parts[name]) for name in names)


def _object(name: str, part: Mapping[str, Any]) -> str:
    rows = [(f"`{key}`", _type(value)) for key, value in part.get("properties", {}).items()]
    about = paragraphs(part.get("description"))
    return f"### {_short(name)}\n\n{about}\n\n{table(('key', 'holds'), rows)}"


def _short(name: str) -> str:
    """Records of one name in two modules: that of Vela's has it in front."""
    home, _, last = name.rpartition(".")
    return f"{last} (Vela)" if ".npu." in home else last


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = _short(value["$ref"].rpartition("/")[2])
        return f"[{name}](#{re.sub('[^a-z]+', '-', name.lower()).strip('-')})"
    if "anyOf" in value:
        return " or ".join(map(_type, value["anyOf"]))
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    return _plain_type(value)


def _plain_type(value: Mapping[str, Any]) -> str:
    kind = str(value.get("type", "any value"))
    if kind == "array" and "prefixItems" in value:
        return f"list of: {', '.join(map(_type, value['prefixItems']))}"
    if kind == "array" and value.get("items"):
        return f"list of {_type(value['items'])}"
    if kind == "object" and isinstance(value.get("additionalProperties"), Mapping):
        return f"object of {_type(value['additionalProperties'])} by name"
    return kind


def csv_columns() -> str:
    """What the CSV of layers holds, as its maker says."""
    from pytest_autodeploy.profile.layer_csv import csv_text

    return _rest(csv_text)


def junit_properties() -> str:
    """The names of the properties, as their maker says."""
    from pytest_autodeploy.report.junit import properties

    return _rest(properties)


def _rest(maker: object) -> str:
    """What the maker of a file says of it after its first sentence."""
    return paragraphs(maker.__doc__).partition("\n\n")[2] + "\n"


def boards() -> str:
    """The boards that there are, and their kinds, as the command lists them."""
    from pytest_autodeploy.catalog.kinds import KINDS

    rows = [(f"`--evb {k.shown}`", k.noun, k.runs, k.source_text or f"`{k.source}`") for k in KINDS]
    return table(("typed", "is", "runs", "figures are"), rows)


def board_list() -> str:
    """Every board of the catalog: what it has, and the pins of a power meter."""
    from pytest_autodeploy.catalog.boards import catalog_specs

    titles = ("name", "core", "clocks", "port", "memories", "pins In0, In1, trigger", "level")
    return table(titles, map(_board, catalog_specs()))


def _board(spec: Any) -> tuple[str, ...]:
    pins = spec.power_pins
    return (
        f"`{spec.name}`",
        spec.core,
        ", ".join(f"{mode} {hz / 1e6:g} MHz" for mode, hz in spec.clocks_hz.items()),
        spec.transport,
        ", ".join(
            f"{name.upper()} {part.usable // 1024:,} KB" for name, part in spec.memories.items()
        ),
        ", ".join(str(pins[name]) for name in ("in0", "in1", "trigger")) if pins else "none",
        f"{spec.io_voltage:g} V" if pins else "",
    )


def commands() -> str:
    """The command `autodeploy` and its commands, with their help."""
    import click

    from pytest_autodeploy.cli import autodeploy

    context = click.Context(autodeploy, info_name="autodeploy")
    return "\n".join(_command(context, name) for name in autodeploy.list_commands(context))


def _command(context: Any, name: str) -> str:
    import click

    command = context.command.get_command(context, name)
    inner = click.Context(command, parent=context, info_name=name, max_content_width=96)
    if isinstance(command, click.Group):
        deeper = [_command(inner, each) for each in command.list_commands(inner)]
        return "\n".join(deeper)
    return f"### `{inner.command_path}`\n\n```text\n{command.get_help(inner)}\n```\n"


def extras() -> str:
    """The extras of the package and what they install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    mine = {k: v for k, v in project["optional-dependencies"].items() if k not in _INNER}
    return table(("extra", "installs"), [(f"`{k}`", ", ".join(v)) for k, v in mine.items()])


_INNER = ("test", "docs", "dev")

TABLES: Mapping[str, Callable[[], str]] = {
    **{f"options-{name}": partial(options, name) for name in ("models", "boards")},
    **{f"options-{name}": partial(options, name) for name in ("measuring", "results")},
    "markers": markers,
    "regression-groups": groups,
    "built-in-tests": built_in_tests,
    "fixtures": fixture_list,
    "types": types,
    "parts": parts,
    "errors": errors,
    "schema": schema,
    "csv": csv_columns,
    "junit": junit_properties,
    "board-kinds": boards,
    "boards": board_list,
    "commands": commands,
    "extras": extras,
}
