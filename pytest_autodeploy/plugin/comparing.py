"""Whether and how a test is compared with a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.text import writable
from pytest_autodeploy.limits.declarations import Declared, declare
from pytest_autodeploy.plugin.collection import NO_REGRESSION, case_of
from pytest_autodeploy.plugin.state import settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.baseline.gate import Gate


def gate_of(item: pytest.Item, limits: Mapping[str, Declared]) -> Gate | None:
    """How a test with a session is held against its baseline, None when it is not.

    A test is compared when it declares the limit, when an option or the ini file does, and when it
    is a built-in one of a project with baselines.
    """
    settings, case = settings_of(item.config), case_of(item)
    declared = limits.get(NO_REGRESSION)
    if case is None or (declared is None and not settings.update_baseline):
        return None
    folder = settings.baselines_path
    asked = declared is not None and (settings.compare or declared.origin != "default")
    if not (asked or settings.update_baseline or folder.is_dir()):
        return None
    from pytest_autodeploy.baseline.gate import Gate

    return Gate(
        folder=folder,
        root=settings.rootdir,
        model_id=case.model.id,
        model_file=relative_name(case.model.path, settings.rootdir),
        declared=declared or declare(NO_REGRESSION, (), {}, "none"),
        asked=asked,
        update=settings.update_baseline,
    )


def relative_name(path: Path, root: Path) -> str:
    """The path of a model as a shared file may hold it: from the root folder, or only the name."""
    inside = path.is_relative_to(root)
    return writable(path.relative_to(root).as_posix() if inside else path.name)
