"""``autodeploy doctor``: what this PC has, what is missing, and what to type to get it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.catalog.kinds import KINDS
from pytest_autodeploy.cli.command import TROUBLE, json_option, print_json, print_lines
from pytest_autodeploy.cli.rig import rig_option
from pytest_autodeploy.cli.settings import TREES, setting_options, settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.doctor.check import Check, Goal

GOAL_NAMES = (
    "installation",
    *(kind.goal_name for kind in KINDS if kind.needs),
    *("energy", "estimates", "keras"),
)

RIG = "rig"
"""The goal of a rig file, where there is one."""


@click.command(short_help="Say what is missing on this PC, and how to get it.")
@click.argument("goals", nargs=-1, metavar="[GOAL]...", type=click.Choice((*GOAL_NAMES, RIG)))
@setting_options(*TREES)
@rig_option
@json_option
@click.pass_context
def doctor(
    ctx: click.Context,
    /,
    goals: tuple[str, ...],
    as_json: bool,
    rig: Path | None,
    **trees: str | None,
) -> None:
    """Look at everything that this PC needs to run models, and give the fix for what is missing.

    GOAL is what is to be done: installation, simulated, emulated, evb, energy, estimates, keras
    or rig, which looks at each board of --rig (default: all). What is missing is no trouble unless
    its goal is named.

    JSON: goals[] with name, title, how (what to type), ready, checks[]; each check has name, state
    (ok, missing or trouble), found, fix. And healthy, which is what the exit code says.
    """
    from pytest_autodeploy.board.order import build_options
    from pytest_autodeploy.doctor.check import as_dict

    options = build_options(settings_of(trees), None)
    results: list[tuple[Goal, list[Check]]] = []
    for goal in (*_chosen(goals), *_rig(rig, goals)):
        checks = goal.check(options)
        results.append((goal, checks))
        if not as_json:
            print_lines([*_lines(goal, checks), ""])
    bad = ("missing", "trouble") if goals else ("trouble",)
    healthy = all(check.state not in bad for _, checks in results for check in checks)
    if as_json:
        found: list[dict[str, Any]] = [as_dict(goal, checks) for goal, checks in results]
        print_json({"healthy": healthy, "goals": found})
    ctx.exit(0 if healthy else TROUBLE)


def _chosen(names: Sequence[str]) -> list[Goal]:
    from pytest_autodeploy.doctor.goals import GOALS

    return [goal for goal in GOALS if goal.name in names or not names]


def _rig(path: Path | None, names: Sequence[str]) -> list[Goal]:
    """The goal of a rig file, where one is given and no other goal is named."""
    if path is None and RIG in names:
        raise click.UsageError("give the rig file: --rig FILE, or $AUTODEPLOY_RIG")
    if path is None or (names and RIG not in names):
        return []
    from pytest_autodeploy.board.pool import Pool
    from pytest_autodeploy.catalog.rig import read_rig
    from pytest_autodeploy.doctor.rig import rig_goal

    return [rig_goal(Pool(read_rig(path)))]


def _lines(goal: Goal, checks: Sequence[Check]) -> Iterator[str]:
    from pytest_autodeploy.doctor.check import lacking

    needs = lacking(checks)
    state = f"not ready, lacks {', '.join(needs)}" if needs else "ready"
    yield f"{goal.title}: {state}"
    yield f"  {goal.how}"
    width = max(len(check.name) for check in checks)
    for check in checks:
        yield f"  {check.state:<7}  {check.name:<{width}}  {check.found}"
        for number, line in enumerate((check.fix or "").splitlines()):
            yield f"  {'fix:' if number == 0 else '':>{11 + width}} {line}"
