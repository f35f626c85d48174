"""The way to the serial port of a place: straight, or through ssh."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_autodeploy.base.closable import Closing
from pytest_autodeploy.board.labgrid.serial_port import address, choose_port, proxy
from pytest_autodeploy.board.labgrid.tunnel import Tunnel

if TYPE_CHECKING:
    from pytest_autodeploy.board.labgrid.lease import Held


class Way(Closing):
    """The port of the place that ``board`` holds, at ``url``. Raises LabError."""

    def __init__(self, held: Held, board: str) -> None:
        self._tunnel: Tunnel | None = None
        port = choose_port(held.resources, held.place.name, board)
        scheme, host, number = address(port, board)
        through = proxy(port) or os.environ.get("LG_PROXY")
        if through:
            self._tunnel = Tunnel(through, host, number, board)
            host, number = "127.0.0.1", self._tunnel.port
        self.url = f"{scheme}://[{host}]:{number}" if ":" in host else f"{scheme}://{host}:{number}"

    def close(self) -> None:
        """End what was started for it; may be called twice."""
        if self._tunnel is not None:
            self._tunnel.close()
