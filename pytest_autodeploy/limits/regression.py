"""How much worse than its baseline a model may be: the limit that ``no_regression`` declares.

Its keywords are the groups of the other declarations, so a new metric is compared by its own words.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.limits.declaration import OFF, Declaration, Group

LAYERS = "per_layer"
"""The group of the times of layers."""


@dataclass(frozen=True)
class NoRegression:
    """How much worse than its baseline a value may be.

    ``percent`` has a share per group, None for a group that is not compared; ``floors`` the values
    of the keywords for floors. ``asked`` are the groups that were named: these must be judged.
    ``owners`` has the declaration that each group is of.
    """

    groups: Mapping[str, Group]
    percent: Mapping[str, float | None]
    floors: Mapping[str, float]
    owners: Mapping[str, Declaration]
    asked: frozenset[str] = frozenset()

    def suite_test(self, group: str) -> str:
        """The built-in test that measures a group."""
        return self.groups[group].suite_test or self.owners[group].suite_test

    def floor(self, group: str, unit: str, baseline: float) -> float:
        """What a value of a group may be worse by in any case, in its unit."""
        of = self.groups[group]
        return self.floors[of.floor_keyword] if of.floor_keyword else of.floor(unit, baseline)

    def group_of(self, measurement: str) -> str | None:
        """The group of a measurement, None of one that baselines do not keep."""
        return next(
            (name for name, group in self.groups.items() if measurement in group.measurements),
            None,
        )


def regression(declarations: Sequence[Declaration]) -> Declaration:
    """The declaration of ``no_regression`` over the groups of the other ones."""
    groups = {group.name: group for each in declarations for group in each.groups}
    owners = {group.name: each for each in declarations for group in each.groups}
    floors = {g.floor_keyword: g.floor_default for g in groups.values() if g.floor_keyword}

    def no_regression(**keywords: object) -> NoRegression:
        """Declare how much worse than the baseline a model may be."""
        return _limit(groups, floors, owners, keywords)

    no_regression.__signature__ = _signature(groups, floors)  # type: ignore[attr-defined]
    percents = ", ".join(f"{group.name} {group.percent:g} %" for group in groups.values())
    return Declaration(
        name="no_regression",
        signature=no_regression,
        flag="--tflite-no-regression",
        marker_help='worse than the baseline by at most that, such as "5%", or "off" '
        f"(defaults: {percents}); a missing baseline fails",
        option_help="What the built-in tests allow compared with the baseline, such as "
        "latency=5%,arena=0%; a missing baseline fails",
        suite_test="",
        default={},
    )


def _signature(groups: Iterable[str], floors: Mapping[str, float]) -> inspect.Signature:
    defaults = dict.fromkeys(groups, None) | dict(floors)
    return inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in defaults.items()
        ]
    )


def _limit(
    groups: Mapping[str, Group],
    floors: Mapping[str, float],
    owners: Mapping[str, Declaration],
    keywords: Mapping[str, object],
) -> NoRegression:
    percent = {
        name: group.percent if keywords.get(name) is None else _percent(name, keywords[name])
        for name, group in groups.items()
    }
    if all(value is None for value in percent.values()):
        raise ValueError("everything is off: nothing is left to compare")
    given = {name: keywords.get(name, default) for name, default in floors.items()}
    for name, value in given.items():
        check_number(name, value)
    asked = frozenset(name for name in groups if keywords.get(name) and percent[name] is not None)
    chosen = {name: float(str(value)) for name, value in given.items()}
    return NoRegression(groups, percent, chosen, owners, asked)


def _percent(group: str, text: object) -> float | None:
    if not isinstance(text, str):
        raise TypeError(f"{group} must be a percentage such as '5%', or 'off', not {text!r}")
    if text == OFF:
        return None
    number, sign, rest = text.partition("%")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not sign or rest or not math.isfinite(value) or value < 0:
        raise ValueError(f"{group} must be a percentage such as '5%', or 'off', not {text!r}")
    return value
