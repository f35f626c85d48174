"""The generated sources of an image: rendered, and written only where they changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.base.templates import c_data, render

if TYPE_CHECKING:
    from pytest_autodeploy.image.recipe import Engine, Recipe

TEMPLATES: Mapping[Engine, tuple[str, ...]] = {
    "tflm": ("autodeploy_config.h", "model_data.cc", "model_init.cc"),
    "echo": ("autodeploy_config.h", "autodeploy_echo.h"),
}


def generate(recipe: Recipe, build_id: str) -> dict[str, str]:
    """The sources of an image by file name."""
    context = {**recipe.context, "build_id": build_id}
    if recipe.engine == "tflm":
        loaded = recipe.context["upload_bytes"]
        context["data"] = "" if loaded else c_data(recipe.model.content)
    return {name: render(name, context) for name in TEMPLATES[recipe.engine]}


def write_sources(folder: Path, sources: Mapping[str, str]) -> None:
    """Make the folder hold these files; what is the same keeps its time, so it is not compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in [path for path in folder.iterdir() if path.name not in sources]:
        stale.unlink()
    for name, text in sources.items():
        write_changed(folder / name, text)


def write_changed(path: Path, text: str) -> bool:
    """Write a file unless it has this text already; says whether it wrote."""
    data = text.encode()
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        pass
    path.write_bytes(data)
    return True
