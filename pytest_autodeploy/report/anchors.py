"""The names of places in the HTML report, which links lead to."""

from __future__ import annotations

from hashlib import sha256


def card_id(model: str, board: str, clock: str = "") -> str:
    """The name of a card in the page."""
    return f"ad-c-{_short(model, board, 'LP' if clock == 'LP' else '')}"


def row_anchor(nodeid: str) -> str:
    """The name of a test's row in the page."""
    return f"ad-t-{_short(nodeid)}"


def _short(*parts: str) -> str:
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:10]
