"""One maker for each kind of boards: from what a user asked for to a board that is not started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_autodeploy.board.elsewhere import learn as learn
from pytest_autodeploy.board.elsewhere import leased, recorded
from pytest_autodeploy.board.order import Order
from pytest_autodeploy.catalog.kinds import (
    EMULATED,
    HARDWARE,
    LEASED,
    RECORDED,
    SIMULATED,
    VIRTUAL,
    Kind,
)

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board

Maker = Callable[[Order], "Board"]


def simulated(order: Order) -> Board:
    """A process on this PC with TFLM's kernels."""
    from pytest_autodeploy.board.simulated import SimulatedBoard
    from pytest_autodeploy.board.simulated_link import link_arguments

    given: Sequence[str] = order.options.get("sim_arguments", ())
    settings = order.settings
    memories = {
        "--model-memory": settings.evb_model_memory,
        "--arena-memory": settings.evb_arena_memory,
    }
    reserved = ",".join(f"{name}={reserve}" for name, reserve in settings.evb_reserve)
    chosen = [word for flag, name in memories.items() if name for word in (flag, name.lower())]
    chosen += ["--reserve", reserved] if reserved else []
    arguments = [*link_arguments(settings.evb_sim_link), *chosen, *given]
    timeout_s = settings.evb_timeout
    return SimulatedBoard(order.board_id, order.spec, timeout_s=timeout_s, arguments=arguments)


def emulated(order: Order) -> Board:
    """A machine of QEMU."""
    from pytest_autodeploy.board.emulated import EmulatedBoard
    from pytest_autodeploy.image.cmake import CMakeBuilder

    builder = CMakeBuilder(order.spec, order.build_options, board_id=order.board_id)
    timeout_s = order.settings.evb_timeout
    return EmulatedBoard(order.board_id, order.spec, builder, timeout_s=timeout_s)


def virtual(order: Order) -> Board:
    """The image of an EVB, or of a machine, on an emulated core."""
    from pytest_autodeploy.board.virtual import VirtualBoard

    settings = order.settings
    return VirtualBoard.of(
        order.board_id,
        order.spec,
        order.build_options,
        timeout_s=settings.evb_timeout,
        file=settings.root / settings.evb_image if settings.evb_image else None,
        licence_ok=settings.evb_image_licence_ok,
        gdb_port=settings.evb_gdb or None,
    )


def hardware(order: Order) -> Board:
    """An EVB behind its probe."""
    from pytest_autodeploy.board.flash_tools import flash_tool
    from pytest_autodeploy.board.hardware import HardwareBoard
    from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder

    settings, spec = order.settings, order.spec
    tool = flash_tool(settings.evb_flash_tool)
    builder = NeuralSpotBuilder(spec, order.build_options)
    return HardwareBoard(
        order.board_id,
        spec,
        probe=tool(order.board_id, spec.jlink_device, serial=settings.evb_probe),
        firmware_for=builder.build,
        placement_of=builder.placement,
        port=settings.evb_port,
        timeout_s=settings.evb_timeout,
        wait_s=settings.evb_wait,
    )


MAKERS: Mapping[str, Maker] = {
    SIMULATED.prefix: simulated,
    EMULATED.prefix: emulated,
    VIRTUAL.prefix: virtual,
    HARDWARE.prefix: hardware,
    LEASED.prefix: leased,
    RECORDED.prefix: recorded,
}
"""Of the kinds of this package, by prefix."""


def maker_of(kind: Kind) -> Maker:
    """What makes the boards of a kind, which an installed package may have brought."""
    return kind.make or MAKERS[kind.prefix]
