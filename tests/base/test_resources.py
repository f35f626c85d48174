"""Shipped files are found in a checkout and in an installation."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.base import resources
from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.resources import resource


def test_a_checkout_has_its_resources_beside_the_package() -> None:
    assert "interface Validator" in resource("firmware", "autodeploy.erpc").read_text("utf-8")
    assert resource("templates").is_dir()


def test_an_installation_has_its_resources_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "pytest_autodeploy"
    (package / "firmware").mkdir(parents=True)
    (package / "firmware" / "autodeploy.erpc").touch()
    monkeypatch.setattr(resources, "_PACKAGE", package)
    assert resource("firmware", "autodeploy.erpc") == package / "firmware" / "autodeploy.erpc"


def test_a_missing_resource_is_a_broken_installation() -> None:
    with pytest.raises(AutodeployError, match="firmware/nothing is missing"):
        resource("firmware", "nothing")
