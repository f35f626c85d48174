"""What J-Link Commander's output means: its exit code alone says little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.board.probe import Connected

PROBE = "probe"
"""The topic of complaints about the probe itself."""

_PROGRAMMED = re.compile(
    r"Contents already match|Flash download: .*(range affected|Program|Verif)"
    r"|(Programming|Verifying) flash.*Done|Verify successful",
    re.IGNORECASE,
)
_DOWNLOAD = re.compile(r"Downloading file|loadfile", re.IGNORECASE)
_RESET = re.compile(r"\s*Reset\b.*[:.]", re.IGNORECASE)
_ECHO = re.compile(r"J-Link>")
_LISTED = re.compile(r"Serial number:\s*(\d+)(?:.*?Product(?:Name)?:\s*([^,\r\n]+))?")
_LINE_LENGTH = 200


@dataclass(frozen=True)
class Complaint:
    """A kind of failure: how J-Link words it, what that means and what to do."""

    text: str
    meaning: str
    advice: str = ""
    topic: str = ""


_WIRING = "is it on, is it the board of --evb, and is its debug connector free?"

# The first kind that any line matches is told, so causes stand before what follows from them: a
# board that is off is also one that cannot be connected to. Wordings differ between versions of the
# software, hence the patterns; what matches none is still a failure, as success has words of its
# own.
COMPLAINTS = (
    Complaint(
        r"(failed to|could not|cannot) open (J-?Link(ARM)?|the) ?(DLL|library)",
        "the J-Link software cannot load its library",
        "install the J-Link software again",
    ),
    Complaint(
        r"no (emulator|J-Link|probe)s?\b.*(found|connected|serial|with|via|matches)"
        r"|(emulator|probe|J-Link) with (the )?(serial|S/N).*not found"
        r"|connecting to J-Link.*failed"
        r"|(cannot|could not|failed to) connect to (the )?(J-Link|probe)",
        "the probe cannot be reached",
        "is it connected, and is no other program using it?",
        PROBE,
    ),
    Complaint(
        r"unknown device|device .*(is unknown|not (supported|found)|unsupported)",
        "the J-Link software does not know the chip",
        "update the J-Link software, or install Ambiq's device support for it",
    ),
    Complaint(
        # VTref is the board's supply as the probe measures it.
        r"VTref\s*=\s*0\.\d+|(target|supply) (voltage|power).*(too low|not)|no target power",
        "the target has no power",
        "switch the board on, or plug in its supply",
    ),
    Complaint(
        r"(failed to|could not|cannot|error while) open(ing)? (source |data )?file",
        "the firmware file cannot be read",
    ),
    Complaint(
        r"verif(y|ication|ying)\b.*\b(failed|error|mismatch)|(failed to|error while) verify",
        "what was read back is not what was programmed",
        "try again; a flash that keeps failing is worn out or protected",
    ),
    Complaint(
        r"(cannot|could not|failed to) (connect|attach) to (the )?(target|CPU|core|device)"
        r"|could not find core|could not find supported CPU|failed to (initiali[sz]e|power up) DAP"
        r"|no device found|error while (identifying|connecting)|communication timed out",
        "the probe cannot reach the chip",
        _WIRING,
    ),
    Complaint(
        r"(programming|erase|erasing|writing|flash download|download)\b.*\bfail(ed)?\b"
        r"|(failed to|could not|cannot|error while) (program|eras|write|download|prepar|restor)",
        "the flash could not be programmed",
        "erase the chip with the J-Link software, or power the board off and on",
    ),
    Complaint(
        r"(could not|cannot|failed to) (start|halt|reset|read|set)\b",
        "the chip does not obey the probe",
        _WIRING,
    ),
    Complaint(r"^\W*(internal )?error\b|unspecified error|script processing aborted", "it failed"),
)


@dataclass(frozen=True)
class Failure:
    """Why J-Link's work is not done, and its line that says so; empty when it said nothing."""

    complaint: Complaint
    line: str


def flash_failure(code: int | None, output: str) -> Failure | None:
    """Why a flash is not done; None only when J-Link says that it programmed and verified."""
    lines = _said(output)
    download = _after_last(lines, _DOWNLOAD)
    failure = _failure(code, lines if download is None else download)
    if failure or download is None:
        return failure or _no_success(lines, "J-Link did not program anything")
    # O.K. alone ends every LoadFile, also one that went to RAM and left the flash as it was.
    done = any(line.strip() in ("O.K.", "OK") for line in download)
    if not done or not any(map(_PROGRAMMED.search, download)):
        return _no_success(download, "J-Link does not say that it programmed the flash")
    return None


def reset_failure(code: int | None, output: str) -> Failure | None:
    """Why a reset is not done, or None."""
    lines = _said(output)
    reset = _after_first(lines, _RESET)
    failure = _failure(code, lines if reset is None else reset)
    if failure or reset is not None:
        return failure
    return _no_success(lines, "J-Link does not say that it reset the chip")


def connected_probes(output: str) -> list[Connected]:
    """The probes of J-Link's ``ShowEmuList``."""
    found = (_LISTED.search(line) for line in output.splitlines())
    return [Connected(match[1], (match[2] or "").strip()) for match in found if match]


def _said(output: str) -> list[str]:
    """The lines but for the echoes of the commands, which name errors and files themselves."""
    lines = [line.strip() for line in output.replace("\0", "").splitlines()]
    return [line for line in lines if line and not _ECHO.match(line)]


def _after_last(lines: Sequence[str], pattern: re.Pattern[str]) -> Sequence[str] | None:
    found = [number for number, line in enumerate(lines) if pattern.search(line)]
    return lines[found[-1] + 1 :] if found else None


def _after_first(lines: Sequence[str], pattern: re.Pattern[str]) -> Sequence[str] | None:
    found = [number for number, line in enumerate(lines) if pattern.match(line)]
    return lines[found[0] :] if found else None


def _failure(code: int | None, lines: Sequence[str]) -> Failure | None:
    """The most telling complaint; attempts before the work itself are not among the lines."""
    for complaint in COMPLAINTS:
        text = re.compile(complaint.text, re.IGNORECASE)
        for line in lines:
            if text.search(line):
                return Failure(complaint, line[:_LINE_LENGTH])
    return _no_success(lines, "J-Link gave up") if code != 0 else None


def _no_success(lines: Sequence[str], meaning: str) -> Failure:
    return Failure(Complaint("", meaning), lines[-1][:_LINE_LENGTH] if lines else "")
