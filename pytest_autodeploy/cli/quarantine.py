"""What ``autodeploy boards --quarantine FILE`` prints, and ``--lift NAME`` does."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_autodeploy.cli.command import plain_data, print_json, print_lines


def quarantine_command(file: Path | None, lift: str | None, *, as_json: bool) -> None:
    """Print the boards that are in quarantine; with ``lift``, let runs use one of them again.

    Raises SettingError for a file of others, RigStateError; click.UsageError for a board that is
    not in it.
    """
    from pytest_autodeploy.catalog.rig_state import RigState
    from pytest_autodeploy.run.rescue_check import check_owned_state

    if file is None:
        raise click.UsageError("--lift NAME needs the file: --quarantine FILE")
    state = RigState(file)
    check_owned_state(state, "--quarantine")
    if lift is not None and state.put_back(lift) is None:
        names = ", ".join(state.read()) or "none"
        raise click.UsageError(f"no board {lift!r} is in quarantine in {file}. Boards: {names}")
    left = state.read()
    if as_json:
        print_json({"lifted": lift, "out": {name: plain_data(out) for name, out in left.items()}})
        return
    lifted = [f"{lift} is lifted: runs lease it again."] if lift else []
    lines = [*lifted, *(f"{name}: {out.text}" for name, out in left.items())]
    print_lines(lines or [f"No board is out by {file}."])
