"""pytest-rerunfailures listens on a socket in each run with xdist loaded, and never closes it.

That is one socket and one thread for each of the thousand runs inside of the tests' process, which
may have a thousand files. Here only runs whose workers ask for the port listen.
"""

from __future__ import annotations

from typing import Any


def listen_for_workers_alone() -> None:
    """From now on runs in this process without workers have no socket.

    The plugin need not be installed: `make demo` runs without it.
    """
    try:
        import pytest_rerunfailures as reruns  # type: ignore[import-untyped]
    except ImportError:
        return

    class Lazy(reruns.ServerStatusDB):  # type: ignore[misc]  # it has no types
        def __init__(self) -> None:
            reruns.StatusDB.__init__(self)
            self.rerunfailures_db: dict[str, dict[str, int]] = {}

        def __getattr__(self, name: str) -> Any:
            """The socket and the token, made when a worker is to be told of them."""
            if name not in ("sock", "token"):
                raise AttributeError(name)
            known = self.rerunfailures_db
            super().__init__()
            self.rerunfailures_db = known
            return self.__dict__[name]

    reruns.ServerStatusDB = Lazy
