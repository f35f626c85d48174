"""The Ethos-U accelerators that Vela knows, and what it assumes about the systems around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_autodeploy.base.errors import NpuConfigError

ACCELERATORS = (
    "ethos-u55-32",
    "ethos-u55-64",
    "ethos-u55-128",
    "ethos-u55-256",
    "ethos-u65-256",
    "ethos-u65-512",
    "ethos-u85-128",
    "ethos-u85-256",
    "ethos-u85-512",
    "ethos-u85-1024",
    "ethos-u85-2048",
)
"""The number behind the family is that of MACs in a cycle."""

DEFAULT_SYSTEMS: Mapping[str, tuple[str, str]] = {
    "ethos-u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "ethos-u65": ("Ethos_U65_Client_Server", "Dedicated_Sram_384KB"),
    "ethos-u85": ("Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB"),
}
"""System configuration and memory mode that Vela 5 takes for a family when none is given."""


def check_accelerator(name: str) -> str:
    """The name itself. Raises NpuConfigError, with the name that may have been meant."""
    if name in ACCELERATORS:
        return name
    plain = name.lower().replace("_", "-")
    raise NpuConfigError(
        f"unknown accelerator {name!r}",
        hint=f"{did_you_mean(plain, ACCELERATORS)}Accelerators: {', '.join(ACCELERATORS)}",
    )


def default_system(accelerator: str) -> tuple[str, str]:
    """The system configuration and the memory mode that Vela assumes for an accelerator."""
    return DEFAULT_SYSTEMS[accelerator.rpartition("-")[0]]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``Did you mean X? `` for the known name that looks most like this one, or nothing."""
    import difflib

    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"Did you mean {by_lower[near[0]]}? " if near else ""
