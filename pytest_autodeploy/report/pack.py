"""Details of many results in one HTML page: compressed together, so that what repeats costs once.

A few details stand in the page as they are. Beyond ``MOST_PLAIN`` letters, all go into one block
(zlib, base64) that the page unpacks when the first of them is opened.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

MOST_PLAIN = 400_000


@dataclass(frozen=True)
class Packed:
    """``plain`` fragments in order, or none and one ``block`` that holds them all."""

    plain: Sequence[str]
    block: str = ""


def pack(fragments: Sequence[str], most_plain: int = MOST_PLAIN) -> Packed:
    """The fragments as they are, or in a block where they are long."""
    if sum(map(len, fragments)) <= most_plain:
        return Packed(fragments)
    data = zlib.compress(json.dumps(list(fragments)).encode(), 9)
    return Packed([""] * len(fragments), base64.b64encode(data).decode("ascii"))


def unpack(block: str) -> list[str]:
    """The fragments of a block."""
    fragments: list[str] = json.loads(zlib.decompress(base64.b64decode(block)))
    return fragments
