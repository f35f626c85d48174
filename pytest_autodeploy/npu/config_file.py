"""Vela's configuration files: which system and memory mode an estimate is for."""

from __future__ import annotations

import configparser
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from pytest_autodeploy.base.errors import MissingExtra, NpuConfigError
from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.catalog.accelerators import check_accelerator, default_system, did_you_mean

MEMORIES: Mapping[str, str] = {
    "Sram": "sram",
    "Dram": "dram",
    "OnChipFlash": "on_chip_flash",
    "OffChipFlash": "off_chip_flash",
}
"""Vela's memory areas as they are named in configuration files, and in estimates."""

LEGACY = ("--debug-force-legacy-core",)
"""Vela 5's option for its older core, which writes another CSV of layers."""

_SYSTEM, _MODE = "System_Config.", "Memory_Mode."
_DEEPEST_INHERITANCE = 16
MOST_BYTES = 1 << 20
"""Vela's own file has 10 KB."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
"""Of systems and modes: they stand on Vela's command line, and in reports."""


@dataclass(frozen=True)
class NpuSystem:
    """The accelerator and the system around it that an estimate is for.

    ``content`` is that of the configuration file ``name``; ``memories`` are the areas of
    ``MEMORIES`` that the system has. ``assumed``: what was not asked for but taken from Vela.
    ``arguments`` are Vela's beyond those that name the system.
    """

    accelerator: str
    system_config: str
    memory_mode: str
    name: str
    content: bytes = field(repr=False)
    memories: tuple[str, ...]
    assumed: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash of the configuration file."""
        return hashlib.sha256(self.content).hexdigest()


def sample_config() -> Path:
    """A configuration file for an Ambiq-like part with an Ethos-U85; its figures are assumptions.

    System configuration ``Ambiq_Like_U85_250MHz``; memory modes ``Weights_In_MRAM`` and
    ``Weights_In_SRAM``.
    """
    return resource("templates", "npu", "ambiq_like_u85.ini")


def _sample_hint() -> str:
    return f"give a Vela .ini file; a sample is {sample_config()}"


def choose_system(
    accelerator: str,
    *,
    system_config: str | None = None,
    memory_mode: str | None = None,
    config: Path | None = None,
    core: str = "regor",
) -> NpuSystem:
    """The system that the estimate is for, with what is not given made explicit.

    ``core`` is Vela's own: the one of version 5, or the older one, which MLIA's figures are of.

    Without ``config``, Vela's own file and its own choice for the accelerator; with it, the only
    system configuration and memory mode that the file has. Raises NpuConfigError, MissingExtra.
    """
    check_accelerator(accelerator)
    if core == "legacy" and accelerator.startswith("ethos-u85"):
        raise NpuConfigError(
            f"Vela's legacy core does not know {accelerator}",
            hint="leave --tflite-npu-core out, or take an Ethos-U55 or U65",
        )
    path = _own_file() if config is None else config
    content = _read(path)
    sections = _sections(path, content)
    systems, modes = _names(sections, _SYSTEM), _names(sections, _MODE)
    defaults = default_system(accelerator) if config is None else (None, None)
    system = _choose("system configuration", system_config, defaults[0], systems, path)
    mode = _choose("memory mode", memory_mode, defaults[1], modes, path)
    return NpuSystem(
        accelerator,
        system,
        mode,
        path.name,
        content,
        _memories(sections, system),
        _assume(system, mode, system_config, memory_mode) if config is None else (),
        LEGACY if core == "legacy" else (),
    )


def _own_file() -> Path:
    found = find_spec("ethosu")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("Ethos-U estimation", "vela")
    return Path(next(iter(found.submodule_search_locations))) / "config_files/Arm/vela.ini"


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():  # a pipe would wait for somebody to write
            raise NpuConfigError(f"{path}: the Vela configuration is no file", hint=_sample_hint())
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise NpuConfigError(
                f"{path}: a Vela configuration has at most {MOST_BYTES // 1024} KB",
                hint=_sample_hint(),
            )
        return content
    except OSError as error:
        raise NpuConfigError(
            f"{path}: the Vela configuration cannot be read: {error.strerror}",
            hint=_sample_hint(),
        ) from None


def _sections(path: Path, content: bytes) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(content.decode("utf-8-sig"), source=path.name)
    except (configparser.Error, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())
        raise NpuConfigError(
            f"{path}: no Vela configuration: {text}",
            hint=_sample_hint(),
        ) from None
    _check_values(path, parser)
    return parser


def _check_values(path: Path, parser: configparser.ConfigParser) -> None:
    """A negative clock would give negative times, which are within any budget."""
    for section in parser.sections():
        kind, _, name = section.partition(".")
        if f"{kind}." in (_SYSTEM, _MODE) and not _NAME.fullmatch(name):
            raise NpuConfigError(f"{path}: {section!r:.60} is no name", hint=_sample_hint())
        for key, text in parser[section].items():
            if not _plausible(key, text):
                raise NpuConfigError(
                    f"{path}: [{section}] {key} = {text!r:.40} cannot be", hint=_sample_hint()
                )


def _plausible(key: str, text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return text.isprintable() and key != "core_clock"
    return math.isfinite(value) and value >= 0 and (value > 0 or not key.endswith("clock"))


def _names(sections: configparser.ConfigParser, prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in sections.sections() if name.startswith(prefix)]


def _choose(
    what: str, given: str | None, default: str | None, known: Sequence[str], path: Path
) -> str:
    wanted = given or default or (known[0] if len(known) == 1 else None)
    if wanted in known:
        return str(wanted)
    there = f"{path.name} has: {', '.join(known)}" if known else f"{path.name} has none"
    if wanted is None:
        raise NpuConfigError(f"{path}: which {what} is not given", hint=there)
    raise NpuConfigError(
        f"{path}: there is no {what} {wanted!r}", hint=did_you_mean(wanted, known) + there
    )


def _memories(sections: configparser.ConfigParser, system: str) -> tuple[str, ...]:
    """The memories at the accelerator's ports; a section may inherit from another one."""
    name = f"{_SYSTEM}{system}"
    ports: dict[str, str] = {}
    for _ in range(_DEEPEST_INHERITANCE):
        section = sections[name] if sections.has_section(name) else {}
        ports = {key: value for key, value in section.items() if key.endswith("_port")} | ports
        if "inherit" not in section:
            break
        name = section["inherit"]
    used = set(ports.values())
    return tuple(ours for theirs, ours in MEMORIES.items() if theirs in used)


def _assume(system: str, mode: str, *given: str | None) -> tuple[str, ...]:
    names = [name for name, asked in zip((system, mode), given, strict=True) if asked is None]
    if not names:
        return ()
    return (
        f"Vela's own {' and '.join(names)} {'was' if len(names) == 1 else 'were'} assumed;"
        " none of Vela's systems describes an Ambiq part",
    )
