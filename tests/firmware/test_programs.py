"""The firmware's own unit tests, and what the fuzzer's host does to its server."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.firmware_support import (
    FIRMWARE,
    build,
    host_build,
    needs,
    needs_host_build,
    words,
)

pytestmark = pytest.mark.slow

RAW, BODY, DAMAGED_BODY, CALL, SILENCE, SLOW_HOST, LATE_CALL = range(7)
MUTANTS = 3000


def step(kind: int, data: bytes) -> bytes:
    """A step of an input, as tests/fuzz_server.cc reads it."""
    return bytes([kind, len(data)]) + data


def call(number: int, *arguments: bytes) -> bytes:
    return step(CALL, bytes([number]) + b"".join(arguments))


def late(by: int, number: int, *arguments: bytes) -> bytes:
    """A call with the number of an earlier one; 0: of the latest."""
    return step(LATE_CALL, bytes([by, number]) + b"".join(arguments))


KEPT = [
    call(16, words(3)),
    call(17, words(3, 0, 400)),
    call(17, words(2, 1, 1)),
    call(17, words(3, 4000, 400)),
    call(17, words(6, 0, 0)),
]
"""What is asked when tensors are kept."""

SEEDS = [
    *(call(number) for number in range(24)),
    call(1, words(2)),
    call(1, words(2))
    + call(2, words(0))
    + late(0, 2, words(0))
    + late(1, 1)
    + late(1, 2, words(0)),
    *(call(2, words(0)) + each + late(0, 19, words(0)) for each in (call(19, words(0)), call(20))),
    call(2, words(0)) + call(20) + call(8, words(0, 99)) + call(8, words(2, 99)) + call(21),
    call(2, words(0)) + call(19, words(42), bytes(42)) + call(19, words(500), bytes(20)),
    *(call(number, words(0)) for number in (2, 3, 4, 9, 10, 16)),
    call(5, words(0, 0, 5), b"hello"),
    call(6, words(2)),
    call(7, words(0, 0, 400)),
    *(call(15, bytes([keep])) for keep in (0, 1, 2)),
    *(call(15, b"\1") + call(2, words(0)) + call(6, words(1)) + each for each in KEPT),
    call(8, words(0, 99)),
    call(13, words(0, 10)),
    *(call(18, words(*numbers)) for numbers in ((1, 8), (3, 1, 2, 3), (1, 1 << 16), (9,))),
    call(18, words(2, 8, 17)) + call(2, words(0)) + call(20) + call(8, words(0, 9)),
    step(RAW, b"garbage"),
    step(BODY, words(1 << 24 | 1 << 16 | 1 << 8, 1)),
    step(DAMAGED_BODY, words(1 << 24 | 1 << 16 | 1 << 8, 1)),
    step(SILENCE, bytes(150)),
    step(SLOW_HOST, bytes(9)),
]


def corpus() -> Iterator[bytes]:
    """The seeds, sessions of several of them, and these with bytes changed."""
    yield from SEEDS
    chance = random.Random(3)
    for _ in range(MUTANTS):
        session = bytearray(b"".join(chance.choices(SEEDS, k=chance.randint(1, 20))))
        for _ in range(chance.choice((0, 1, 2, 8))):
            session[chance.randrange(len(session))] = chance.randrange(256)
        yield bytes(session)


@needs_host_build
def test_the_unit_tests_pass(pytestconfig: pytest.Config) -> None:
    program = host_build(pytestconfig, "unit_tests") / "unit_tests"
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_host_build
def test_the_server_survives_the_corpus_and_then_answers(pytestconfig: pytest.Config) -> None:
    program = host_build(pytestconfig, "replay") / "replay"
    inputs = list(corpus())
    data = b"".join(struct.pack("<I", len(each)) + each for each in inputs)
    done = subprocess.run([program], input=data, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-4000:]
    assert done.stdout.decode() == f"{len(inputs)} inputs\n"


@pytest.mark.skipif(sys.platform != "linux", reason="libFuzzer comes with clang on Linux")
@needs("cmake", "ninja", "clang++")
def test_the_fuzzer_finds_nothing_in_some_thousand_inputs(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    clang = str(shutil.which("clang++"))
    runtimes = subprocess.run([clang, "--print-runtime-dir"], capture_output=True, text=True)
    if not list(Path(runtimes.stdout.strip()).glob("libclang_rt.fuzzer-*")):
        pytest.skip("not installed: libFuzzer of clang (Debian: libclang-rt-14-dev)")
    options = {"BOARD": "host", "SANITIZE": "ON", "CMAKE_CXX_COMPILER": clang}
    folder = build(pytestconfig, "fuzz", CONFIG_DIR=FIRMWARE / "tests" / "small", **options)
    for number, seed in enumerate(SEEDS):
        (tmp_path / f"seed{number}").write_bytes(seed)
    arguments = ["-runs=5000", "-seed=1", "-max_len=1024", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(
        [folder / "fuzz", *arguments, tmp_path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-4000:]
