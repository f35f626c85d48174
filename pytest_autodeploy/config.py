"""The settings of a run: one frozen object whose values know where they came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_autodeploy.options import OPTIONS, Option


class SettingError(ValueError):
    """A value of an option or ini key cannot be used; the text names the key and what is valid."""


@dataclass(frozen=True)
class Settings:
    """All settings of a run, by the names in ``OPTIONS``.

    ``sources`` maps each setting that is not at its default to the option or ini key that set it.
    """

    tflite: tuple[str, ...]
    inputs: str | None
    runs: int
    latency_runs: int
    seed: int
    reference: str
    output_tolerance: str | None
    latency_budget: str | None
    memory_limit: str | None
    npu: tuple[str, ...]
    npu_config: str | None
    npu_system_config: str | None
    npu_memory_mode: str | None
    npu_budget: str | None
    no_suite: bool
    evb: tuple[str, ...]
    evb_port: str | None
    evb_clock: str
    evb_arena_kb: int
    evb_timeout: float
    evb_require_hardware: bool
    evb_sim_link: str | None
    cache: str | None
    output: str
    root: Path
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def output_path(self) -> Path:
        """The results folder; a relative one is relative to the folder pytest was started in."""
        return self.root / self.output

    def cache_path(self, default: Callable[[], Path]) -> Path | None:
        """The cache folder; ``default`` gives the user's own, None is none."""
        if self.cache is None:
            return default()
        return None if self.cache == "off" else self.root / self.cache


def resolve(
    option_value: Callable[[str], Any],
    ini_value: Callable[[str], Any],
    root: Path,
) -> Settings:
    """Build the settings: the command line beats the ini file, which beats the default.

    ``option_value`` and ``ini_value`` give None for what is not set. Raises SettingError.
    """
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for option in OPTIONS:
        values[option.name] = option.default
        for raw, origin in (
            (option_value(option.dest), option.flag),
            (ini_value(option.ini_name) if option.ini else None, f"ini {option.ini_name}"),
        ):
            if raw is not None and raw != []:
                values[option.name] = _checked(option, raw, origin)
                sources[option.name] = origin
                break
    return Settings(**values, root=root, sources=sources)


def _checked(option: Option, raw: Any, origin: str) -> Any:
    if option.repeatable:
        return tuple(str(item) for item in raw)
    if option.switch:
        return bool(raw)
    try:
        value = option.convert(str(raw))
    except ValueError as error:
        raise SettingError(f"{origin}: {error}") from None
    if option.choices and value not in option.choices:
        raise SettingError(f"{origin}: {value!r} is not one of {', '.join(option.choices)}")
    return value
