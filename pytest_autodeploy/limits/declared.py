"""From what is written at several places to the limits of a test.

Places are levels, the closest first: a test's own markers, those of its class and module, then the
command line, then the ini file. Keywords that say *which* limit make limits different; keywords
that say *how much* are merged, of each the closest counts. ``"off"`` takes away what farther levels
declare. The same keyword of the same limit twice on one level is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_autodeploy.limits.declaration import OFF, Declaration, LimitError

Key = tuple[object, ...]
"""Which limit of a declaration: the values of its ``which`` keywords."""


@dataclass(frozen=True)
class Written:
    """A limit as written at one place, of which ``level`` 0 is the closest to the test."""

    declaration: Declaration
    keywords: Mapping[str, Any]
    origin: str
    level: int = 0
    off: bool = False

    @property
    def key(self) -> Key:
        """Which limit it is."""
        known = self.declaration.keywords
        return tuple(
            self.keywords.get(name, known[name].default) for name in self.declaration.which
        )

    @property
    def text(self) -> str:
        """The limit as a user writes it."""
        return _text(self.declaration, self.keywords, off=self.off)

    def covers(self, other: Written) -> bool:
        """Whether an ``off`` is about another limit: all, or those that its keywords name."""
        return all(
            name not in self.keywords or mine == theirs
            for name, mine, theirs in zip(self.declaration.which, self.key, other.key, strict=True)
        )


@dataclass(frozen=True)
class Declared:
    """A limit that a test has.

    ``text`` is as written, ``origin`` says where: ``marker``, the option, the ini key,
    ``default``, or several of them. ``keywords`` are those that somebody wrote.
    """

    declaration: Declaration
    limit: Any
    text: str
    origin: str
    keywords: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the declaration."""
        return self.declaration.name

    @property
    def by_marker(self) -> bool:
        """Whether the test itself declares it."""
        return self.origin.startswith("marker")


def written(
    declaration: Declaration,
    args: Sequence[object],
    keywords: Mapping[str, Any],
    origin: str,
    level: int = 0,
) -> Written:
    """What a marker's arguments say. Raises LimitError for keywords that there are not."""
    off = tuple(args) == (OFF,)
    result = Written(declaration, dict(keywords), origin, level, off=off)
    unknown = set(keywords) - set(declaration.which if off else declaration.keywords)
    if args and not off:
        shown = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in keywords.items())])
        reason = f"takes keywords only, or {OFF!r}"
        raise LimitError(f"{origin} {declaration.name}({shown}): {reason}; use {declaration.usage}")
    if unknown:
        reason = f"got an unexpected keyword argument {sorted(unknown)[0]!r}"
        raise LimitError(f"{origin} {result.text}: {reason}; use {declaration.usage}")
    return result


def written_text(
    declaration: Declaration, text: str, origin: str, level: int = 0
) -> tuple[Written, ...]:
    """What text such as ``ms=25,statistic=p95`` says; ``;`` or a new line begins another limit.

    Raises LimitError.
    """
    parts = [part for part in re.split(r"[;\n]", text) if part.strip()]
    return tuple(_one(declaration, part, origin, level) for part in parts or [text])


def _one(declaration: Declaration, text: str, origin: str, level: int) -> Written:
    keywords: dict[str, Any] = {}
    args: list[str] = []
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if part.strip() == OFF:
            args.append(OFF)
        elif not equals or not key.strip() or key.strip() in keywords:
            raise LimitError(f"{origin} {text!r}: use KEY=VALUE,... as in {declaration.usage}")
        else:
            keywords[key.strip()] = _number_or_text(value.strip())
    return written(declaration, args, keywords, origin, level)


def merge(every: Iterable[Written]) -> list[Declared]:
    """The limits that hold, of one declaration or of several. Raises LimitError."""
    ordered = sorted(every, key=lambda each: each.level)
    _refuse_twice(ordered)
    by_key: dict[tuple[str, Key], list[Written]] = {}
    offs: list[Written] = []
    for each in ordered:
        if each.off:
            offs.append(each)
        elif not any(_takes_away(off, each) for off in offs):
            by_key.setdefault((each.declaration.name, each.key), []).append(each)
    return [_declared(same) for same in by_key.values()]


def declare(declaration: Declaration, origin: str = "marker", **keywords: Any) -> Declared:
    """One limit, written at one place. Raises LimitError."""
    return _declared([written(declaration, (), keywords, origin)])


def declare_text(declaration: Declaration, text: str, origin: str) -> Declared:
    """As `declare`, from text."""
    return _declared([*written_text(declaration, text, origin)])


def _takes_away(off: Written, other: Written) -> bool:
    return off.declaration is other.declaration and off.level < other.level and off.covers(other)


def _refuse_twice(every: Sequence[Written]) -> None:
    seen: dict[tuple[object, ...], Written] = {}
    for each in every:
        names = [OFF] if each.off else [k for k in each.keywords if k not in each.declaration.which]
        for name in names:
            place = (each.level, each.declaration.name, each.key, _unit(each.declaration, name))
            first = seen.setdefault(place, each)
            if first is not each:
                raise LimitError(
                    f"{each.origin} {each.text}: {first.text} is declared at the same place; "
                    "keep one of them"
                )


def _unit(declaration: Declaration, name: str) -> tuple[str, ...]:
    """A keyword and those that say the same in another unit."""
    return next((names for names in declaration.alternatives if name in names), (name,))


def _declared(same: Sequence[Written]) -> Declared:
    """One limit of what several levels say of it, the closest first."""
    declaration = same[0].declaration
    keywords: dict[str, Any] = {}
    taken: set[tuple[str, ...]] = set()
    for each in same:
        new = {k: v for k, v in each.keywords.items() if _unit(declaration, k) not in taken}
        keywords |= new
        taken |= {_unit(declaration, name) for name in new}
    origin = " and ".join(dict.fromkeys(each.origin for each in same))
    text = _text(declaration, keywords)
    try:
        limit = declaration.signature(**keywords)
    except (TypeError, ValueError) as error:
        reason = str(error).replace(f"{declaration.name}() ", "")
        raise LimitError(f"{origin} {text}: {reason}; use {declaration.usage}") from None
    return Declared(declaration, limit, text, origin, keywords)


def _text(declaration: Declaration, keywords: Mapping[str, Any], *, off: bool = False) -> str:
    shown = [*([repr(OFF)] if off else []), *(f"{k}={v!r}" for k, v in keywords.items())]
    return f"{declaration.name}({', '.join(shown)})"


def _number_or_text(text: str) -> float | str | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
