"""What a board is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.image.firmware import BuildOptions

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.settings.settings import Settings


@dataclass(frozen=True)
class Order:
    """What a board is made from: its id as typed, its entry of the catalog, the run's settings.

    ``cache`` is the folder for built firmware, None the user's own; ``options`` are those of the
    fixture ``evb_options`` that the kind takes.
    """

    board_id: str
    spec: BoardSpec
    settings: Settings
    cache: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def build_options(self) -> BuildOptions:
        """What the settings say about builds."""
        return build_options(self.settings, self.cache)


def build_options(settings: Settings, cache: Path | None) -> BuildOptions:
    """What the settings say about builds; ``cache`` None is the user's own folder."""
    return BuildOptions(
        tflm_root=settings.evb_tflm_root,
        sdk=settings.evb_sdk,
        toolchain=settings.evb_toolchain,
        cache=cache,
        model_memory=settings.evb_model_memory,
        arena_memory=settings.evb_arena_memory,
        tflm_memory=settings.evb_tflm_memory,
        arena_padding=1024 * settings.evb_arena_padding,
        ambiqsuite=settings.evb_ambiqsuite,
        keep=settings.root / settings.evb_keep_build if settings.evb_keep_build else None,
    )
