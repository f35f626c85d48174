"""Hundreds of damaged models through the whole plugin: no hang, no crash, no traceback."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.helpers import tflite_builder
from tests.helpers.support import DIGITS

pytestmark = pytest.mark.slow

MUTANTS = 75
PARTS = 4
TESTS = 5  # built-in ones, per model


def mutants(seed: int) -> Iterator[bytes]:
    """Models with flipped bits, overwritten words, or cut short."""
    random_ = random.Random(seed)
    originals = [
        DIGITS.read_bytes(),
        tflite_builder.fully_connected(),
        tflite_builder.running_sum(),
    ]
    for number in range(MUTANTS * PARTS):
        content = bytearray(originals[number % len(originals)])
        kind = random_.randrange(4)
        if kind == 0:
            del content[random_.randrange(len(content)) :]
        for _ in range(0 if kind == 0 else random_.randint(1, 8)):
            at = random_.randrange(len(content) - 4)
            if kind == 1:
                content[at : at + 4] = random_.randbytes(4)
            else:
                content[at] ^= 1 << random_.randrange(8)
        yield bytes(content)


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_models_are_told_and_survived(pytester: pytest.Pytester, part: int) -> None:
    folder = pytester.mkdir("mutants")
    for number, content in enumerate(islice(mutants(seed=7), part, None, PARTS)):
        (folder / f"m{number:03}.tflite").write_bytes(content)
    few = ("--tflite-runs", "1", "--tflite-latency-runs", "1", "--evb-timeout", "20")
    result = pytester.runpytest_subprocess("--tflite", str(folder), *few, timeout=900)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    outcomes = result.parseoutcomes()
    assert sum(outcomes.values()) == TESTS * MUTANTS
    assert outcomes["passed"] > MUTANTS / 10
    assert outcomes["errors"] > MUTANTS / 4
    output = result.stdout.str()
    assert "Traceback" not in output
    assert "INTERNALERROR" not in output
    assert ".py:" not in output.partition("short test summary info")[0]
    results = list(Path("autodeploy-results").glob("*/*/result.json"))
    assert len(results) == MUTANTS
