"""Names of boards as arguments: checked before anything starts, with the name that was meant."""

from __future__ import annotations

import click


def board_name(_: click.Context, param: click.Parameter, value: str) -> str:
    """A board as ``--evb`` takes it: NAME, sim:NAME or qemu:NAME. Raises BadParameter.

    That of a rig is known with its file.
    """
    from pytest_autodeploy.catalog.boards import UnknownBoard
    from pytest_autodeploy.catalog.kinds import BY_NAME, spec_of

    try:
        if not value.startswith(BY_NAME):
            spec_of(value)
    except UnknownBoard as error:
        raise click.BadParameter(str(error), param=param) from None
    return value


def simulated_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A simulated board with or without ``sim:``; gives the catalog's name. Raises BadParameter."""
    from pytest_autodeploy.catalog.kinds import SIMULATED

    prefix = SIMULATED.prefix
    name = value.removeprefix(prefix)
    return board_name(ctx, param, f"{prefix}{name}").removeprefix(prefix)
