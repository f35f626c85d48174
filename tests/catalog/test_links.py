"""``--evb-transport``: the link of a board whose firmware can have two."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_autodeploy.board.usb_ports import wanted
from pytest_autodeploy.catalog.boards import UnknownBoard, board_names, board_spec
from pytest_autodeploy.catalog.links import SEGGER_VID, with_transport
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder
from tests.helpers.emulation import image
from tests.helpers.neuralspot_bench import Bench
from tests.helpers.tflite_builder import relu


@pytest.mark.parametrize("name", board_names())
def test_every_evb_has_its_uart_and_the_usual_link_is_the_first(name: str) -> None:
    spec = board_spec(name)
    assert spec.transport == spec.transports[0]
    assert "uart" in spec.transports
    assert with_transport(spec, None) is spec
    over_uart = with_transport(spec, "uart")
    assert (over_uart.transport, over_uart.usb_vid, over_uart.usb_pid) == ("uart", SEGGER_VID, None)
    assert "serial port of the J-Link 801" in wanted(over_uart, "801")


@pytest.mark.parametrize(("name", "part"), [("apollo4l_evb", "board"), ("mps2-an386", "machine")])
def test_a_link_that_a_board_does_not_have_is_refused_with_those_it_has(
    name: str, part: str
) -> None:
    with pytest.raises(UnknownBoard, match=f"{name} has no link over USB") as caught:
        with_transport(board_spec(name, part), "usb")  # type: ignore[arg-type]
    assert str(caught.value.hint).endswith("uart" if part == "board" else "socket")


def test_the_firmware_is_another_one_with_another_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, monkeypatch)
    options = BuildOptions(sdk=str(bench.sdk), cache=tmp_path / "cache")
    model = image(tmp_path, relu())
    built = {}
    for link in ("usb", "uart"):
        spec = with_transport(board_spec("apollo4p_evb"), link)
        built[link] = NeuralSpotBuilder(spec, options).build(model).build_id
        (config,) = (tmp_path / "cache" / "build").rglob("autodeploy_config.h")
        assert f"#define AUTODEPLOY_LINK_{link.upper()}\n" in config.read_text()
    assert built["usb"] != built["uart"]
