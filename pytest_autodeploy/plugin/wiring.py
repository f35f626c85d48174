"""``--autodeploy-check-wiring``: which of the lines between meter and boards work.

It is a run of pytest whose tests are replaced by the check, so that ``evb_options`` and
``power_meter_options`` are what the project's conftest files make of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.plugin.state import settings_of
from pytest_autodeploy.plugin.suite.collector import SUITE, wants_suite
from pytest_autodeploy.power.errors import PowerError
from pytest_autodeploy.settings.meter_choice import NO_METER

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.run.runtime import Runtime

OPTIONS = ("evb_options", "power_meter_options")
"""The override points that say how a board and its meter are reached."""

_QUIET = -2
"""pytest's verbosity at which it says nothing of a run without tests."""


def take_over(config: pytest.Config) -> None:
    """Let pytest be silent, and xdist start no workers: a board is checked once."""
    config.option.verbose = _QUIET
    if hasattr(config.option, "dist"):
        config.option.dist, config.option.numprocesses, config.option.tx = "no", None, []
    config.pluginmanager.register(WiringCheck(), "autodeploy_wiring")


class WiringCheck:
    """Takes the place of the tests of a run."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        """Nothing is collected."""
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Check the lines of every board, and print what was found."""
        from pytest_autodeploy.run.runtime import Runtime

        settings = settings_of(session.config)
        runtime = Runtime(settings, lambda _what, _done, _total: None)
        try:
            for parent in _places(session):
                with _options(parent) as options:
                    if parent is not session:
                        _say(f"with the options of {parent.nodeid}:")
                    for board_id in dict.fromkeys(settings.evb):
                        session.testscollected += 1
                        session.testsfailed += not _check(board_id, runtime, *options)
        finally:
            runtime.close()
        return True


def _places(session: pytest.Session) -> Iterator[pytest.Collector]:
    """Where tests would be: what is named, and each folder whose conftest overrides the options.

    Fixtures hold in a folder and below it, so that each of these may have options of its own. The
    built-in tests have those of the root folder.
    """
    config = session.config
    root = config.rootpath
    places = {_relative(file.parent, root) for file in _overriding(config)}
    if config.args_source is config.ArgsSource.ARGS:
        named = [config.invocation_params.dir / arg.partition("::")[0] for arg in config.args]
        below = [_relative(path, root) for path in named]
        places = {place for place in places if any(place.is_relative_to(each) for each in below)}
        places |= set(below)
    if wants_suite(config) or not places:
        places.add(Path())
    for place in sorted(places):
        yield _node(session, place)


def _overriding(config: pytest.Config) -> Iterator[Path]:
    """The conftest files, of those that pytest has loaded, that override the options."""
    for plugin in config.pluginmanager.get_plugins():
        file = Path(getattr(plugin, "__file__", None) or "")
        if file.name == "conftest.py" and any(hasattr(plugin, name) for name in OPTIONS):
            yield file


def _relative(path: Path, root: Path) -> Path:
    """A path from the root folder; outside of it only the root's conftest holds."""
    return path.relative_to(root) if path.is_relative_to(root) else Path()


def _node(session: pytest.Session, place: Path) -> pytest.Collector:
    """A folder below the root, or a test file with its own fixtures, as pytest collects it.

    pytest learns of fixtures when it collects what they are in: of a file's since ever, of a
    conftest's since 9.2.
    """
    node: pytest.Collector = session
    for path in reversed([place, *place.parents][:-1]):
        full = session.config.rootpath / path
        kind = pytest.Dir if full.is_dir() else pytest.Module
        node = kind.from_parent(node, path=full)
        report = node.ihook.pytest_make_collect_report(collector=node)
        if not report.passed:
            raise pytest.UsageError(f"cannot collect {path}: {report.longrepr}")
    return node


@contextmanager
def _options(parent: pytest.Collector) -> Iterator[list[Any]]:
    """What the override points return there, while their fixtures live."""

    def check_wiring(evb_options: Any, power_meter_options: Any) -> None: ...

    if not isinstance(parent, pytest.Module):
        parent = pytest.Module.from_parent(parent, path=Path(__file__), name=SUITE, nodeid=SUITE)
    item: pytest.Function = pytest.Function.from_parent(
        parent, name=check_wiring.__name__, callobj=check_wiring
    )
    setup = pytest.CallInfo.from_call(lambda: item.ihook.pytest_runtest_setup(item=item), "setup")
    try:
        if setup.excinfo:
            raise pytest.UsageError(f"{' or '.join(OPTIONS)} failed: {setup.excinfo.exconly()}")
        yield [item.funcargs[name] for name in OPTIONS]
    finally:
        item.ihook.pytest_runtest_teardown(item=item, nextitem=None)


def _check(board_id: str, runtime: Runtime, board_options: Any, meter_options: Any) -> bool:
    from pytest_autodeploy.power.wiring import probe

    try:
        board = runtime.boards.board(board_id, board_options)
        runtime.boards.meters.power_up(board, meter_options)
        meter = runtime.boards.meters.meter_of(board)
        if meter is None:
            raise pytest.UsageError(f"{board_id}: {NO_METER}\n  {_lines_of(board)}")
        wiring = probe(board, _connected(board, runtime), meter)
    except AutodeployError as error:
        _say(f"{board_id}: cannot check: {error}")
        return False
    for line in wiring.lines():
        _say(line)
    return wiring.works


def _lines_of(board: Board) -> str:
    """The lines that the meter needs, for who has not connected one yet."""
    pins = board.spec.power_pins
    if not pins:
        return "this board has no lines to a meter"
    lines = (("In0", "in0"), ("In1", "in1"), ("Out0", "trigger"))
    text = ", ".join(f"{line} to GPIO {pins[name]}" for line, name in lines)
    return f"its lines: {text}, {board.spec.io_voltage:g} V"


def _connected(board: Board, runtime: Runtime) -> ValidatorClient:
    """The client of a board; most answer only with a model."""
    from pytest_autodeploy.board.base import WithoutModel
    from pytest_autodeploy.image.image import Image

    settings = runtime.settings
    if isinstance(board, WithoutModel):
        board.connect()
    elif settings.tflite:
        board.load(Image(runtime.models.first_runnable(board.id)))
    else:
        raise PowerError(
            "the firmware for a check comes with a model", hint="Give --tflite; it is not run."
        )
    return board.client


def _say(text: str) -> None:
    print(text)  # noqa: T201  # as pytest's own --fixtures and --markers do
