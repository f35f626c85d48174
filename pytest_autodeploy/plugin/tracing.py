"""``--autodeploy-trace``: what the processes of a run do, and when, in one file."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.base import trace
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.plugin.state import is_worker


def begin(config: pytest.Config) -> None:
    """Trace this run; a worker of xdist joins the trace of its controller."""
    if is_worker(config):
        trace.join(f"xdist worker {config.workerinput['workerid']}")  # type: ignore[attr-defined]
        if trace.tracing():
            config.add_cleanup(trace.end)
            config.pluginmanager.register(Phases(), "autodeploy_trace")
        return
    path = Path(config.invocation_params.dir, config.option.autodeploy_trace)
    _check(path)
    scratch = Scratch("trace")
    config.add_cleanup(scratch.close)
    config.add_cleanup(_finish(config, scratch.path, path))
    trace.begin(scratch.path, "pytest")
    trace.since("start Python and pytest", trace.process_start_ns())
    config.pluginmanager.register(Phases(), "autodeploy_trace")


def _check(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise pytest.UsageError(
            f"--autodeploy-trace: cannot write {path}: {error.strerror}\n"
            "Hint: name a file in a folder that can be written to"
        ) from None


def _finish(config: pytest.Config, folder: Path, path: Path) -> Callable[[], None]:
    def finish() -> None:
        """The last of the run: boards and processes have ended."""
        trace.end()
        document = trace.collect(folder)
        command = [str(argument) for argument in config.invocation_params.args]
        document["otherData"] = {"command": ["pytest", *command]}
        path.write_text(json.dumps(document) + "\n", encoding="utf-8")

    return finish


class Phases:
    """Spans of what pytest does: collection, the phases of each test, the end."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        with trace.span("collect"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with trace.span("set up", test=item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with trace.span(item.name, test=item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with trace.span("tear down", test=item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with trace.span("make the record", test=item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, Any, Any]:
        with trace.span("log the report", test=report.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        with trace.span("write results"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self) -> Generator[None, Any, Any]:
        with trace.span("summary"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        with trace.span(f"fixture {fixturedef.argname}"):
            return (yield)
