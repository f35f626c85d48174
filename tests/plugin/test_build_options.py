"""Options of builds that a board lacks are refused before anything is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.result_files import result_file

RESULT = Path("autodeploy-results/digits_cnn/sim_apollo4p_evb/result.json")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--evb-dwt-counters=modulo",), "sim:apollo4p_evb has none of these counters"),
        (
            ("--evb-dwt-counters=modulo", "--evb=apollo510_evb"),
            "apollo510_evb has none of these counters",
        ),
        (("--evb-tflm-memory=itcm", "--evb=apollo4p_evb"), "apollo4p_evb has no ITCM for TFLM"),
        (("--evb-tflm-memory=itcm", "--evb=qemu:mps2-an386"), "has no ITCM for TFLM"),
        (("--evb-reserve=psram=10%",), "apollo4p_evb has no PSRAM"),
        (("--evb-reserve=dtcm=10",), "is not a size such as 10%"),
        (("--evb-model-memory=nvm",), "has no NVM for the model"),
    ],
)
def test_what_a_board_does_not_have_is_a_usage_error(
    pytester: pytest.Pytester, digits: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = pytester.runpytest("--tflite", digits.name, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{words}*"])


def test_a_reserve_moves_the_arena_of_a_simulated_board(
    pytester: pytest.Pytester, digits: Path
) -> None:
    """The arena gets what is left: of a DTCM of 384 KB with 380 KB reserved less than it needs."""
    pytester.runpytest("--tflite", digits.name, "-k", "fits", "--evb-reserve=dtcm=383kb")
    given = {m["name"]: m["value"] for m in result_file(RESULT)["measurements"]}["arena_given"]
    assert given > 384 * 1024  # so it is in SRAM
