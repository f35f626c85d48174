"""The one environment of templates."""

from __future__ import annotations

import subprocess
import sys

import pytest
from jinja2 import UndefinedError

from pytest_autodeploy.base.templates import render_html


def test_html_is_escaped_in_every_folder() -> None:
    evil = "<script>"
    cells = {"latency": "", "source": "", "sort_key": "", "agreement": "", "passed": False}
    text = render_html("html/cells", model=evil, board=evil, **cells)
    assert text.count("&lt;script&gt;") == 2
    trend = {"groups": [{"title": evil, "runs": 2, "rows": []}]}
    assert "&lt;script&gt;" in render_html("baseline/trends", **trend)
    for folder in ("baseline/trends", "npu/sweep", "html/summary"):
        with pytest.raises(UndefinedError):
            render_html(folder)


def test_jinja_is_imported_only_when_something_is_rendered() -> None:
    code = (
        "import sys, pytest_autodeploy.report.html, pytest_autodeploy.image.sources\n"
        "assert 'jinja2' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
