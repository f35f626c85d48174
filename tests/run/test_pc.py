"""The PC's side of a run: a run of many models has few processes."""

from __future__ import annotations

from pathlib import Path

from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.run.pc import AWAKE, PcSide
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import resolve
from tests.helpers import tflite_builder as build


def is_awake(reference: Reference) -> bool:
    return reference._process.pid is not None


def test_only_the_latest_models_keep_their_process(tmp_path: Path) -> None:
    pc = PcSide(resolve(OPTIONS, lambda _: None, lambda _: None, tmp_path))
    models = []
    for number in range(AWAKE + 2):
        path = tmp_path / f"m{number}.tflite"
        path.write_bytes(build.relu((1, 1 + number)))
        models.append(load_model(path))
    try:
        references = []
        for model in models:
            references.append(pc.reference(model))
            references[-1].start()
        assert [is_awake(each) for each in references] == [False, False, *[True] * AWAKE]
        assert pc.reference(models[0]) is references[0]
        assert references[0].run(2)["ref"][0].shape == (2, 1, 1)
        assert [is_awake(each) for each in references[:3]] == [True, False, False]
    finally:
        pc.close()
    assert not any(map(is_awake, references))
