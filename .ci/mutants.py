"""Would the tests notice? Mutants of the modules that judge, compare, count and refuse.

``python .ci/mutants.py [--most N] [--seed S] [MODULE]...`` changes one place at a time in a copy of
the checkout (by the operators of cosmic-ray) and runs the tests of that module. What no test
notices is printed with its lines: a test is missing, or the mutant is equivalent. Exit code 1 below
the wanted score.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "pytest_autodeploy"
WANTED = 0.97
TIMEOUT_S = 300

MODULES: Mapping[str, Sequence[str]] = {
    "baseline/compare.py": ("tests/baseline/test_compare.py", "tests/baseline/test_measuring.py"),
    "baseline/layers.py": ("tests/baseline/test_compare.py",),
    "catalog/fit.py": ("tests/catalog/test_boards.py",),
    "deliver/plausible.py": ("tests/deliver/test_hostile_files.py",),
    "limits/outputs.py": ("tests/limits", "tests/baseline/test_compare.py"),
    "limits/memory.py": ("tests/limits", "tests/baseline/test_compare.py"),
    "metrics/metric.py": ("tests/metrics",),
    "metrics/judgement.py": ("tests/metrics",),
    "metrics/accuracy/bounds.py": ("tests/metrics",),
    "metrics/accuracy/compare.py": ("tests/metrics",),
    "model/macs.py": ("tests/model/test_macs.py",),
    "power/checks.py": ("tests/power/test_doubtful.py", "tests/power/test_window.py"),
    "power/tally.py": ("tests/power/test_doubtful.py", "tests/power/test_window.py"),
    "reference/metrics.py": ("tests/reference/test_metrics.py", "tests/reference/test_compare.py"),
    "reference/compare.py": ("tests/reference/test_compare.py",),
    "reference/sides.py": ("tests/reference/test_compare.py",),
    "rpc/framing.py": ("tests/rpc/test_framing.py",),
    "session/arena_search.py": ("tests/session/test_arena_search.py",),
    "session/known_arenas.py": ("tests/session/test_known_arenas.py",),
}
"""The quick tests of each."""

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
    return all(old.startswith("@dataclass") or plain(old) == plain(new) for old, new in lines)


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


def noticed(folder: Path, tests: Sequence[str]) -> bool:
    """Whether the tests fail; one that does not end has noticed, too."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def try_module(folder: Path, name: str, chosen: Sequence[str]) -> int:
    """How many of the mutants of a module are noticed; prints the others."""
    path, killed = folder / PACKAGE / name, 0
    original = path.read_text(encoding="utf-8")
    for changed in chosen:
        path.write_text(changed, encoding="utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()  # its stamp is of whole seconds: that of the mutant before may agree
        if noticed(folder, MODULES[name]):
            killed += 1
        else:
            lines = difflib.unified_diff(
                original.splitlines(), changed.splitlines(), n=0, lineterm=""
            )
            print(f"not noticed in {name}:\n  " + "\n  ".join(list(lines)[2:]), flush=True)
    path.write_text(original, encoding="utf-8")
    return killed


def main() -> int:
    """Try the mutants of all modules, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as power/checks.py")
    parser.add_argument("--most", type=int, help="of each module only so many, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    whole = killed = 0
    with tempfile.TemporaryDirectory() as text:
        folder = copied(Path(text))
        for name in options.modules or MODULES:
            if noticed(folder, MODULES[name]):
                sys.exit(f"the tests of {name} fail without any mutant")
            every = list(mutants((folder / PACKAGE / name).read_text(encoding="utf-8")))
            most = min(options.most or len(every), len(every))
            chosen = random.Random(f"{options.seed}/{name}").sample(every, most)  # noqa: S311
            found = try_module(folder, name, chosen)
            print(f"{name}: {found} of {most} noticed, of {len(every)} mutants", flush=True)
            whole, killed = whole + most, killed + found
    print(f"{killed} of {whole} mutants were noticed: {killed / whole:.1%}")
    return 0 if killed >= WANTED * whole else 1


if __name__ == "__main__":
    sys.exit(main())
