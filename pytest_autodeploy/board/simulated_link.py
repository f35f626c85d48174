"""The speed of a simulated board's link, as ``--evb-sim-link`` has it."""

from __future__ import annotations

from pytest_autodeploy.settings.option import positive_float
from pytest_autodeploy.settings.settings import SettingError


def link_arguments(text: str | None) -> list[str]:
    """Arguments of the simulated board for ``bytes_per_s=N,latency_ms=N``. Raises SettingError."""
    arguments: list[str] = []
    for part in text.split(",") if text else ():
        key, _, value = part.partition("=")
        if key not in ("bytes_per_s", "latency_ms"):
            raise SettingError(
                f"--evb-sim-link {text!r}: use bytes_per_s=N,latency_ms=N",
                hint="such as bytes_per_s=11520,latency_ms=5",
            )
        try:
            number = positive_float(value)
        except ValueError as error:
            raise SettingError(
                f"--evb-sim-link {text!r}: {error}", hint="such as bytes_per_s=11520,latency_ms=5"
            ) from None
        arguments += [f"--link-{key.replace('_', '-')}", str(number)]
    return arguments
