"""Where things are kept that need not be computed twice, also of a user who has no home."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from pytest_autodeploy.base.cache_folder import user_cache


def test_the_cache_is_below_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert user_cache("x") == tmp_path / "pytest-autodeploy" / "x"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows always has a home")
def test_a_user_without_home_and_name_has_a_private_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in a container that runs with a user id that no passwd entry has."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = user_cache("x")
    assert folder.is_relative_to(tmp_path)
    assert folder.parents[2].stat().st_mode & 0o077 == 0
