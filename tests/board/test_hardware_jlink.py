"""J-Link Commander: success is what it says, and every way to fail is told apart."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_autodeploy.board.jlink import JLink
from pytest_autodeploy.board.jlink_output import connected_probes, flash_failure, reset_failure
from pytest_autodeploy.board.probe import FlashFailed, ProbeFailed, ProbeUnavailable
from tests.helpers.fake_jlink import CONNECTED, FAILURES, PROGRAMMED, RESET
from tests.helpers.hardware_bench import PROBE, Bench, install

posix = pytest.mark.skipif(os.name != "posix", reason="the fake J-Link is a script")

DOWNLOAD = "J-Link>LoadFile image.bin, 0x18000\nDownloading file [image.bin]...\n"
ALREADY = "J-Link: Flash download: Bank 0 @ 0x00018000: Skipped. Contents already match\nO.K.\n"
NEWEST = (
    "J-Link: Flash download: Bank 0 @ 0x00018000: 1 range affected (6144 bytes)\n"
    "J-Link: Flash download: Program & Verify speed: 72 KB/s\nO.K.\n"
)
NO_CORE = "****** Error: Could not find core in Coresight setup\n"
GUI = "JLinkGUIServerExe: cannot connect to X server\n"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = install(monkeypatch, tmp_path)
    (tmp_path / "image.bin").write_bytes(b"")
    yield bench
    bench.close()


@pytest.fixture
def image(bench: Bench) -> Path:
    path = bench.folder / "a name; with 'spaces'.bin"
    path.write_bytes(b"{}")
    return path


def jlink(**options: object) -> JLink:
    chosen = {"serial": PROBE, "flash_timeout_s": 30.0, "timeout_s": 30.0} | options
    return JLink("apollo4p_evb", "AMAP42KK-KBR", **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "output",
    [
        f"{CONNECTED}\n{DOWNLOAD}{PROGRAMMED}\n{RESET}\n",
        f"{CONNECTED}\n{DOWNLOAD}{ALREADY}{RESET}\n",
        f"{CONNECTED}\n{DOWNLOAD}{NEWEST}{RESET}\n",
        f"{NO_CORE}{CONNECTED}\n{DOWNLOAD}{NEWEST}{RESET}\n",  # the second attempt connected
        f"{CONNECTED}\n{DOWNLOAD}{GUI}{NEWEST}{RESET}\n",
        f"{CONNECTED}\n{DOWNLOAD}{NEWEST}{RESET}\n".replace("\n", "\r\n"),
    ],
)
def test_a_flash_is_done_when_jlink_says_so(output: str) -> None:
    assert flash_failure(0, output) is None


@pytest.mark.parametrize(
    ("code", "output", "meaning"),
    [
        (0, "", "did not program anything"),
        (0, f"{CONNECTED}\n{RESET}\n", "did not program anything"),
        (0, f"{CONNECTED}\n{DOWNLOAD}", "does not say that it programmed"),
        (0, f"{CONNECTED}\n{DOWNLOAD}O.K.\n", "does not say that it programmed"),  # no flash there
        (1, f"{CONNECTED}\n{DOWNLOAD}{NEWEST}", "gave up"),
        (0, f"{CONNECTED}\n{DOWNLOAD}{NEWEST}{NO_CORE}", "cannot reach the chip"),
        (0, f"{CONNECTED}\n{DOWNLOAD}****** Error: what\n{NEWEST}", "it failed"),
        (0, f"{NO_CORE}Script processing completed.\n", "cannot reach the chip"),
    ],
)
def test_a_flash_is_not_done_when_jlink_does_not_say_so(
    code: int, output: str, meaning: str
) -> None:
    failure = flash_failure(code, output)
    assert failure is not None
    assert meaning in failure.complaint.meaning


def test_a_reset_is_done_when_jlink_says_so() -> None:
    assert reset_failure(0, f"{CONNECTED}\n{RESET}\n") is None
    assert reset_failure(0, f"{CONNECTED}\n") is not None
    assert reset_failure(1, f"{CONNECTED}\n{RESET}\n") is not None
    assert reset_failure(0, f"{CONNECTED}\n{RESET}\nCould not start CPU core.\n") is not None


def test_the_list_of_probes_is_read() -> None:
    output = (
        "J-Link[0]: Connection: USB, Serial number: 1160002204, ProductName: J-Link-OB-Apollo4\n"
        "J-Link[1]: Connection: USB, Serial number: 9000001234, ProductName: J-Link-Pro, "
        "Nickname: bench-rig\n"
        "J-Link[2]: Connection: USB, Serial number: 5, Product: J-Link OB\n"
    )
    assert [str(probe) for probe in connected_probes(output)] == [
        "1160002204 (J-Link-OB-Apollo4)",
        "9000001234 (J-Link-Pro)",
        "5 (J-Link OB)",
    ]


@posix
@pytest.mark.parametrize("lies", ["", " with exit code 0"])
@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("cannot connect", "the probe cannot reach the chip .*'Cannot connect to target.'"),
        ("no power", "the target has no power .*'VTref=0.000V'"),
        ("unknown device", "the J-Link software does not know the chip .*unknown to this version"),
        ("verify fails", "what was read back is not what was programmed .*@ address 0x00018000"),
        ("program fails", "the flash could not be programmed .*Programming failed"),
        ("no file", "the firmware file cannot be read .*Failed to open file"),
    ],
)
def test_a_failure_of_jlink_is_told(
    bench: Bench, image: Path, mode: str, says: str, lies: str
) -> None:
    bench.be(mode + lies)
    with pytest.raises(FlashFailed, match=f"apollo4p_evb: flash: {says}"):
        jlink().flash(image, 0x18000)


@posix
@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("says nothing", "J-Link did not program anything .J-Link said nothing"),
        ("connects only", "J-Link did not program anything"),
        ("crashes", "J-Link gave up .J-Link said .* and died of SIGSEGV"),
    ],
)
def test_a_jlink_that_breaks_is_told(bench: Bench, image: Path, mode: str, says: str) -> None:
    bench.be(mode)
    with pytest.raises(FlashFailed, match=f"flash: {says}"):
        jlink().flash(image, 0x18000)
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


@posix
def test_a_jlink_that_hangs_is_told_with_its_last_line(bench: Bench, image: Path) -> None:
    bench.be("hangs")
    says = r"flash: J-Link did not finish after 3 s\n  its last line was '.*Command File read"
    with pytest.raises(FlashFailed, match=says):
        jlink(flash_timeout_s=3).flash(image, 0x18000)
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


@posix
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_a_jlink_that_hangs_is_killed_with_its_children(bench: Bench, image: Path) -> None:
    bench.be("hangs")
    with pytest.raises(FlashFailed):
        jlink(flash_timeout_s=1).flash(image, 0x18000)
    mine = str(bench.folder / "programs" / "JLinkExe").encode()
    until = time.monotonic() + 30
    while any(mine in command for command in _commands()):
        assert time.monotonic() < until, "a process of J-Link is left"


def _commands() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except OSError:  # it ended meanwhile
            continue


@posix
@pytest.mark.parametrize("mode", ["no probe", "no probe with exit code 0"])
def test_a_probe_that_is_not_there_lists_those_that_are(
    bench: Bench, image: Path, mode: str
) -> None:
    bench.be(mode)
    with pytest.raises(ProbeUnavailable) as raised:
        jlink(serial="5").flash(image, 0x18000)
    assert "flash: the probe cannot be reached" in str(raised.value)
    assert "--evb-probe 5" in str(raised.value)
    assert f"probes that are connected: {PROBE} (J-Link-OB-Apollo4-CortexM)" in str(raised.value)


@posix
def test_several_probes_need_a_choice(bench: Bench, image: Path) -> None:
    bench.probes.append(("440130584", "J-Link EDU"))
    bench.be("good")
    with pytest.raises(ProbeUnavailable, match=rf"(?s)several .*SERIAL; .*{PROBE} .*440130584 "):
        jlink(serial=None).flash(image, 0x18000)
    bench.probes.clear()
    bench.be("good")
    with pytest.raises(ProbeUnavailable, match="no debug probe is connected"):
        jlink(serial=None).flash(image, 0x18000)


@posix
def test_a_reset_that_fails_is_told(bench: Bench) -> None:
    bench.be("cannot connect")
    with pytest.raises(ProbeFailed, match="reset: the probe cannot reach the chip"):
        jlink().reset()


def test_firmware_that_is_not_there_never_reaches_jlink(tmp_path: Path) -> None:
    with pytest.raises(FlashFailed, match="is not there"):
        jlink().flash(tmp_path / "none.bin", 0)
    (tmp_path / "empty.bin").touch()
    with pytest.raises(FlashFailed, match="is empty"):
        jlink().flash(tmp_path / "empty.bin", 0)


def test_jlink_that_is_not_installed_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProbeUnavailable, match=r"(?s)not on PATH.*install SEGGER's J-Link"):
        jlink().reset()
    with pytest.raises(ProbeUnavailable, match="/nowhere/JLinkExe is not there"):
        jlink(executable="/nowhere/JLinkExe").reset()


def test_every_failure_of_the_fake_is_a_failure() -> None:
    for lines in FAILURES.values():
        assert flash_failure(0, "\n".join(lines)) is not None
