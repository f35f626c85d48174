"""What a failed build says: the lines of the compiler or linker that matter, and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_autodeploy.base.errors import AutodeployError, ModelDoesNotFit, ModelError
from pytest_autodeploy.image.errors import BuildError, ToolMissing

NEWLIB = (
    "Its C and C++ libraries are missing. Debian and Ubuntu: apt install "
    "libnewlib-arm-none-eabi libstdc++-arm-none-eabi-newlib"
)
SMALLER = (
    "Give the model a smaller arena (--evb-arena-kb), another memory (--evb-model-memory, "
    "--evb-arena-memory), or use a smaller model."
)

_OVERFLOWS = (
    re.compile(r"region [`'](?P<region>\w+)' overflowed by (?P<over>\d+) bytes?"),  # GNU ld
    re.compile(  # armlink
        r"region (?P<region>\w+) size \((?P<size>\d+) bytes\) "
        r"exceeds limit \((?P<limit>\d+) bytes\)"
    ),
)
_STANDARD_HEADER = re.compile(
    r"fatal error: (cstd\w+|cstring|cinttypes|algorithm|array|new|stdint\.h|string\.h): No such"
)
_TELLING = re.compile(
    r"\berror\b|undefined reference|multiple definition|cannot find|No such file|No rule to make"
    r"|No space left|\*\*\* ",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"^\s*$|ld returned \d+ exit status|^make(\[\d+\])?: \*\*\* (\[|Waiting)|^ninja: build stopped"
)
_LINKER = re.compile(r"^\S*/ld(\.\w+)?: ")
_NO_OPERATOR = re.compile(r"MicroMutableOpResolver<.*has no member named \WAdd(\w+)")
_MOST_LINES = 10
_CONTEXT = 2


def build_failure(what: str, output: str) -> AutodeployError:
    """The error for a tool that failed with this output; ``what`` was being done.

    ModelDoesNotFit when a memory overflowed, ToolMissing when the compiler has no libraries,
    ModelError when TFLM lacks an operator, else BuildError with the telling lines.
    """
    overflows = _overflows(output)
    if overflows:
        return ModelDoesNotFit(f"{what}: {' and '.join(overflows)}", hint=SMALLER)
    if _STANDARD_HEADER.search(output):
        return ToolMissing(f"{what}: the compiler does not find its standard headers", hint=NEWLIB)
    missing = sorted(set(_NO_OPERATOR.findall(output)))
    if missing:
        return ModelError(
            f"{what}: the TFLM tree has no operator {', '.join(missing)}, which the model needs",
            hint="Name a newer tree with --evb-tflm-root.",
        )
    lines = telling_lines(output.splitlines())
    return BuildError("\n    ".join([f"{what} failed:", *lines]))


def _overflows(output: str) -> list[str]:
    """One sentence for each memory that overflowed."""
    over: dict[str, int] = {}
    for pattern in _OVERFLOWS:
        for match in pattern.finditer(output):
            found = match.groupdict()
            over[found["region"]] = int(
                found.get("over") or int(found["size"]) - int(found["limit"])
            )
    return [
        f"the firmware is {size / 1024:,.1f} KB too large for the memory region {region}"
        for region, size in over.items()
    ]


def telling_lines(lines: Sequence[str]) -> list[str]:
    """The lines that say what went wrong, each once, with the lines that explain them.

    The last lines when none is telling.
    """
    told: dict[str, None] = {}
    lines = [_LINKER.sub("", line) for line in lines if not _NOISE.search(line)]
    for index, line in enumerate(lines):
        if _TELLING.search(line):
            context = _CONTEXT if " error: " in line else 0
            told |= dict.fromkeys(lines[index : index + 1 + context])
    chosen = list(told)[:_MOST_LINES]
    return chosen or lines[-_MOST_LINES:] or ["no output"]
