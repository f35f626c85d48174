"""Damaged files: every mutation gives a Model or a ModelError, and none takes long."""

from __future__ import annotations

import random
import re
import struct
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.load import load_model
from tests.helpers import tflite_builder as build

MODELS = {
    "fully connected": build.fully_connected(),
    "two inputs": build.add_two_inputs(),
    "variables": build.running_sum(),
    "custom operator": build.custom_operator(),
}
MUTATIONS = 300


def flip_bits(content: bytearray, choose: random.Random) -> None:
    for _ in range(choose.randint(1, 4)):
        content[choose.randrange(len(content))] ^= 1 << choose.randrange(8)


def cut(content: bytearray, choose: random.Random) -> None:
    del content[choose.randrange(len(content)) :]


def overwrite_word(content: bytearray, choose: random.Random) -> None:
    word = choose.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, choose.getrandbits(32)])
    struct.pack_into("<I", content, choose.randrange(len(content) // 4) * 4, word)


def refusal(path: Path) -> str | None:
    """The words with which a file is refused, None when it is loaded."""
    try:
        load_model(path)
    except ModelError as error:
        return str(error)
    return None


@pytest.mark.parametrize("mutate", [flip_bits, cut, overwrite_word])
@pytest.mark.parametrize("name", MODELS)
def test_a_mutated_model_gives_a_model_or_one_clear_error(
    tmp_path: Path, name: str, mutate: Callable[[bytearray, random.Random], None]
) -> None:
    path = tmp_path / "mutated.tflite"
    for seed in range(MUTATIONS):
        content = bytearray(MODELS[name])
        mutate(content, random.Random(seed))
        path.write_bytes(content)
        started = time.process_time()
        words = refusal(path)
        assert time.process_time() - started < 1
        assert words is None or re.fullmatch(rf"{re.escape(str(path))}.*\n  .*", words)


def test_a_vector_that_claims_to_be_huge_is_refused_at_once(tmp_path: Path) -> None:
    content = bytearray(build.relu((1, 4)))
    shape = content.index(struct.pack("<III", 2, 1, 4))
    struct.pack_into("<I", content, shape, 0xFFFFFFFF)
    path = tmp_path / "huge.tflite"
    path.write_bytes(content)
    assert "shape: outside of the file" in (refusal(path) or "")


def test_tables_that_share_entries_cannot_multiply_the_work(tmp_path: Path) -> None:
    """A hundred offsets to one subgraph of a hundred tensors are legal, and not sane."""
    subgraph = schema.SubGraphT()
    subgraph.tensors = [schema.TensorT() for _ in range(100)]
    subgraph.Pack = lru_cache(subgraph.Pack)
    model = schema.ModelT(version=3, subgraphs=[subgraph] * 100)
    builder = Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    path = tmp_path / "shared.tflite"
    path.write_bytes(bytes(builder.Output()))
    assert "more entries than the file has room for" in (refusal(path) or "")
