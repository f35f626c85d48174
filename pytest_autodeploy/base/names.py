"""The one place that turns the name of a model or board into what C and file systems accept."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_LONGEST = 64

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long main mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
    virtual void volatile wchar_t while xor xor_eq
"""

_DEVICES = frozenset(
    ("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)))
)


def c_identifier(name: str) -> str:
    """A C and C++ identifier for any name; names that differ may share one.

    Letters with accents lose them, everything else that C does not accept becomes one underscore.
    No reserved names: no keyword, no underscore first, no two underscores in a row.
    """
    text = re.sub(r"[^A-Za-z0-9]+", "_", _ascii(name)).strip("_") or "model"
    text = f"m_{text}" if text[0].isdigit() else text
    return f"{text}_" if text in _KEYWORDS.split() else _cut(text, name, "_")


def file_name(name: str) -> str:
    """A file or folder name for any name that is safe on every operating system.

    At most 64 ASCII letters, digits, dots, underscores and dashes. A hash keeps names apart that
    would lose letters of other alphabets or their end.
    """
    plain = _ascii(name)
    text = re.sub(r"[^A-Za-z0-9._-]+", "_", plain)
    text = re.sub(r"\.{2,}", ".", text).strip(". _-")
    lost = any(letter.isalnum() for letter in plain if not letter.isascii())
    if not text or lost:
        text = f"{text or 'model'}-{_hash(name)}"
    if text.split(".")[0].lower() in _DEVICES:
        text = f"_{text}"
    return _cut(text, name, "-")


def _ascii(name: str) -> str:
    """The name without accents; letters of other alphabets stay."""
    apart = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _cut(text: str, name: str, joint: str) -> str:
    if len(text) <= _LONGEST:
        return text
    end = f"{joint}{_hash(name)}"
    return text[: _LONGEST - len(end)].rstrip("._-") + end


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
