"""Kinds of boards that installed packages bring, by entry points; none is loaded before its use."""

from __future__ import annotations

import functools
from importlib.metadata import EntryPoint, entry_points

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.catalog.kind import Kind

GROUP = "autodeploy.board_kinds"


class BrokenKind(AutodeployError):
    """A kind of boards of an installed package cannot be used; the text names the package."""


def names() -> tuple[str, ...]:
    """The names of the kinds that packages bring; nothing of them is imported."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


@functools.cache
def plugged(name: str) -> Kind:
    """The kind of that name, imported. Raises BrokenKind."""
    entry, *others = entry_points(group=GROUP, name=name)
    if others:
        all_of_them = " and ".join(sorted({_package(each) for each in (entry, *others)}))
        what = f"the board kind {name!r} comes from {all_of_them}"
        raise BrokenKind(what, hint="Uninstall all but one of them.")
    try:
        kind = entry.load()
    except Exception as error:  # a package may raise anything when it is imported
        raise _broken(entry, f"{type(error).__name__}: {error}") from error
    if not isinstance(kind, Kind):
        raise _broken(entry, f"{entry.value} is a {type(kind).__name__}, not a Kind")
    if kind.prefix != f"{name}:":
        raise _broken(entry, f"its prefix is {kind.prefix!r}, not {name + ':'!r}")
    if kind.make is None:
        raise _broken(entry, f"{entry.value} has no make")
    return kind


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _broken(entry: EntryPoint, why: str) -> BrokenKind:
    return BrokenKind(
        f"the board kind {entry.name!r} of {_package(entry)} cannot be used: {why}",
        hint=f"Update or uninstall the package; it declares {entry.value} in {GROUP}.",
    )
