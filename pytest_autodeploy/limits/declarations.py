"""Limits that a test declares."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.limits.accuracy import AccuracyLimit, accuracy
from pytest_autodeploy.limits.npu import NpuBudget, npu_budget
from pytest_autodeploy.limits.regression import NoRegression, no_regression
from pytest_autodeploy.limits.tolerance import Tolerance

Statistic = Literal["median", "p95", "max", "first"]
Mode = Literal["HP", "LP"]


class LimitError(AutodeployError, ValueError):
    """A limit was declared wrongly; the text shows the signature."""


@dataclass(frozen=True)
class LatencyBudget:
    """The longest that one inference may take, in microseconds."""

    us: float
    statistic: Statistic = "median"


@dataclass(frozen=True)
class MemoryLimit:
    """The most bytes of arena and of model file."""

    arena_bytes: float | None = None
    model_bytes: float | None = None


@dataclass(frozen=True)
class EnergyLimit:
    """The most energy of one inference, in microjoules, in a clock mode."""

    uj: float
    mode: Mode = "HP"


@dataclass(frozen=True)
class PowerLimit:
    """The most mean power while inferences run, in milliwatts, in a clock mode."""

    mw: float
    mode: Mode = "HP"


Limit = (
    Tolerance
    | LatencyBudget
    | MemoryLimit
    | EnergyLimit
    | PowerLimit
    | AccuracyLimit
    | NpuBudget
    | NoRegression
)


def output_tolerance(
    *,
    lsb: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    reference: str = "auto",
) -> Tolerance:
    """Declare how far outputs may differ from the PC's."""
    for name, value in (("lsb", lsb), ("atol", atol), ("rtol", rtol)):
        _check_number(name, value, zero=True)
    return Tolerance(lsb, atol, rtol, reference)


def latency_budget(
    *, ms: float | None = None, us: float | None = None, statistic: Statistic = "median"
) -> LatencyBudget:
    """Declare the longest that one inference may take."""
    _check_number("ms", ms)
    _check_number("us", us)
    _check_choice("statistic", statistic, ("median", "p95", "max", "first"))
    if (ms is None) == (us is None):
        raise ValueError("give either ms or us")
    return LatencyBudget(us if us is not None else 1e3 * (ms or 0), statistic)


def memory_limit(*, arena_kb: float | None = None, model_kb: float | None = None) -> MemoryLimit:
    """Declare the most arena and model size; 1 KB is 1024 bytes."""
    _check_number("arena_kb", arena_kb)
    _check_number("model_kb", model_kb)
    if arena_kb is None and model_kb is None:
        raise ValueError("give arena_kb, model_kb or both")
    return MemoryLimit(
        None if arena_kb is None else 1024 * arena_kb,
        None if model_kb is None else 1024 * model_kb,
    )


def energy_limit(*, uj: float, mode: Mode = "HP") -> EnergyLimit:
    """Declare the most energy of one inference."""
    _check_number("uj", uj)
    _check_choice("mode", mode, ("HP", "LP"))
    return EnergyLimit(uj, mode)


def power_limit(*, mw: float, mode: Mode = "HP") -> PowerLimit:
    """Declare the most mean power while inferences run."""
    _check_number("mw", mw)
    _check_choice("mode", mode, ("HP", "LP"))
    return PowerLimit(mw, mode)


DECLARATIONS: Mapping[str, Callable[..., Limit]] = {
    "output_tolerance": output_tolerance,
    "latency_budget": latency_budget,
    "memory_limit": memory_limit,
    "energy_limit": energy_limit,
    "power_limit": power_limit,
    "accuracy": accuracy,
    "npu_budget": npu_budget,
    "no_regression": no_regression,
}


SETTABLE = (
    "output_tolerance",
    "latency_budget",
    "memory_limit",
    "energy_limit",
    "power_limit",
    "accuracy",
    "npu_budget",
    "no_regression",
)
"""Those that can also be set by an option and an ini key of their name."""


@dataclass(frozen=True)
class Declared:
    """A limit as declared: ``words`` as written, ``origin`` marker, ini, option or default."""

    limit: Limit
    words: str
    origin: str


def declare(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], origin: str) -> Declared:
    """Make the limit ``name`` from a marker's arguments. Raises LimitError."""
    words = f"{name}({', '.join([*map(repr, args), *(f'{k}={v!r}' for k, v in kwargs.items())])})"
    declaration = DECLARATIONS[name]
    try:
        limit = declaration(*args, **kwargs)
    except (TypeError, ValueError) as error:
        reason = str(error).replace(f"{name}() ", "")
        raise LimitError(f"{origin} {words}: {reason}; use {signature(name)}") from None
    return Declared(limit, words, origin)


def declare_text(name: str, text: str, origin: str) -> Declared:
    """Make the limit ``name`` from text such as ``ms=25,statistic=p95``. Raises LimitError."""
    kwargs: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise LimitError(f"{origin} {text!r}: use KEY=VALUE,... as in {signature(name)}")
        kwargs[key.strip()] = _number_or_text(value.strip())
    return declare(name, (), kwargs, origin)


def setting_texts(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The limits that a setting declares: none, one, or one each of several clock modes."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def limit_key(name: str, limit: Limit) -> str:
    """What at most one limit of a test has: its name, and its clock mode."""
    mode = getattr(limit, "mode", None)
    return f"{name}:{mode}" if mode else name


def signature(name: str) -> str:
    """The signature of a limit as a user writes it, such as ``latency_budget(ms=, us=)``."""
    parameters = inspect.signature(DECLARATIONS[name]).parameters.values()
    parts = (
        f"{p.name}="
        if any(p.default is nothing for nothing in (p.empty, None, False))
        else f"{p.name}={p.default!r}"
        for p in parameters
    )
    return f"{name}({', '.join(parts)})"


def _number_or_text(text: str) -> float | str | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _check_number(name: str, value: object, *, zero: bool = False) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not math.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise ValueError(f"{name} must be {'at least' if zero else 'above'} 0, not {value!r}")


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        valid = ", ".join(str(choice) for choice in choices if choice is not None)
        raise ValueError(f"{name}={value!r} is not one of {valid}")
