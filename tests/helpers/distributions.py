"""Packages that a test installs for itself: modules beside the metadata of a distribution."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def install(
    folder: Path, name: str, entry_points: Mapping[str, str], modules: Mapping[str, str]
) -> None:
    """Put a distribution of version 1.0 into a folder of ``sys.path``.

    ``entry_points`` has one line for each group, ``modules`` the text by name.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [line for group, entry in entry_points.items() for line in (f"[{group}]", entry)]
    (info / "entry_points.txt").write_text("\n".join([*lines, ""]))
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
