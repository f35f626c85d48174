"""Contents of files with seeded damage."""

from __future__ import annotations

import random
import re

_VALUE = re.compile(rb'-?\d[\d.e+-]*|"[^"]*"|[\w.]+')
_TOKENS = (
    *(b"-1", b"0", b"1e999", b"NaN", b"1e308", b"null", b"true", b'""', b"[]", b"{}", b"\xff"),
    *(b'"\\ud800"', b"99999999999999999999", b"\0", b"\x1b[2J", b"../../x", b'"*/"', b"\n\n"),
)


def mutated(content: bytes, chance: random.Random, *, text: bool) -> bytes:
    """The content with bits, bytes, blocks or, of text, values changed, or cut."""
    data = bytearray(content)
    kind = chance.randrange(6 if text else 4)
    at = chance.randrange(len(data))
    if kind == 0:
        for _ in range(chance.randint(1, 16)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del data[at : at + chance.choice((1, 4, 64, len(data)))]
    elif kind == 2:
        size = chance.randint(1, 256)
        data[at : at + size] = chance.randbytes(size)
    elif kind == 3:
        word = chance.choice(
            (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data), chance.getrandbits(32))
        )
        data[at // 4 * 4 : at // 4 * 4 + 4] = word.to_bytes(4, "little")
    else:
        for _ in range(chance.randint(1, 3)):
            values = list(_VALUE.finditer(bytes(data)))
            if values:
                start, end = chance.choice(values).span()
                data[start:end] = chance.choice(_TOKENS)
    return bytes(data)
