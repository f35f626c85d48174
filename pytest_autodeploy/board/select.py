"""From the name that a user typed to a board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.catalog.boards import UnknownBoard, board_names, board_spec, closest
from pytest_autodeploy.settings.option import positive_float
from pytest_autodeploy.settings.settings import SettingError, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.catalog.boards import BoardSpec, Kind
    from pytest_autodeploy.image.firmware import BuildOptions

SIMULATED, EMULATED = "sim:", "qemu:"

KINDS: dict[str, Kind] = {SIMULATED: "hardware", EMULATED: "emulated", "": "hardware"}
"""What stands before a board's name, and the part of the catalog that the name is of."""


def make_board(
    board_id: str, settings: Settings, cache: Path | None, sim_arguments: Sequence[str] = ()
) -> Board:
    """The board that ``--evb board_id`` names; nothing is started.

    ``cache`` is the folder for built firmware, None the user's own; ``sim_arguments`` are added to
    the command line of a simulated board.
    """
    prefix, _ = _split(board_id)
    spec = spec_of(board_id)
    if settings.evb_port is not None and settings.evb_probe is None:
        return _attached(board_id, spec, settings)
    if prefix == SIMULATED:
        from pytest_autodeploy.board.simulated import SimulatedBoard

        arguments = [*link_arguments(settings.evb_sim_link), *sim_arguments]
        return SimulatedBoard(board_id, spec, timeout_s=settings.evb_timeout, arguments=arguments)
    if prefix == EMULATED:
        from pytest_autodeploy.board.emulated import EmulatedBoard
        from pytest_autodeploy.image.cmake import CMakeBuilder

        builder = CMakeBuilder(spec, build_options(settings, cache), board_id=board_id)
        return EmulatedBoard(board_id, spec, builder, timeout_s=settings.evb_timeout)
    return _hardware(board_id, spec, settings, cache)


def _attached(board_id: str, spec: BoardSpec, settings: Settings) -> Board:
    from pytest_autodeploy.board.attached import AttachedBoard

    return AttachedBoard(
        board_id,
        spec,
        str(settings.evb_port),
        simulated=board_id.startswith(SIMULATED),
        hardware_only=settings.evb_require_hardware,
        timeout_s=settings.evb_timeout,
    )


def _hardware(board_id: str, spec: BoardSpec, settings: Settings, cache: Path | None) -> Board:
    from pytest_autodeploy.board.hardware import HardwareBoard
    from pytest_autodeploy.board.jlink import JLink
    from pytest_autodeploy.board.pyocd import PyOcd
    from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder

    tool = PyOcd if settings.evb_flash_tool == "pyocd" else JLink
    return HardwareBoard(
        board_id,
        spec,
        probe=tool(board_id, spec.jlink_device, serial=settings.evb_probe),
        firmware_for=NeuralSpotBuilder(spec, build_options(settings, cache)).build,
        port=settings.evb_port,
        timeout_s=settings.evb_timeout,
    )


def build_options(settings: Settings, cache: Path | None) -> BuildOptions:
    from pytest_autodeploy.image.firmware import BuildOptions

    return BuildOptions(
        tflm_root=settings.evb_tflm_root,
        sdk=settings.evb_sdk,
        toolchain=settings.evb_toolchain,
        cache=cache,
        model_memory=settings.evb_model_memory,
        arena_memory=settings.evb_arena_memory,
    )


def check_names(names: Iterable[str], settings: Settings) -> None:
    """Check boards without starting one. Raises UnknownBoard or SettingError."""
    for board_id in names:
        prefix = check_known(board_id)
        if settings.evb_require_hardware and prefix:
            raise SettingError(
                f"--evb-require-hardware: {board_id} is no hardware\n"
                "  Name an EVB, such as --evb apollo4p_evb."
            )
        if prefix == EMULATED and settings.evb_port is not None:
            raise SettingError(f"--evb-port: {board_id} is started by this run and has no port")


def check_known(board_id: str) -> str:
    """The part before a board's name, such as ``sim:``. Raises UnknownBoard."""
    prefix, name = _split(board_id)
    kind = KINDS.get(prefix)
    if kind is None:
        raise UnknownBoard(
            f"unknown kind of board {board_id!r}",
            hint="NAME is an EVB, sim:NAME a simulated board, qemu:NAME an emulated machine.",
        )
    try:
        board_spec(name, kind)
    except UnknownBoard as error:
        near = closest(name, kind)
        meant = f"Did you mean {prefix}{near}? " if near else ""
        hint = f"{meant}Boards: {', '.join(prefix + known for known in board_names(kind))}"
        raise UnknownBoard(f"unknown board {board_id!r}", hint=hint) from error
    return prefix


def spec_of(board_id: str) -> BoardSpec:
    """The entry of the catalog for a board that a user typed. Raises UnknownBoard."""
    prefix, name = _split(board_id)
    return board_spec(name, KINDS[prefix])


def _split(board_id: str) -> tuple[str, str]:
    prefix, colon, name = board_id.rpartition(":")
    return prefix + colon, name


def link_arguments(text: str | None) -> list[str]:
    """Arguments of the simulated board for ``bytes_per_s=N,latency_ms=N``. Raises SettingError."""
    arguments: list[str] = []
    for part in text.split(",") if text else ():
        key, _, value = part.partition("=")
        if key not in ("bytes_per_s", "latency_ms"):
            raise SettingError(f"--evb-sim-link {text!r}: use bytes_per_s=N,latency_ms=N")
        try:
            number = positive_float(value)
        except ValueError as error:
            raise SettingError(f"--evb-sim-link {text!r}: {error}") from None
        arguments += [f"--link-{key.replace('_', '-')}", str(number)]
    return arguments
