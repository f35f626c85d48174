"""The power application runs as a product would: no link, no profiler, no debug units."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.deliver import apps
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.trees import SDK_VARIABLE
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_builds import characterization
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)
FOUND = characterization(MODEL)
RUNTIME = "helia_rt_v1_3_0"
"""The Apache-2.0 one that neuralSPOT has."""

LINK = r"(init|read|write|power)_link|uart_(initialize|configure|power_control)|tud_|tusb_|ns_usb_"
INSTRUMENTS = r"am_hal_itm_enable|cache_profiler|capture_cache|LayerLog|read_counters"


@pytest.mark.parametrize("name", board_names())
def test_its_sources_are_those_of_a_clock_and_three_pins(name: str) -> None:
    files = apps.power(Sources(FOUND, MODEL, board_spec(name)))
    compiled = {Path(file).name for file in files if file.endswith(".cc")}
    assert {"core.cc", "pins.cc", "power_board.cc", "power_run.cc"} < compiled
    assert not [file for file in compiled if re.search("link|counter|survive", file)]


def test_its_pins_on_the_apollo3p_evb_are_the_documented_ones() -> None:
    """As it has no UART; the validator's are others."""
    spec = board_spec("apollo3p_evb")
    files = apps.power(Sources(FOUND, MODEL, spec))
    assert dict(spec.app_pins) == {"in0": 22, "in1": 23, "trigger": 24}
    assert "kPinIn0 = 22;" in str(files["src/autodeploy_config.h"])
    assert "pins 22 (In0), 23 (In1) and\n24 (trigger)" in str(files["README.md"])
    validator = apps.validator(Sources(FOUND, MODEL, spec))
    assert "kPinIn0 = 26;" in str(validator["src/autodeploy_config.h"])


@pytest.mark.skipif(SDK_VARIABLE not in os.environ, reason=f"{SDK_VARIABLE} is not set")
def test_its_image_links_no_link_and_no_profiler(tmp_path: Path) -> None:
    sdk = Path(os.environ[SDK_VARIABLE])
    runtime = str(sdk / "extern" / "tensorflow" / RUNTIME)
    options = BuildOptions(sdk=str(sdk), tflm_root=runtime, cache=tmp_path / "cache")
    out = tmp_path / "out"
    delivery = generate(MODEL, board_spec("apollo3p_evb"), out, ["power"], FOUND, options)
    assert not delivery.left_out
    image = out / "bin" / f"{DIGITS.stem}_power.axf"
    nm = str(shutil.which("arm-none-eabi-nm"))
    names = subprocess.run([nm, image], capture_output=True, text=True, check=True)
    found = [name for name in names.stdout.split() if re.search(f"{LINK}|{INSTRUMENTS}", name)]
    assert not found
