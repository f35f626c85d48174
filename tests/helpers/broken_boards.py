"""Inner runs of pytest whose simulated board has injected faults."""

from __future__ import annotations

import pytest


def break_board(pytester: pytest.Pytester, *faults: str) -> None:
    """Give the simulated board of an inner run faults such as ``die@invoke``."""
    arguments = [part for fault in faults for part in ("--fault", fault)]
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\n"
        f"def evb_options(): return {{'sim_arguments': {arguments!r}}}\n"
    )
