"""The tree that is written for a model: what is in it, and what happens to what was there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import BoardSpec, board_spec
from pytest_autodeploy.deliver.folders import write_sources
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.trees import TflmTree
from pytest_autodeploy.model.graph import Model
from pytest_autodeploy.settings.deliver_options import ARTIFACTS
from tests.helpers.deliver_examples import characterized, load
from tests.helpers.emulation import machine
from tests.helpers.tflite_builder import fully_connected, relu

EVB = board_spec("apollo4p_evb")
QEMU = machine("mps2-an386")


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return load(fully_connected(), tmp_path, "my model.v2")


def sources_for(model: Model, board: BoardSpec = EVB) -> Sources:
    """The sources of a characterised model."""
    return Sources(characterized(model), model, board)


def names(folder: Path) -> set[str]:
    """All files below a folder but for hidden ones."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not path.name.startswith(".")}


def test_the_tree_is_that_of_the_application_note(tmp_path: Path, model: Model) -> None:
    out = tmp_path / "out"
    written = write_sources(sources_for(model), ARTIFACTS, out)

    there = names(out)
    assert {path.relative_to(out).as_posix() for path in written} == there
    assert {
        "my_model_v2/lib/my_model_v2_api.h",
        "my_model_v2/src/my_model_v2_model.cc",
        "my_model_v2/src/my_model_v2_example.cc",
        "my_model_v2/README.md",
        "my_model_v2/module.mk",
        "my_model_v2_ambiqsuite_example/gcc/Makefile",
        "my_model_v2_ambiqsuite_example/armclang/Makefile",
        "my_model_v2_ambiqsuite_example/make/model.mk",
        "my_model_v2_ambiqsuite_example/src/my_model_v2_model.cc",
        "my_model_v2_ambiqsuite_example/src/tensorflow_headers/README.md",
        "tflm_validator/module.mk",
        "tflm_validator/src/autodeploy_config.h",
        "my_model_v2_power/module.mk",
        "my_model_v2_power/src/power_main.cc",
        "my_model_v2_mc.json",
        "my_model_v2_md.json",
    } <= there


@pytest.mark.parametrize("app", ["tflm_validator", "my_model_v2_power"])
def test_an_app_folder_has_all_that_it_compiles(tmp_path: Path, model: Model, app: str) -> None:
    write_sources(sources_for(model), ARTIFACTS, tmp_path / "out")
    folder = tmp_path / "out" / app

    sources = re.findall(r"\$\(subdirectory\)/(\S+\.cc)", (folder / "module.mk").read_text())
    assert sources
    assert all((folder / name).is_file() for name in sources)
    for path in folder.rglob("*.cc"):
        for header in re.findall(r'#include "((?:boards|rpc|validator)/.*)"', path.read_text()):
            assert (folder / "firmware" / header).is_file(), header


def test_two_models_may_share_a_folder(tmp_path: Path, model: Model) -> None:
    other = load(relu(), tmp_path, "other")
    write_sources(sources_for(model), ["library"], tmp_path / "out")

    write_sources(sources_for(other), ["library"], tmp_path / "out")

    for name in ("my_model_v2", "other"):
        assert (tmp_path / "out" / name / "lib" / f"{name}_api.h").is_file()


def test_nothing_names_a_folder_of_this_machine(tmp_path: Path, model: Model) -> None:
    root = tmp_path / "sdk" / "tree"
    library = root / "lib/libtensorflow-microlite-cm4-gcc-release.a"
    library.parent.mkdir(parents=True)
    library.touch()
    sources = Sources(characterized(model), model, EVB, runtime=TflmTree(root))

    for path in write_sources(sources, ARTIFACTS, tmp_path / "out"):
        assert str(tmp_path).encode() not in path.read_bytes(), path


def test_a_machine_of_qemu_gets_what_it_can_use(tmp_path: Path, model: Model) -> None:
    write_sources(sources_for(model, QEMU), ARTIFACTS, tmp_path / "out")

    folders = {name.partition("/")[0] for name in names(tmp_path / "out")}
    files = {"my_model_v2_mc.json", "my_model_v2_md.json"}
    assert folders == {"my_model_v2", "tflm_validator", *files}
    assert (tmp_path / "out/tflm_validator/firmware/boards/mps2_an386/memory.ld").is_file()


def test_what_an_earlier_run_wrote_is_replaced_and_nothing_else(
    tmp_path: Path, model: Model
) -> None:
    out = tmp_path / "out"
    write_sources(sources_for(model), ARTIFACTS, out)
    mine = out / "my_model_v2_power" / "notes.txt"
    mine.write_text("mine")
    header = out / "my_model_v2/lib/my_model_v2_api.h"
    text, time = header.read_text(), header.stat().st_mtime_ns
    source = out / "my_model_v2/src/main.cc"
    source.write_text("edited")

    write_sources(sources_for(model), ["library"], out)

    assert names(out / "my_model_v2_power") == {"notes.txt"}
    assert not (out / "tflm_validator").exists()
    assert (header.read_text(), header.stat().st_mtime_ns) == (text, time)
    assert source.read_text() != "edited"


def test_a_list_of_files_cannot_reach_outside(tmp_path: Path, model: Model) -> None:
    outside = tmp_path / "precious"
    outside.write_text("kept")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/.autodeploy-my_model_v2-sources").write_text(f"../precious\n{outside}\n")

    write_sources(sources_for(model), [], tmp_path / "out")

    assert outside.read_text() == "kept"


def test_the_headers_are_copied_with_what_they_include(tmp_path: Path, model: Model) -> None:
    root = tmp_path / "tree"
    folder = root / "tensorflow/lite/micro"
    folder.mkdir(parents=True)
    (root / "LICENSE").write_text("Apache")
    (root / "tensorflow/lite/deep.h").write_text("#include <vector>\n")
    (folder / "micro_interpreter.h").write_text('#include "../deep.h"\n#  include "missing.h"\n')
    (folder / "unused.h").write_text("")
    library = root / "lib/libtensorflow-microlite-cm4-gcc-release.a"
    library.parent.mkdir()
    library.write_bytes(b"")

    sources = Sources(characterized(model), model, EVB, runtime=TflmTree(root))
    write_sources(sources, ["ambiqsuite"], tmp_path / "out")

    example = tmp_path / "out/my_model_v2_ambiqsuite_example"
    assert names(example / "src/tensorflow_headers") == {
        "LICENSE",
        "README.md",
        "tensorflow/lite/deep.h",
        "tensorflow/lite/micro/micro_interpreter.h",
    }
    where = "$(NEURALSPOT_ROOT)/extern/tensorflow/tree/lib"
    assert f"TFLM_LIB ?= {where}/{library.name}\n" in (example / "make/model.mk").read_text()
