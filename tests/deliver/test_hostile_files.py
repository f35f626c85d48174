"""Files of a characterisation by somebody else: what they say is checked, never believed."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_autodeploy.catalog.fit import ALIGNMENT
from pytest_autodeploy.deliver import files
from pytest_autodeploy.deliver.errors import CharacterizationError
from pytest_autodeploy.deliver.plausible import LONGEST_TEXT, Implausible, checked
from pytest_autodeploy.model.arena import least_arena_bytes
from pytest_autodeploy.model.graph import Model
from tests.helpers.deliver_examples import characterized, load
from tests.helpers.tflite_builder import fully_connected, running_sum

Document = dict[str, Any]
PASTED = 'AddConv2D(); system("touch /owned"); resolver.AddRelu'


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return load(fully_connected(), tmp_path)


@pytest.fixture
def folder(tmp_path: Path, model: Model) -> Path:
    """A folder with the files of the model."""
    files.save(characterized(model), tmp_path / "kept")
    return tmp_path / "kept"


def read(folder: Path) -> tuple[Document, Document]:
    """Configuration and details."""
    mc, md = (json.loads((folder / f"model_{kind}.json").read_text()) for kind in ("mc", "md"))
    return mc, md


def seal(folder: Path, mc: Document, md: Document) -> None:
    """Write both so that every hash fits."""
    md["content_sha256"] = files._digest(md)
    mc["details_sha256"] = md["content_sha256"]
    mc["content_sha256"] = files._digest(mc)
    (folder / "model_mc.json").write_text(json.dumps(mc))
    (folder / "model_md.json").write_text(json.dumps(md))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda mc: mc.update(resolver_methods=[PASTED]), "resolver_methods"),
        (lambda mc: mc.update(resolver_methods=[]), r"resolver_methods: \(\)"),
        (lambda mc: mc["place"].update(name="*/ #include </etc/passwd> /*"), "place.name"),
        (lambda mc: mc["place"].update(name="x\n#error"), "place.name is 'x"),
        (lambda mc: mc["place"].update(board=""), "place.board"),
        (lambda mc: mc["place"].update(engine_version="1\\\n"), "place.engine_version"),
        (lambda mc: mc["place"].update(build_id="<b>"), "place.build_id"),
        (lambda mc: mc["place"].update(core="cortex-m0"), "place.core"),
        (lambda mc: mc["place"].update(clock="TURBO"), "place.clock"),
        (lambda mc: mc["place"].update(arena_memory="mram"), "place.arena_memory"),
        (lambda mc: mc["place"].update(model_memory="../x"), "place.model_memory"),
        (lambda mc: mc.update(arena_bytes=-1), "arena_bytes is -1"),
        (lambda mc: mc.update(arena_bytes=0), "arena_bytes is 0"),
        (lambda mc: mc.update(arena_bytes=10**30), "arena_bytes is 1000"),
        (lambda mc: mc.update(arena_bytes=2**32), "not one of .* to 4294967295"),
        (lambda mc: mc.update(arena_used_bytes=-1), "arena_used_bytes"),
        (lambda mc: mc.update(resource_variables=-3), "resource_variables: -3"),
        (lambda mc: mc.update(resource_variables=1), "resource_variables: 1"),
        (lambda mc: mc["example"].update(path="gpu"), "example.path"),
        (lambda mc: mc["example"].update(seed=-1), "example.seed"),
        (lambda mc: mc["example"].update(seed=2**64), "example.seed is 1844"),
        (lambda mc: mc["example"].update(origin="a\nb"), "example.origin"),
        (lambda mc: mc["example"].update(origin="a" * 5_000), "example.origin is 'aaa"),
        (lambda mc: mc["example"].update(origin="a" * (LONGEST_TEXT + 1)), "origin is .a{50}"),
        (lambda mc: mc["place"].update(name="a" * 101), "place.name is .a{50}"),
        (lambda mc: mc.update(arena_used_bytes=2**32), "arena_used_bytes is 4294967296"),
        (lambda mc: mc["example"]["outputs"][0].update(rtol=-1e-9), r"outputs\[0\].rtol"),
        (lambda mc: mc["example"].update(inputs=[]), "the number of example.inputs"),
        (lambda mc: mc["example"]["inputs"][0].update(shape=[10**9]), r"inputs\[0\].shape"),
        (
            lambda mc: mc["example"]["inputs"][0].update(data=""),
            r"the bytes of example.inputs\[0\]",
        ),
        (lambda mc: mc["example"]["outputs"][0].update(dtype="float32"), r"outputs\[0\].dtype"),
        (lambda mc: mc["example"]["outputs"][0].update(name="x"), r"outputs\[0\].name"),
        (lambda mc: mc["example"]["outputs"][0].update(atol=-1.0), r"outputs\[0\].atol"),
        (lambda mc: mc["example"]["outputs"][0].update(rtol=1e999), "not JSON"),
        (lambda mc: mc["example"]["outputs"][0].update(tolerance="\x1b[2J"), "tolerance"),
        (lambda mc: mc.update(agreement="\r"), "agreement"),
        (lambda mc: mc.update(tool_version="1 <script>"), "tool_version"),
    ],
)
def test_a_configuration_that_cannot_be_true_is_refused(
    folder: Path, model: Model, change: Callable[[Document], object], words: str
) -> None:
    mc, md = read(folder)
    change(mc)
    seal(folder, mc, md)
    with pytest.raises(CharacterizationError, match=words) as raised:
        files.load(folder, model)
    assert "\n" not in str(raised.value).replace(f"\n  {files.AGAIN}", "")


@pytest.mark.parametrize(
    "change",
    [
        lambda mc: mc.update(arena_bytes=2**32 - 1, arena_used_bytes=0),
        lambda mc: mc["example"].update(seed=2**64 - 1),
        lambda mc: mc["example"].update(seed=0),
        lambda mc: mc["example"].update(seed=None),
        lambda mc: mc["example"].update(origin="a" * LONGEST_TEXT),
        lambda mc: mc["place"].update(name="a" * 100),
        lambda mc: mc["example"]["outputs"][0].update(atol=0.0, rtol=0.0),
        lambda mc: mc.update(arena_used_bytes=2**32 - 1),
    ],
    ids=["arena", "seed", "seed 0", "no seed", "text", "name", "no tolerance", "used"],
)
def test_what_can_just_be_true_is_taken(
    folder: Path, model: Model, change: Callable[[Document], object]
) -> None:
    mc, md = read(folder)
    change(mc)
    seal(folder, mc, md)
    assert files.load(folder, model)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda details: details["tensors"][0].update(shape=[10**9]), "tensors"),
        (lambda details: details["tensors"][1].update(scales=[0.5]), "tensors are not"),
        (lambda details: details["tensors"][0].update(bytes=-4), "tensors are not those"),
        (lambda details: details["tensors"][1].update(scales=[float("nan")]), "not JSON"),
        (lambda details: details["inputs"].clear(), "inputs are not those"),
        (lambda details: details["operators"].clear(), "operators"),
        (lambda details: details["operators"][0].update(name="X"), "operators are not those"),
        (lambda details: details.update(size_bytes=1), "size_bytes are not those"),
    ],
)
def test_details_that_are_not_the_models_are_refused(
    folder: Path, model: Model, change: Callable[[Document], object], words: str
) -> None:
    mc, md = read(folder)
    change(md["details"])
    seal(folder, mc, md)
    with pytest.raises(CharacterizationError, match=words):
        files.load(folder, model)


def test_figures_that_follow_from_the_model_are_its_own(folder: Path, model: Model) -> None:
    """Another version may count MACs otherwise: that is no lie."""
    mc, md = read(folder)
    md["details"].update(macs=10**18, parameters=-1)
    seal(folder, mc, md)
    found = files.load(folder, model)
    assert (found.details.macs, found.details.parameters) == (model.macs, model.parameters)


def test_a_file_larger_than_any_is_not_read(
    folder: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1_000)
    with pytest.raises(CharacterizationError, match="larger than any characterisation"):
        files.load(folder, model)


NASTY: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 1.5, 1e308, "", "x", PASTED, "*/", "\n", "\ud800", [], {}),
    *(["x"], [[]], {"a": 1}, -(10**9), 2**31, 2**63, "é", "../..", "%s{{7*7}}"),
)


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a document: its container, and the key in it."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from leaves(value[key])


@pytest.mark.parametrize("seed", range(4))
def test_a_hundred_edits_each_end_refused_or_change_nothing_of_weight(
    tmp_path: Path, seed: int
) -> None:
    model = load(running_sum(), tmp_path)
    truth = characterized(model)
    folder = tmp_path / "kept"
    files.save(truth, folder)
    originals, chance = read(folder), random.Random(seed)
    for _ in range(100):
        mc, md = copy.deepcopy(originals)
        container, key = chance.choice(list(leaves(chance.choice((mc, md)))))
        container[key] = chance.choice(NASTY)
        seal(folder, mc, md)
        try:
            found = files.load(folder, model)
        except CharacterizationError:
            continue
        assert found.details == truth.details
        assert found.resolver_methods == truth.resolver_methods
        assert found.resource_variables == truth.resource_variables
        assert 16 <= found.arena_bytes < 1 << 32


@pytest.mark.parametrize("least", [-16, 0])
def test_an_arena_is_one_in_which_the_model_may_run(model: Model, least: int) -> None:
    """No smaller than what the graph needs at once, nor than what TFLM aligns to."""
    smallest = max(ALIGNMENT, least_arena_bytes(model))
    found = replace(characterized(model), arena_bytes=smallest + least)
    if least == 0:
        assert checked(found, model).arena_bytes == smallest
        return
    with pytest.raises(Implausible, match=f"arena_bytes is .*, not one of {smallest} to"):
        checked(found, model)
