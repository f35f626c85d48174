"""The house stays in order: no module knows too many others, no cycles, no long functions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest_autodeploy

PACKAGE = Path(pytest_autodeploy.__file__).parent
MOST_IMPORTS = 12
LONGEST_FUNCTION = 50


@cache
def modules() -> Mapping[str, ast.Module]:
    """The syntax trees of all modules, by name."""
    return {
        _name(path): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")
    }


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(name: str) -> set[str]:
    """The modules of the package that one imports: lazily and for type checkers, too."""
    found = set()
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(PACKAGE.name):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {each if each in modules() else str(node.module) for each in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules()}
    return found - {name}


def cycles() -> Iterator[tuple[str, ...]]:
    """Modules that import each other, directly or by others."""
    reached: dict[str, set[str]] = {name: imported(name) for name in modules()}
    for middle in modules():
        for name, known in reached.items():
            if middle in known:
                known |= reached[middle] - ({name} if name == middle else set())
    yield from (tuple(sorted(known)) for name, known in reached.items() if name in known)


def test_a_module_imports_few_others() -> None:
    counted = {name: len(imported(name)) for name in modules()}
    assert {name: n for name, n in counted.items() if n > MOST_IMPORTS} == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert list(cycles()) == []


def test_nothing_lies_flat_in_the_package() -> None:
    assert {path.name for path in PACKAGE.iterdir() if path.is_file()} <= {
        "__init__.py",
        "__init__.pyi",
        "py.typed",
    }


def test_no_function_is_long() -> None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    lengths = {
        f"{name}.{node.name}": int(node.end_lineno or 0) - node.lineno + 1
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, functions)
    }
    assert {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION} == {}


ALWAYS_THERE = {"click", "erpc", "numpy", "pytest", "serial"}
"""Packages that every installation has and that a module may need as soon as it is loaded."""


def test_a_module_loads_without_packages_that_need_not_be_there() -> None:
    needed = {
        f"{name} imports {module.partition('.')[0]}"
        for name, tree in modules().items()
        for node in tree.body
        for module in _imported_by(node)
        if module.partition(".")[0] not in {*sys.stdlib_module_names, PACKAGE.name, *ALWAYS_THERE}
    }
    assert needed == set()


def _imported_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [str(node.module)]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
