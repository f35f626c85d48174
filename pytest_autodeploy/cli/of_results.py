"""The commands about what runs have left."""

from __future__ import annotations

from pytest_autodeploy.cli.baseline import baseline
from pytest_autodeploy.cli.merge import merge
from pytest_autodeploy.cli.report_bug import report_bug

OF_RESULTS = (baseline, merge, report_bug)
