"""The arenas that models were found to need: in this run, and in earlier ones."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_autodeploy.base.cache_folder import user_cache

if TYPE_CHECKING:
    from pytest_autodeploy.session.known_arenas import KnownArenas
    from pytest_autodeploy.settings.settings import Settings


class Arenas:
    """Where arenas are kept from run to run."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def known(self) -> KnownArenas:
        """The arenas of earlier runs, in the cache folder of the settings."""
        from pytest_autodeploy.session.known_arenas import KnownArenas

        cache = self._settings.cache_path(lambda: user_cache("arenas").parent)
        return KnownArenas(cache / "arenas" if cache else None)
