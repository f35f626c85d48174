"""Where a TFLM tree may run: decided by its licence text and its name, refused when in doubt."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

FILE = "LICENSE"

_APACHE_TERMS = "d5e4c8942091934e8f11f49efe6055366918b8034549dbfffc2e71a2c4f5de32"
"""SHA-256 of the terms of the Apache License 2.0, every white space one blank."""

_TITLE = "Apache License Version 2.0"
_END = "END OF TERMS AND CONDITIONS"
_AMBIQ_ONLY = re.compile(r"^(ns_tflm_|tflm_nov_25|helia_)")
_APACHE_HELIA = re.compile(r"^helia_rt_v1_[0-3]_")
_RESTRICTION = re.compile(r"manufactured by|prohibited|solely for|Ambiq Apollo SDK", re.IGNORECASE)


def ambiq_only(root: Path) -> str | None:
    """Why the tree in this folder may run on Ambiq's CPUs only; None when it may run anywhere."""
    name = root.resolve().name
    if _AMBIQ_ONLY.match(name) and not _APACHE_HELIA.match(name):
        return f"{name} is licensed for Ambiq CPUs only"
    try:
        text = " ".join((root / FILE).read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return f"{name} has no file {FILE} that would allow it"
    if not _is_apache(text):
        return f"the {FILE} of {name} is not the Apache License 2.0"
    return None


def _is_apache(text: str) -> bool:
    """Whether this is the whole licence, with nothing around it that takes back what it gives."""
    start, end = text.find(_TITLE), text.find(_END)
    if start < 0 or end < start:
        return False
    terms = hashlib.sha256(text[start:end].encode()).hexdigest()
    around = text[:start] + text[end:]
    return terms == _APACHE_TERMS and not _RESTRICTION.search(around)
