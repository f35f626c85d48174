"""A test as what is judged: its session or estimate, and what judging may use of the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.metrics.subject import Baselines, Subject
from pytest_autodeploy.plugin.collection import case_of
from pytest_autodeploy.plugin.limits import tolerance_of
from pytest_autodeploy.plugin.over_pins import pins_run_of
from pytest_autodeploy.plugin.owed import owed_groups
from pytest_autodeploy.plugin.services import Services, session_of
from pytest_autodeploy.plugin.state import runtime_of, settings_of

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.reference.runner import Reference


def estimate_of(item: pytest.Item) -> Estimate | None:
    """The NPU estimate that a test has, if any."""
    estimate = getattr(item, "funcargs", {}).get("npu_estimate")
    return estimate if hasattr(estimate, "accelerator") else None


def reference_of(item: pytest.Item, model: Model) -> Reference:
    """The PC side for the output tolerance of a test, which may pin a set of kernels."""
    return runtime_of(item.config).pc.reference(model, tolerance_of(item).reference)


def subject_of(item: pytest.Item) -> Subject:
    """What is judged after a test."""
    return Subject(
        Services(item),
        session_of(item),
        estimate_of(item),
        baselines_of(item),
        over_pins=pins_run_of(item),
    )


def baselines_of(item: pytest.Item) -> Baselines | None:
    """Where the baseline of a test is."""
    settings, case = settings_of(item.config), case_of(item)
    if case is None:
        return None
    return Baselines(
        settings.baselines_path,
        settings.rootdir,
        case.model.id,
        relative_name(case.model.path, settings.rootdir),
        compare=settings.compares,
        update=settings.update_baseline,
        owed=owed_groups(item),
        baseline_runs=settings.baseline_runs,
        compare_runs=settings.compare_runs,
        seconds=settings.compare_time,
    )


def relative_name(path: Path, root: Path) -> str:
    """The path of a model as a shared file may hold it: from the root folder, or only the name."""
    if path.is_relative_to(root):
        return path.relative_to(root).as_posix()
    return path.name
