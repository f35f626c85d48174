"""pyOCD as the alternative to J-Link, where it knows the chip."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.board.probe import FlashFailed, ProbeFailed, ProbeUnavailable
from pytest_autodeploy.board.pyocd import PyOcd

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake pyOCD is a script")

PROGRAM = """
import json, sys
folder = __file__.rpartition("/")[0]
with open(folder + "/calls.jsonl", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
answer = json.load(open(folder + "/answers.json")).get(sys.argv[2 if sys.argv[1] == "json" else 1])
print(answer["output"])
sys.exit(answer["code"])
"""

PROGRAMMED = "0001520 I Erased 0 bytes (0 sectors), programmed 65536 bytes (64 pages) at 80.1 kB/s"
NO_PROBE = "No connected debug probe matches unique ID '5'\n0000930 E No target device available"


def answer(output: Any, code: int = 0) -> dict[str, Any]:
    text = output if isinstance(output, str) else f"0001 W slow start\n{json.dumps(output)}"
    return {"output": text, "code": code}


class Fake:
    """A pyOCD on PATH that knows one chip and one probe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers = {
            "--targets": answer({"targets": [{"name": "ama3b1kk_kbr"}, {"name": "amap42kk-kbr"}]}),
            "--probes": answer({"boards": [{"unique_id": "5", "info": "SEGGER J-Link"}]}),
            "flash": answer(PROGRAMMED),
            "reset": answer(""),
        }
        (folder / "pyocd").write_text(f"#!{sys.executable} -ES\n{PROGRAM}")
        (folder / "pyocd").chmod(0o755)
        (folder / "image.bin").write_bytes(b"x")

    def flash(self, device: str = "AMAP42KK-KBR") -> None:
        self.probe(device).flash(self.folder / "image.bin", 0x18000)

    def probe(self, device: str = "AMAP42KK-KBR") -> PyOcd:
        (self.folder / "answers.json").write_text(json.dumps(self.answers))
        return PyOcd("apollo4p_evb", device)

    @property
    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]


@pytest.fixture
def pyocd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return Fake(tmp_path)


def test_a_chip_that_pyocd_knows_is_flashed_and_reset(pyocd: Fake) -> None:
    pyocd.flash()
    pyocd.probe().reset()
    flash = next(call for call in pyocd.calls if call[0] == "flash")
    assert flash[flash.index("--target") + 1] == "amap42kk-kbr"
    assert flash[flash.index("--uid") + 1] == "5"
    assert flash[flash.index("--base-address") + 1] == "0x18000"


def test_a_chip_that_pyocd_does_not_know_is_refused(pyocd: Fake) -> None:
    with pytest.raises(
        ProbeUnavailable, match=r"pyOCD does not know the chip AP510NFA-CBR\n.*pack"
    ):
        pyocd.flash("AP510NFA-CBR")


@pytest.mark.parametrize("words", ["", "0001520 I nothing to do"])
def test_a_flash_of_which_pyocd_says_nothing_failed(pyocd: Fake, words: str) -> None:
    pyocd.answers["flash"] = answer(words)
    with pytest.raises(FlashFailed, match="flash: pyOCD exited with code 0"):
        pyocd.flash()


def test_a_failure_of_pyocd_is_told(pyocd: Fake) -> None:
    pyocd.answers["flash"] = answer("0002 I start\n0930 E flash erase sector failure [loader]", 1)
    with pytest.raises(FlashFailed, match=r"exited with code 1 .*erase sector failure"):
        pyocd.flash()
    pyocd.answers["reset"] = answer("0930 C SWD/JTAG communication failure", 1)
    with pytest.raises(ProbeFailed, match=r"reset: pyOCD exited with code 1 .*communication fail"):
        pyocd.probe().reset()


def test_a_probe_that_is_not_there_lists_those_that_are(pyocd: Fake) -> None:
    pyocd.answers["flash"] = answer(NO_PROBE, 1)
    with pytest.raises(ProbeUnavailable, match=r"(?s)No connected debug probe.*5 \(SEGGER J-Link"):
        pyocd.flash()


def test_a_pyocd_that_answers_nonsense_is_an_error(pyocd: Fake) -> None:
    pyocd.answers["--targets"] = answer("Segmentation fault", 139)
    with pytest.raises(ProbeUnavailable, match=r"does not list its targets .Segmentation fault"):
        pyocd.flash()


def test_a_missing_pyocd_says_how_to_install_it(pyocd: Fake) -> None:
    (pyocd.folder / "pyocd").unlink()
    with pytest.raises(ProbeUnavailable, match=r"(?s)pyOCD is not installed.*pip install pyocd"):
        pyocd.flash()
