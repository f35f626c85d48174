"""Would the tests notice? Mutants of the modules that judge, compare, count and refuse.

``python .ci/mutants.py [--most N] [--seed S] [MODULE]...`` changes one place at a time in a copy of
the checkout (by the operators of cosmic-ray) and runs the tests that execute that place, as one run
of all quick tests under coverage has told. What no test notices is printed with its lines: a test
is missing, or the mutant is equivalent. Exit code 1 below the wanted score.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "pytest_autodeploy"
WANTED = 0.97
TIMEOUT_S = 300
MOST_TESTS = 60
"""Of the tests that execute a place, so many that execute least besides."""

_ROOMS: Mapping[str, Sequence[str]] = {
    "baseline": (
        *("compare", "layers", "judgement", "verdict", "regression", "enough", "comparable"),
        *("drift", "part", "layer_profiles"),
    ),
    "limits": (
        *("outputs", "memory", "latency", "energy", "accuracy", "npu", "regression", "tolerance"),
        *("numbers", "declared"),
    ),
    "metrics": (
        *("metric", "judgement", "outputs", "latency", "memory", "energy", "npu", "sensitivity"),
        *("ledger", "run_ledger", "accuracy/bounds", "accuracy/compare"),
    ),
    "reference": ("metrics", "compare", "sides", "agreement", "scores"),
    "report": ("standing", "verdicts"),
    "session": ("arena_search", "known_arenas"),
    "power": ("checks", "tally"),
    "plugin": ("owed",),
    "profile": ("passes",),
    "catalog": ("fit",),
    "deliver": ("plausible",),
    "model": ("macs",),
    "rpc": ("framing",),
}
MODULES = [f"{room}/{name}.py" for room, names in _ROOMS.items() for name in names]

_COMPARISONS = (
    *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt"),
    *("Lt_GtE", "GtE_Lt", "Gt_LtE", "LtE_Gt"),
)
_BINARY = ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Mul_Add", "FloorDiv_Mul", "BitAnd_BitOr")
OPERATORS = (
    *(f"core/ReplaceComparisonOperator_{name}" for name in _COMPARISONS),
    *(f"core/ReplaceBinaryOperator_{name}" for name in _BINARY),
    *("core/ReplaceUnaryOperator_Delete_Not", "core/ReplaceUnaryOperator_USub_UAdd"),
    *("core/AddNot", "core/ReplaceAndWithOr", "core/ReplaceOrWithAnd", "core/NumberReplacer"),
    *("core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue", "core/ReplaceBreakWithContinue"),
)
"""Not among them: what changes annotations alone, and ``is`` for ``==``, which no test can tell."""


def mutants(source: str) -> Iterator[str]:
    """Every change of a module, each in a text of its own."""
    tree = get_ast(source)
    for name in OPERATORS:
        places = [
            place
            for node in ast_nodes(tree)
            for place in get_operator(name)().mutation_positions(node)
        ]
        for number in range(len(places)):
            changed = mutate_code(source, get_operator(name)(), number)
            if changed is not None and not _cosmetic(source, changed):
                yield changed


def _cosmetic(source: str, changed: str) -> bool:
    """Whether nothing changed that runs: frozen dataclasses, signatures and strict are asserts."""

    def plain(line: str) -> str:
        return line.replace("*,", "/,").replace("strict=False", "strict=True")

    lines = zip(source.splitlines(), changed.splitlines(), strict=False)
    return all(
        old.startswith(("@dataclass", "if TYPE_CHECKING")) or plain(old) == plain(new)
        for old, new in lines
    )


def copied(folder: Path) -> Path:
    """What of the checkout is under version control, as it is now."""
    names = subprocess.run(
        [shutil.which("git") or "git", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


@dataclass(frozen=True)
class Covered:
    """Which tests execute a line, those first that execute little else."""

    by_line: Mapping[str, Mapping[int, Sequence[str]]]
    breadth: Mapping[str, int]

    def tests(self, name: str, lines: Sequence[int]) -> list[str]:
        """The tests of lines of a module; of what runs at import, those of the room, too."""
        by_line = self.by_line.get(name, {})
        found = {test for line in lines for test in by_line.get(line, ())}
        if found:
            return self._narrow(found)
        room, _, _ = name.partition("/")
        every = {test for tests in by_line.values() for test in tests}
        return [f"tests/{room}", *self._narrow(every)]

    def _narrow(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.breadth[test], test))[:MOST_TESTS]


def cover(folder: Path) -> None:
    """Run all quick tests; leaves ``.coverage`` in the folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
    command += ["-m", "not slow", f"--cov={PACKAGE}"]
    command += ["--cov-context=test", "--cov-report=", "tests"]
    subprocess.run(command, cwd=folder, env=os.environ | _environment(folder), check=True)


def read_covered(file: Path) -> Covered:
    """What a run of the tests has executed."""
    data = CoverageData(str(file))
    data.read()
    by_line: dict[str, dict[int, list[str]]] = {}
    breadth: Counter[str] = Counter()
    for path in data.measured_files():
        _, _, name = path.rpartition(f"/{PACKAGE}/")
        lines = by_line.setdefault(name, {})
        for line, contexts in data.contexts_by_lineno(path).items():
            lines[line] = sorted({each.rpartition("|")[0] for each in contexts if each})
            breadth.update(lines[line])
    return Covered(by_line, breadth)


def _environment(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


def noticed(folder: Path, tests: Sequence[str]) -> bool:
    """Whether the tests fail; one that does not end has noticed, too."""
    if not tests:
        return False
    child = os.fork()  # what tests import besides the package is there already
    if not child:
        _run_tests(folder, tests)
    ends = time.monotonic() + TIMEOUT_S
    while time.monotonic() < ends:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status != 0
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def _run_tests(folder: Path, tests: Sequence[str]) -> None:
    import pytest

    os.setsid()
    os.chdir(folder)
    os.environ.update(_environment(folder))
    sys.path.insert(0, str(folder))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    code = 1
    try:
        code = pytest.main(["-q", "-x", "-m", "not slow", *tests])
    finally:
        os._exit(code)


def try_module(folder: Path, name: str, chosen: Sequence[str], covered: Covered) -> int:
    """How many of the mutants of a module are noticed; prints the others."""
    path, killed = folder / PACKAGE / name, 0
    original = path.read_text(encoding="utf-8")
    for changed in chosen:
        path.write_text(changed, encoding="utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()  # its stamp is of whole seconds: that of the mutant before may agree
        tests = covered.tests(name, changed_lines(original, changed))
        if noticed(folder, tests):
            killed += 1
        else:
            lines = difflib.unified_diff(
                original.splitlines(), changed.splitlines(), n=0, lineterm=""
            )
            about = f"{name} (by {len(tests)} tests)"
            print(f"not noticed in {about}:\n  " + "\n  ".join(list(lines)[2:]), flush=True)
    path.write_text(original, encoding="utf-8")
    return killed


def changed_lines(original: str, changed: str) -> list[int]:
    """The numbers, from 1, of the lines of the original that differ."""
    both = difflib.SequenceMatcher(None, original.splitlines(), changed.splitlines())
    return [
        number + 1
        for kind, start, end, _, _ in both.get_opcodes()
        if kind != "equal"
        for number in range(start, end)
    ]


def main() -> int:
    """Try the mutants of all modules, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as power/checks.py")
    parser.add_argument("--most", type=int, help="of each module only so many, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--covered", type=Path, help="the .coverage of an earlier run; kept here")
    options = parser.parse_args()
    whole = killed = 0
    with tempfile.TemporaryDirectory() as text:
        folder = copied(Path(text))
        file = options.covered or folder / ".coverage"
        if not file.exists():
            cover(folder)
            if options.covered:
                shutil.copyfile(folder / ".coverage", file)
        covered = read_covered(file)
        _import_what_tests_need()
        for name in options.modules or MODULES:
            original = (folder / PACKAGE / name).read_text(encoding="utf-8")
            if noticed(folder, covered.tests(name, ())[1:6]):
                sys.exit(f"the tests of {name} fail without any mutant")
            every = list(mutants(original))
            most = min(options.most or len(every), len(every))
            chosen = random.Random(f"{options.seed}/{name}").sample(every, most)  # noqa: S311
            found = try_module(folder, name, chosen, covered)
            print(f"{name}: {found} of {most} noticed, of {len(every)} mutants", flush=True)
            whole, killed = whole + most, killed + found
    print(f"{killed} of {whole} mutants were noticed: {killed / whole:.1%}")
    return 0 if killed >= WANTED * whole else 1


def _import_what_tests_need() -> None:
    for name in ("ai_edge_litert.interpreter", "jinja2", "msgspec", "numpy", "pytest", "serial"):
        importlib.import_module(name)


if __name__ == "__main__":
    sys.exit(main())
