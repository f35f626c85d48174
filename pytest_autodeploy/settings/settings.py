"""The settings of a run: one frozen object whose values know where they came from."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.catalog.kinds import BY_NAME
from pytest_autodeploy.settings.deliver_options import ALL, ARTIFACTS
from pytest_autodeploy.settings.option import Option

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.reserve import Reserve
    from pytest_autodeploy.catalog.rig import Rig
    from pytest_autodeploy.catalog.rig_state import RigState

PATHS = (
    "tflite",
    "inputs",
    "labels",
    "npu_config",
    "evb_sdk",
    "evb_tflm_root",
    "cache",
    "output",
    "history",
    "summary",
    "artifacts_from",
    "result_log",
    "openmetrics",
    "keep_profiles",
    "evb_keep_build",
    "evb_image",
    "evb_record",
    "evb_rig",
    "evb_quarantine",
)
"""Settings that are paths. Those of the command line start at the folder pytest was started in."""

OWN_BOARD = ("evb_port", "evb_probe")
"""Settings that say of the one board of a run what a rig would."""


class SettingError(AutodeployError, ValueError):
    """A value of an option or ini key cannot be used; the text names the key and what is valid."""


class LimitText(NamedTuple):
    """A limit as text, and the option or ini key that it came from."""

    text: str
    origin: str


@dataclass(frozen=True)
class Settings:
    """All settings of a run, by the names of their options.

    ``sources`` maps each setting that is not at its default to the option or ini key that set it.
    ``limits`` has the texts that declare limits, by the name of the limit, the command line first.
    """

    tflite: tuple[str, ...]
    inputs: str | None
    labels: str | None
    state: str
    runs: int
    latency_runs: int
    profile: str
    seed: int
    reference: str
    npu: tuple[str, ...]
    npu_config: str | None
    npu_system_config: str | None
    npu_memory_mode: str | None
    npu_core: str
    no_suite: bool
    evb: tuple[str, ...]
    evb_port: str | None
    evb_rig: str | None
    evb_dialect: Literal["auto", "own", "stock"]
    evb_require_proof: bool
    evb_probe: str | None
    evb_wait: float
    evb_labgrid_client: str | None
    evb_flash_tool: str
    evb_sdk: str | None
    evb_tflm_root: str | None
    evb_toolchain: str | None
    evb_transport: str | None
    evb_model_memory: str | None
    evb_arena_memory: str | None
    evb_tflm_memory: str
    evb_reserve: tuple[tuple[str, Reserve], ...]
    evb_arena_padding: int
    evb_ambiqsuite: str | None
    evb_keep_build: str | None
    evb_image: str | None
    evb_image_licence_ok: bool
    evb_gdb: int
    evb_clock: str
    evb_counters: tuple[str, ...]
    evb_dwt_counters: str
    evb_arena_kb: int
    evb_timeout: float
    evb_require_hardware: bool
    evb_commissioned: str | None
    evb_second_chance: Literal["auto", "on", "off"]
    evb_quarantine: str | None
    evb_record: str | None
    evb_sim_link: str | None
    cache: str | None
    output: str
    compare: bool
    unjudged: str
    baselines: str
    update_baseline: str | None
    baseline_against: str | None
    baseline_runs: int
    compare_runs: int
    compare_time: float
    history: str | None
    history_keep: int
    summary: str | None
    name: str | None
    run_id: str | None
    result_log: str | None
    openmetrics: str | None
    trace: str | None
    keep_profiles: str | None
    xlsx: bool
    artifacts: tuple[str, ...]
    artifacts_from: str | None
    explain: str
    search_inputs: bool
    sensitivity: bool
    sensitivity_time: float
    power: str | None
    power_window: float
    power_repeats: int
    power_runs: int
    power_modes: str
    power_link: str
    save_capture: bool
    check_wiring: bool
    root: Path
    rootdir: Path
    sources: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, tuple[LimitText, ...]] = field(default_factory=dict)

    @functools.cached_property
    def rig(self) -> Rig | None:
        """The boards of the rig file, if there is one and no other option says where the board is.

        Raises RigError.
        """
        if self.evb_rig is None or any(getattr(self, name) is not None for name in OWN_BOARD):
            return None
        from pytest_autodeploy.settings.rig import load_rig

        path, origin = self.root / self.evb_rig, self.sources["evb_rig"]
        return load_rig(path, self.root, self.rootdir, origin)

    def is_there(self, board_id: str) -> bool:
        """Whether a board is there before the run, which does not start it."""
        return self.evb_port is not None or bool(self.rig and self.rig.of(board_id))

    def attaches(self, board_id: str) -> bool:
        """Whether a board runs its model before the run, which does not flash it."""
        if self.evb_port is not None:
            return self.evb_probe is None
        boards = self.rig.of(board_id) if self.rig else ()
        return any(board.attached for board in boards)

    @property
    def quarantine(self) -> RigState | None:
        """The boards that runs have taken out until somebody lifts them, if there is a file."""
        if self.evb_quarantine is None:
            return None
        from pytest_autodeploy.catalog.rig_state import RigState

        return RigState(self.root / self.evb_quarantine)

    def board_id(self, typed: str) -> str:
        """The id of a board that a user typed: ``name:lab3-a`` is ``apollo4p_evb@lab3-a``.

        Raises RigError, UnknownRigBoard.
        """
        from pytest_autodeploy.settings.rig import id_of

        return id_of(typed, self.rig)

    @property
    def inputs_path(self) -> Path | None:
        """The file of ``--tflite-inputs``; a relative one starts at the start folder."""
        return self.root / self.inputs if self.inputs else None

    @property
    def output_path(self) -> Path:
        """The results folder; a relative one is relative to the folder pytest was started in."""
        return self.root / self.output

    @property
    def baselines_path(self) -> Path:
        """The folder of baselines; it belongs to the project, so it starts at the root folder.

        Only what is typed is relative to the folder pytest was started in.
        """
        typed = self.sources.get("baselines", "").startswith("--")
        folder = (self.root if typed else self.rootdir) / self.baselines
        return folder / named_folder(self.baseline_against) if self.baseline_against else folder

    def against_path(self, path: str, origin: str) -> Path:
        """The model that an accuracy limit names; that of the ini starts at the root folder."""
        return (self.root if origin.startswith("--") else self.rootdir) / path

    @property
    def may_skip_unjudged(self) -> bool:
        """Whether tests whose limits cannot be judged here, for want of a meter, are skipped.

        A run that is a gate, by asking for hardware or for baselines, does not.
        """
        return self.unjudged == "skip" and not (self.evb_require_hardware or self.compares)

    @property
    def compares(self) -> bool:
        """Whether a missing baseline is a failure: it was asked for, or for baselines by name."""
        named = self.baseline_against is not None and self.update_baseline is None
        return self.compare or named

    @property
    def history_path(self) -> Path | None:
        """The history file, if there is one."""
        return self.root / self.history if self.history else None

    @property
    def artifacts_to_make(self) -> tuple[str, ...]:
        """The artifacts that are made, as far as they can be."""
        return ARTIFACTS if ALL in self.artifacts else self.artifacts

    @property
    def artifacts_owed(self) -> tuple[str, ...]:
        """Those that were typed by name: it is a failure when they cannot be made."""
        typed = self.sources.get("artifacts", "").startswith("--")
        return tuple(name for name in self.artifacts if typed and name != ALL)

    @property
    def over_pins(self) -> bool:
        """Whether energy is measured of the power application, which has no RPC."""
        return self.power_link == "pins"

    @property
    def energy_modes(self) -> tuple[str, ...]:
        """The clock modes whose energy the built-in test measures, the fastest first."""
        return ("HP", "LP") if self.power_modes == "both" else (self.power_modes,)

    @property
    def profiled(self) -> tuple[Literal["first", "warm"], ...]:
        """The inferences whose layers are profiled; the last is the one that reports begin with."""
        if self.profile == "both":
            return ("first", "warm")
        return ("first",) if self.profile == "first" else ("warm",)

    @property
    def artifacts_from_path(self) -> Path | None:
        """The folder of a characterisation that artifacts are made from, if there is one."""
        return self.root / self.artifacts_from if self.artifacts_from else None

    def cache_path(self, default: Callable[[], Path]) -> Path | None:
        """The cache folder; ``default`` gives the user's own, None is none."""
        if self.cache is None:
            return default()
        return None if self.cache == "off" else self.root / self.cache


def named_folder(name: str) -> str:
    """The folder of named baselines among the baselines."""
    return f"@{name}"


def resolve(
    options: Iterable[Option],
    option_value: Callable[[str], Any],
    ini_value: Callable[[str], Any],
    root: Path,
    rootdir: Path | None = None,
) -> Settings:
    """Build the settings: the command line beats the ini file, which beats the default.

    Limits are kept from both. ``option_value`` and ``ini_value`` give None for what is not set;
    ``root`` is the folder pytest was started in, ``rootdir`` pytest's root folder. Raises
    SettingError.
    """
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    limits: dict[str, tuple[LimitText, ...]] = {}
    for option in options:
        given = [
            (raw, origin)
            for raw, origin in (
                (option_value(option.dest), option.flag),
                (ini_value(option.ini_name) if option.ini else None, f"ini {option.ini_name}"),
            )
            if raw is not None and raw != []
        ]
        if not given and option.env and (text := os.environ.get(option.env)):
            given = [(text, f"${option.env}")]
        if given:
            sources[option.name] = given[0][1]
        if option.limit:
            if given:
                limits[option.name] = tuple(_texts(given))
            continue
        values[option.name] = _value(option, *given[0], rootdir) if given else option.default
    values |= {"root": root, "rootdir": rootdir or root}
    return _named(Settings(**values, sources=sources, limits=limits))


def _named(settings: Settings) -> Settings:
    """The same, with the ids of boards that were named by their name in the rig."""
    if not any(typed.startswith(BY_NAME) for typed in settings.evb):
        return settings
    try:
        return replace(settings, evb=tuple(map(settings.board_id, settings.evb)))
    except AutodeployError as error:
        raise SettingError(error.what, hint=error.hint) from None


def _texts(given: Iterable[tuple[Any, str]]) -> Iterator[LimitText]:
    for raw, origin in given:
        for text in [raw] if isinstance(raw, str) else raw:
            yield LimitText(str(text), origin)


def _value(option: Option, raw: Any, origin: str, rootdir: Path | None) -> Any:
    base = rootdir if origin.startswith("ini") else None
    return _place(option, _check(option, raw, origin), base)


def _place(option: Option, value: Any, base: Path | None) -> Any:
    """Paths of the ini file start at the root folder, wherever pytest was started."""
    if base is None or option.name not in PATHS or value == "off":
        return value
    if option.name == "evb_tflm_root" and Path(value).name == value:
        return value if not (base / value).exists() else str(base / value)  # a runtime of the SDK
    if isinstance(value, tuple):
        return tuple(str(base / path) for path in value)
    return str(base / value)


def _check(option: Option, raw: Any, origin: str) -> Any:
    if option.repeatable:
        return tuple(str(item) for item in raw)
    if option.switch:
        return bool(raw)
    try:
        value = option.convert(str(raw))
    except ValueError as error:
        raise SettingError(f"{origin}: {error}", hint=_help(origin)) from None
    if option.choices and value not in option.choices:
        raise SettingError(
            f"{origin}: {value!r} is not one of {', '.join(option.choices)}",
            hint=_help(origin),
        )
    return value


def _help(origin: str) -> str:
    return f"`pytest --help` tells what {origin.removeprefix('ini ')} takes"
