"""What Vela prints: how many operations run where, and why some stay on the CPU."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_autodeploy.base.text import join_lines

_COUNT = re.compile(r"^(CPU|NPU) operators = (\d+) ", re.MULTILINE)
_UNSUPPORTED = re.compile(
    r"^Warning \(supported operators\) operator: ?(?P<name>[^,\n]*?),? ofm: ?(?P<ofm>.*?)\n"
    r"Reason: (?P<reason>.*?)(?=\n\n|\n#|\nWarning|\nCPU performance|\Z)",
    re.MULTILINE | re.DOTALL,
)
_WARNING = re.compile(r"^Warning: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Reason:
    """Why an operator, known by its name and its first output, stays on the CPU."""

    name: str
    output: str
    text: str


def operation_counts(log: str) -> dict[str, int]:
    """Scheduled operations by where they run: ``CPU`` and ``NPU``; empty when not printed."""
    return {where: int(count) for where, count in _COUNT.findall(log)}


def reasons(log: str) -> list[Reason]:
    """The reasons in the order in which Vela printed them."""
    return [
        Reason(found["name"], _unquote(found["ofm"]), _sentence(found["reason"]))
        for found in _UNSUPPORTED.finditer(log)
    ]


def warnings(log: str) -> list[str]:
    """Vela's warnings that are not about one operator, each once."""
    return list(dict.fromkeys(" ".join(text.split()) for text in _WARNING.findall(log)))


def _unquote(name: str) -> str:
    quoted = len(name) > 1 and name.startswith("'") and name.endswith("'")
    return name[1:-1] if quoted else name


def _sentence(reason: str) -> str:
    return join_lines(reason.splitlines())
