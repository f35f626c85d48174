"""The page of merged results: the table, the cards, and all tests."""

from __future__ import annotations

from pytest_autodeploy.base.templates import render_html
from pytest_autodeploy.base.text import one_line
from pytest_autodeploy.report.anchors import row_anchor
from pytest_autodeploy.report.cards import cards_html
from pytest_autodeploy.report.html_table import summary_html
from pytest_autodeploy.report.npu_html import estimates_html
from pytest_autodeploy.report.shards import Merged


def merged_html(merged: Merged) -> str:
    """A page of its own: the table, the cards, and all tests."""
    boards = [result for result in merged.results if not result.npu]
    return render_html(
        "html/merged",
        summary=summary_html(boards),
        cards=cards_html(merged.results, [], "."),
        estimates=estimates_html(merged.results),
        shards=[str(shard.folder) for shard in merged.shards],
        not_judged=merged.red,
        repeated=merged.repeated,
        tests=[
            (row_anchor(test.nodeid), one_line(test.nodeid), test.outcome, one_line(test.message))
            for result in merged.results
            for test in result.tests
        ],
    )
