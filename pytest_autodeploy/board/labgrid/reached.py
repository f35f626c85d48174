"""The board at a place, by what the place has: a J-Link that flashes it, or only its port."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_autodeploy.board.attached import AttachedBoard
    from pytest_autodeploy.board.hardware import HardwareBoard
    from pytest_autodeploy.board.labgrid.lease import Held
    from pytest_autodeploy.board.labgrid.listing import Resource
    from pytest_autodeploy.board.order import Order


def reach(order: Order, held: Held, url: str) -> AttachedBoard | HardwareBoard:
    """The board at the place that is held, whose port is ``url``; nothing is opened yet."""
    from pytest_autodeploy.board.labgrid.exporter_jlink import find_jlink

    probe = find_jlink(held.resources)
    return _attached(order, url) if probe is None else _flashed(order, url, probe)


def _attached(order: Order, url: str) -> AttachedBoard:
    from pytest_autodeploy.board.attached import AttachedBoard

    settings = order.settings
    return AttachedBoard(
        order.board_id,
        order.spec,
        url,
        dialect=settings.evb_dialect,
        hardware_only=settings.evb_require_hardware,
        require_proof=settings.evb_require_proof,
        timeout_s=settings.evb_timeout,
    )


def _flashed(order: Order, url: str, probe: Resource) -> HardwareBoard:
    from pytest_autodeploy.board.hardware import HardwareBoard
    from pytest_autodeploy.board.labgrid.exporter_jlink import ExporterJLink
    from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder

    builder = NeuralSpotBuilder(order.spec, order.build_options)
    through = os.environ.get("LG_PROXY")
    return HardwareBoard(
        order.board_id,
        order.spec,
        probe=ExporterJLink(order.board_id, order.spec.jlink_device, probe, through=through),
        firmware_for=builder.build,
        placement_of=builder.placement,
        port=url,
        timeout_s=order.settings.evb_timeout,
    )
