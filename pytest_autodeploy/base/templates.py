"""The one environment of templates: HTML is escaped, C and make have filters for any text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_PLAIN = re.compile(rb"[A-Za-z0-9 _.,:;+*/()\[\]=<>-]")
_BYTES_A_LINE = 32


def render(template: str, context: Mapping[str, Any], folder: str = "firmware") -> str:
    """A template of a folder of ``templates``; a name that the context lacks is an error."""
    return _environment().get_template(f"{folder}/{template}.j2").render(context)


def render_html(template: str, **values: Any) -> str:
    """A fragment of HTML from a template such as ``html/summary``; every value is escaped.

    A name that the values lack is an error.
    """
    return _environment().get_template(f"{template}.html.j2").render(values).strip()


def c_string(text: str) -> str:
    """A C string literal for any text, in UTF-8; what is not plain is written in octal."""
    data = text.encode(errors="replace")
    letters = (data[i : i + 1] for i in range(len(data)))
    return '"' + "".join(b.decode() if _PLAIN.match(b) else f"\\{b[0]:03o}" for b in letters) + '"'


def c_comment(text: str) -> str:
    """Text for a comment: one line of printable ASCII that neither ends it nor joins the next."""
    return re.sub(r"[^ -~]|\\|\*/|/\*", "_", text)


def cmake_string(text: str) -> str:
    """A quoted CMake argument for any text."""
    return '"' + re.sub(r'([\\"$])', r"\\\1", text) + '"'


def c_data(data: bytes) -> str:
    """Bytes as lines of octal string literals, which compilers read far faster than numbers."""
    octal = [f"\\{value:03o}" for value in range(256)]
    lines = (data[start : start + _BYTES_A_LINE] for start in range(0, len(data), _BYTES_A_LINE))
    return "\n".join('"' + "".join([octal[value] for value in line]) + '"' for line in lines)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    from pytest_autodeploy.base.resources import resource

    environment = Environment(
        loader=FileSystemLoader(resource("templates")),
        autoescape=select_autoescape(enabled_extensions=("html.j2",)),  # for C see the filters
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "c_string": c_string,
        "c_comment": c_comment,
        "c_data": c_data,
        "cmake_string": cmake_string,
    }
    return environment
