"""Each module of the tests can be imported alone: what they share is in helpers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.helpers.support import ROOT

TESTS = ROOT / "tests"


def imported(path: Path) -> set[str]:
    """The modules that a module imports, inside its functions too."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return plain | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


def own(path: Path) -> str:
    """The package of a module of the tests."""
    return ".".join(("tests", *path.parent.relative_to(TESTS).parts))


def test_modules_of_tests_import_nothing_of_other_rooms_but_helpers() -> None:
    wrong = {
        f"{path.relative_to(TESTS)} imports {name}"
        for path in TESTS.rglob("*.py")
        for name in imported(path)
        if name.startswith("tests.")
        and not f"{name}.".startswith(("tests.helpers.", f"{own(path)}."))
    }

    assert wrong == set()


def test_the_conftest_loads_with_the_extra_sim_alone() -> None:
    """`make demo` runs in the checkout, where pytest loads it."""
    absent = (
        *("pytest_rerunfailures", "xdist", "pytest_timeout", "jsonschema", "prometheus_client"),
        *("tensorflow", "unicorn", "joulescope", "ethosu", "openpyxl", "elftools"),
    )
    forget = f"import sys; sys.modules.update(dict.fromkeys({absent!r})); import tests.conftest"
    subprocess.run([sys.executable, "-c", forget], cwd=TESTS.parent, check=True)
