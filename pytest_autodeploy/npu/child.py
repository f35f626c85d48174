"""The program of Vela's process: it limits its own memory, then becomes Vela.

``python child.py BYTES ARGUMENTS...`` takes nothing from this package, so it starts quickly.
"""

from __future__ import annotations

import runpy
import sys
from contextlib import suppress


def limit_memory(limit_bytes: int) -> None:
    """Let allocations beyond the limit fail, where the operating system can do that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = limit_bytes if most == resource.RLIM_INFINITY else min(limit_bytes, most)
    with suppress(ValueError, OSError):  # macOS refuses some limits
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


if __name__ == "__main__":
    limit_memory(int(sys.argv.pop(1)))
    runpy.run_module("ethosu.vela", run_name="__main__", alter_sys=True)
