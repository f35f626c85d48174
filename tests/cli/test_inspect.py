"""``autodeploy inspect``: what is in a model, where it has room, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from pytest_autodeploy.cli.inspect import inspect
from tests.helpers.cli_support import keys_of, run, run_json
from tests.helpers.support import DIGITS, KWS, MODELS
from tests.helpers.tflite_builder import build_model, constant, operator, single_operator, tensor


def test_work_size_inputs_and_resolver_methods_are_said() -> None:
    text = run("inspect", KWS).stdout

    assert "kws_ds_cnn.tflite: 4" in text
    assert "2,656,768 MACs" in text
    assert "arena at least 1" in text
    assert "(estimated)" in text
    assert "int8 [1, 49, 10, 1], scale " in text
    assert "AddDepthwiseConv2D" in text


def test_json_has_the_same_as_plain_values() -> None:
    code, document = run_json("inspect", KWS)

    (model,) = document["models"]
    assert (code, document["usable"], model["usable"]) == (0, True, True)
    assert model["macs"] == 2656768
    assert sum(kind["macs"] for kind in model["operators"]) == 2656768
    assert model["arena"]["source"] == "estimated"
    assert model["inputs"][0]["shape"] == [1, 49, 10, 1]
    assert {
        key: value for key, value in model["boards"][1].items() if key in ("board", "kind", "fits")
    } == {"board": "apollo4p_evb", "kind": "hardware", "fits": True}


def test_every_key_of_the_json_is_in_the_help() -> None:
    _, document = run_json("inspect", KWS)

    undocumented = {key for key in keys_of(document) if key not in str(inspect.help)}
    assert undocumented == {"schema"}


def test_a_folder_gives_all_its_models() -> None:
    _, document = run_json("inspect", MODELS)

    assert [model["name"] for model in document["models"]] == ["digits_cnn", "kws_ds_cnn"]


def test_an_operator_without_a_kernel_is_refused_with_the_reason(tmp_path: Path) -> None:
    content = single_operator("ATAN2", [tensor((4,)), tensor((4,))], [tensor((4,))])
    (tmp_path / "m.tflite").write_bytes(content)

    code, document = run_json("inspect", tmp_path / "m.tflite")

    assert code == 1
    assert "TFLM has no kernel for ATAN2" in document["models"][0]["refusal"]
    result = run("inspect", tmp_path / "m.tflite")
    assert result.exit_code == 1
    assert "no kernel in TFLM" in result.stdout
    assert "refused: " in result.stdout


def test_boards_without_room_are_named_with_the_sum(tmp_path: Path) -> None:
    x, y = tensor((1, 900_000), "int8"), tensor((1, 900_000), "int8")
    content = build_model(operators=[operator("RELU", [x], [y])], inputs=[x], outputs=[y])
    (tmp_path / "m.tflite").write_bytes(content)

    result = run("inspect", tmp_path / "m.tflite")

    assert result.exit_code == 0
    assert "no room: apollo4p_evb: the arena does not fit: arena 1,757.8 KB" in result.stdout
    assert "room (model in MRAM, arena in SRAM): apollo510_evb" in result.stdout


def test_a_model_that_no_board_has_room_for_is_trouble(tmp_path: Path) -> None:
    shape = [1, 1 << 26]
    x, y = tensor(tuple(shape), "int8"), tensor(tuple(shape), "int8")
    content = single_operator("RESHAPE", [x, constant(shape)], [y], options={"new_shape": shape})
    (tmp_path / "m.tflite").write_bytes(content)

    assert run("inspect", tmp_path / "m.tflite").exit_code == 1


def test_a_damaged_model_does_not_hide_the_others(tmp_path: Path) -> None:
    shutil.copy(DIGITS, tmp_path / "b.tflite")
    (tmp_path / "a.tflite").write_bytes(DIGITS.read_bytes()[:900])

    code, document = run_json("inspect", tmp_path)

    assert code == 1
    damaged, digits = document["models"]
    assert "damaged or cut short" in damaged["error"]
    assert digits["usable"]


def test_a_name_that_would_colour_the_terminal_is_made_plain(tmp_path: Path) -> None:
    shutil.copy(DIGITS, tmp_path / "\x1b[31mred.tflite")

    assert "\x1b" not in run("inspect", tmp_path).stdout


def test_inspecting_imports_no_numpy() -> None:
    script = (
        "import sys\n"
        "from pytest_autodeploy.cli import autodeploy\n"
        f"autodeploy(['inspect', {str(KWS)!r}], standalone_mode=False)\n"
        "sys.exit('numpy' in sys.modules)\n"
    )
    subprocess.run(
        [sys.executable, "-P", "-c", script], timeout=60, check=True, capture_output=True
    )
