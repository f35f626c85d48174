"""All rows of a board, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.run.commission import clock_checks, link_checks, model_checks, power_checks
from pytest_autodeploy.run.commission.rig import Effort, Rig
from pytest_autodeploy.run.commission.rows import RED, Row

if TYPE_CHECKING:
    from pytest_autodeploy.base.progress import Progress
    from pytest_autodeploy.settings.settings import Settings

CHECKS = (
    *link_checks.CHECKS,
    *clock_checks.CHECKS,
    *model_checks.CHECKS,
    *power_checks.CHECKS,
    *model_checks.PLACES,
)


@dataclass(frozen=True)
class Commissioning:
    """The rows of a board; ``date`` is ISO 8601, ``serial`` that of the probe, if there is one."""

    board: str
    date: str
    rows: tuple[Row, ...]
    source: str = ""
    serial: str = ""
    build_id: str = ""
    effort: Effort = field(default_factory=Effort)

    @property
    def green(self) -> bool:
        """Whether nothing failed, and nothing was left open that has sense on this board."""
        return not any(row.verdict in RED for row in self.rows)

    def plain(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**asdict(self), "green": self.green}


def commission(
    settings: Settings,
    effort: Effort,
    progress: Progress,
    *,
    options: Mapping[str, Any] | None = None,
    recordings: Path | None = None,
    on_row: Callable[[Row], None] = lambda _row: None,
) -> Commissioning:
    """Make all checks of the board of ``settings``; ``on_row`` is told each row as it is known.

    What the board answers is recorded into the folder ``recordings``.
    """
    date = datetime.now(UTC).isoformat(timespec="seconds")
    chosen = replace(settings, evb_record=str(recordings)) if recordings else settings
    rows = []
    with Rig(chosen, effort, progress, options) as rig:
        facts: dict[str, str] = {}
        for number, check in enumerate(CHECKS):
            progress("row", number, len(CHECKS))
            rows.append(check.row(rig))
            facts = facts or _facts(rig)
            on_row(rows[-1])
    return Commissioning(settings.evb[0], date, tuple(rows), effort=effort, **facts)


def _facts(rig: Rig) -> dict[str, str]:
    """What the board says of itself, once it has said it."""
    session = rig.opened
    if session is None or not session.known:
        return {}
    return {
        "source": session.source,
        "serial": getattr(session.board, "serial", None) or "",
        "build_id": session.identity.build_id,
    }
