"""What a look at one thing gives: whether it is there, and what to do when it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_autodeploy.image.firmware import BuildOptions

State = Literal["ok", "missing", "trouble"]
"""``missing`` is what nobody needs who does not want it; ``trouble`` is there and does not work."""


@dataclass(frozen=True)
class Check:
    """One thing by its ``name``, what was ``found``, and the ``fix`` to type or to do."""

    name: str
    state: State
    found: str
    fix: str | None = None


Look = Callable[[BuildOptions], Iterable[Check]]
"""Looks at something, with a deadline; the options say where trees and compilers are."""


@dataclass(frozen=True)
class Goal:
    """Something that a user wants to do: ``how`` it is typed, and what it needs."""

    name: str
    title: str
    how: str
    looks: Sequence[Look]

    def check(self, options: BuildOptions) -> list[Check]:
        """Look at everything that the goal needs."""
        return [check for look in self.looks for check in look(options)]


def ready(checks: Sequence[Check]) -> bool:
    """Whether everything that was looked at is there and works."""
    return all(check.state == "ok" for check in checks)


def lacking(checks: Sequence[Check]) -> list[str]:
    """Names of what is missing or does not work, each once."""
    return list(dict.fromkeys(check.name for check in checks if check.state != "ok"))


def as_dict(goal: Goal, checks: Sequence[Check]) -> dict[str, Any]:
    """A goal and its checks as plain values."""
    return {
        "name": goal.name,
        "title": goal.title,
        "how": goal.how,
        "ready": ready(checks),
        "checks": [vars(check) for check in checks],
    }
