"""What TFLM refuses is told by a trial on this PC; what only LiteRT refuses runs all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import BrokenPackage, ModelError, ReferenceFailed
from pytest_autodeploy.base.kernel_paths import LITERT_PATHS
from pytest_autodeploy.model.litert import litert_content
from pytest_autodeploy.model.parse import parse
from pytest_autodeploy.reference import trial
from pytest_autodeploy.reference.runner import Reference
from pytest_autodeploy.reference.trial import check_on_pc
from tests.helpers import tflite_builder as build


def test_a_model_that_tflm_prepares_and_does_not_run_is_refused_with_its_words() -> None:
    with pytest.raises(ModelError, match=r"TFLM refuses the model: .*UINT8.*Node CAST") as raised:
        check_on_pc(parse(Path("cast.tflite"), build.uint8_cast()))
    assert "before anything was built" in str(raised.value.hint)


def test_a_model_that_tflm_does_not_prepare_is_refused() -> None:
    with pytest.raises(ModelError, match=r"DEQUANTIZE.*failed to prepare"):
        check_on_pc(parse(Path("half.tflite"), build.float16_weights()))


def test_a_model_that_takes_too_long_on_the_pc_is_left_to_its_board() -> None:
    check_on_pc(parse(Path("loop.tflite"), build.endless_loop()), timeout_s=3)


def test_a_good_model_passes_and_without_the_extra_nothing_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_on_pc(parse(Path("good.tflite"), build.relu()))
    monkeypatch.setattr(trial, "can_try", lambda: False)
    check_on_pc(parse(Path("cast.tflite"), build.uint8_cast()))


@pytest.mark.parametrize(
    ("module", "package", "path"),
    [("tflite_micro", "tflite-micro", "tflm"), ("ai_edge_litert", "ai-edge-litert", "ref")],
)
def test_a_package_that_cannot_be_imported_is_to_blame_not_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, package: str, path: str
) -> None:
    (tmp_path / module).mkdir()
    (tmp_path / module / "__init__.py").write_text("raise OSError('libfoo.so: cannot open')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    model = parse(Path("good.tflite"), build.relu())
    with (
        Reference(model, paths=[path]) as reference,
        pytest.raises(BrokenPackage, match=f"{package} is installed but .*libfoo.so"),
    ):
        reference.run(1)


def test_a_bias_with_the_axis_of_its_filter_runs_everywhere_and_the_file_stays() -> None:
    model = parse(Path("bias.tflite"), build.bias_with_axis_of_filter())
    bias = model.operators[0].inputs[2]
    assert bias is not None
    assert bias.quantization is not None
    assert (bias.quantization.axis, len(bias.quantization.scales)) == (0, 2)
    both = zip(model.content, litert_content(model), strict=True)
    assert sum(before != after for before, after in both) == 1
    with Reference(model, paths=(*LITERT_PATHS, "tflm")) as reference:
        outputs = reference.run(3)
    assert not reference.failed_paths
    assert np.array_equal(outputs["ref"][0], outputs["tflm"][0])


def test_a_model_without_such_a_field_is_given_as_it_is() -> None:
    model = parse(Path("m.tflite"), build.fully_connected())
    assert litert_content(model) is model.content


def test_an_output_of_no_elements_is_empty_on_every_path() -> None:
    model = parse(Path("empty.tflite"), build.empty_output())
    with Reference(model, paths=(*LITERT_PATHS, "tflm")) as reference:
        outputs = reference.run(2)
    assert not reference.failed_paths
    assert {array[1].shape for array in outputs.values()} == {(2, 1, 0)}


def test_a_model_that_litert_lacks_an_operator_for_is_held_against_tflm() -> None:
    """The failure proposes it: TFLM's own Signal operators, say, are not in LiteRT."""
    model = parse(Path("own.tflite"), build.custom_operator("SignalDelay"))
    with (
        Reference(model) as reference,
        pytest.raises(ReferenceFailed, match="cannot run own") as raised,
    ):
        reference.run(1)
    assert 'reference="tflm"' in str(raised.value)
