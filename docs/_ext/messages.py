"""Every message that has a hint, read from the source of the package: what is said, what to do.

Parts that are known only when it happens are shown as an ellipsis.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest_autodeploy
from docs._ext.tables import table

PACKAGE = Path(pytest_autodeploy.__file__).parent
ELLIPSIS = "…"

ROOMS = {
    "model": "Models",
    "reference": "Inputs, labels and the PC's side",
    "settings": "Options and ini keys",
    "limits": "Limits",
    "plugin": "Tests, markers and fixtures",
    "run": "Before and during a run",
    "catalog": "Names of boards",
    "board": "Boards, ports and flashing",
    "rpc": "The link to a board",
    "image": "Building firmware",
    "session": "A model on a board",
    "sim": "Simulated boards",
    "virtual": "Virtual boards",
    "power": "Power meters",
    "metrics": "What was not judged",
    "baseline": "Baselines and histories",
    "npu": "Ethos-U estimates",
    "deliver": "Deliverables",
    "report": "Reports",
    "base": "This PC",
}

Message = tuple[str, str]


@cache
def messages() -> str:
    """Tables of messages and hints, one for each part of the package."""
    usual = _usual_hints()
    parts = [(title, sorted(set(_of_room(room, usual)))) for room, title in ROOMS.items()]
    return "\n".join(_section(title, found) for title, found in parts if found)


def _section(title: str, found: list[Message]) -> str:
    rows = [(f"`` {what.replace('`', chr(39))} ``", _plain(hint)) for what, hint in found]
    return f"### {title}\n\n{table(('message', 'what to do'), rows)}"


def _plain(text: str) -> str:
    """A text in which nothing is Markdown but code."""
    return re.sub(r"([*_\[\]])", r"\\\1", text)


def _of_room(room: str, usual: Mapping[str, str]) -> Iterator[Message]:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        yield from _of_module(_tree(path), usual)


def _of_module(tree: ast.Module, usual: Mapping[str, str]) -> Iterator[Message]:
    constants = _constants(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        given = next((word.value for word in node.keywords if word.arg == "hint"), None)
        hint = _text(given, constants) if given else usual.get(_called(node), "")
        what = _text(node.args[0], constants)
        if hint and len(what.replace(ELLIPSIS, "").split()) > 1:
            yield what, hint if hint.strip(f"{ELLIPSIS} ") else "what the message says"


def _usual_hints() -> Mapping[str, str]:
    """By the name of an error, the hint that it has of itself or of what it is derived from."""
    classes = [
        (node, _constants(tree))
        for tree in map(_tree, sorted(PACKAGE.rglob("*.py")))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    usual: dict[str, str] = {}
    for _ in range(4):  # as deep as errors are derived from each other
        for node, constants in classes:
            own = _constants(node).get("usual_hint")
            bases = [usual[ast.unparse(base)] for base in node.bases if ast.unparse(base) in usual]
            hint = _text(own, constants) if own else next(iter(bases), "")
            if hint:
                usual[node.name] = hint
    return usual


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _constants(node: ast.Module | ast.ClassDef) -> Mapping[str, ast.expr]:
    """What is assigned to a name in the body of a module or a class."""
    found: dict[str, ast.expr] = {}
    for each in node.body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            found[each.targets[0].id] = each.value
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value:
            found[each.target.id] = each.value
    return found


def _text(node: ast.expr, constants: Mapping[str, ast.expr]) -> str:
    """A text as it stands in the source, with an ellipsis for what is put in."""
    if isinstance(node, ast.Constant):
        return "" if node.value is None else str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, constants) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, constants) + _text(node.right, constants)
    if isinstance(node, ast.Name) and isinstance(constants.get(node.id), ast.Constant):
        return _text(constants[node.id], constants)
    return ELLIPSIS
