"""``--autodeploy-check-wiring``: which of the lines between meter and boards work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.power.errors import PowerError
from pytest_autodeploy.settings.meter_choice import NO_METER
from pytest_autodeploy.settings.settings import SettingError, Settings, resolve

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.rpc.client import ValidatorClient
    from pytest_autodeploy.run.runtime import Runtime


def check_wiring(config: pytest.Config) -> int:
    """Check the lines of every board and print what was found; returns the exit code."""
    from pytest_autodeploy.run.preflight import check_settings
    from pytest_autodeploy.run.runtime import Runtime

    start = Path(config.invocation_params.dir)
    try:
        settings = resolve(config.getoption, config.getini, start, config.rootpath)
        check_settings(settings, write=False)
    except SettingError as error:
        raise pytest.UsageError(str(error)) from None
    runtime = Runtime(settings, lambda _what, _done, _total: None)
    try:
        works = [_check(board_id, runtime, settings) for board_id in dict.fromkeys(settings.evb)]
    finally:
        runtime.close()
    return int(pytest.ExitCode.OK if all(works) else pytest.ExitCode.TESTS_FAILED)


def _check(board_id: str, runtime: Runtime, settings: Settings) -> bool:
    from pytest_autodeploy.power.wiring import probe

    board = runtime.board(board_id)
    try:
        meter = runtime.meters.meter_of(board)
        if meter is None:
            raise pytest.UsageError(f"{board_id}: {NO_METER}")
        runtime.meters.power_up(board, {})
        wiring = probe(board, _connected(board, runtime, settings), meter)
    except AutodeployError as error:
        _say(f"{board_id}: cannot check: {error}")
        return False
    for line in wiring.lines():
        _say(line)
    return wiring.works


def _connected(board: Board, runtime: Runtime, settings: Settings) -> ValidatorClient:
    """The client of a board: of a controllable one without a model; others need one."""
    from pytest_autodeploy.board.base import Controllable
    from pytest_autodeploy.image.image import Image
    from pytest_autodeploy.model.find import find_models

    if isinstance(board, Controllable):
        board.connect()
    elif settings.tflite:
        board.load(Image(runtime.model(find_models(settings.tflite, settings.root)[0])))
    else:
        raise PowerError(
            "the firmware for a check comes with a model", hint="Give --tflite; it is not run."
        )
    return board.client


def _say(text: str) -> None:
    print(text)  # noqa: T201  # as pytest's own --fixtures and --markers do
