"""Artifacts that neuralSPOT's make builds, here one that compiles nothing."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.deliver import apps as apps_of
from pytest_autodeploy.deliver import folders
from pytest_autodeploy.deliver.generate import generate
from pytest_autodeploy.deliver.neuralspot_app import NeuralSpotApps
from pytest_autodeploy.deliver.sources import Sources
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.model.load import load_model
from tests.helpers.deliver_builds import characterization
from tests.helpers.fake_tools import fake_program
from tests.helpers.neuralspot_bench import Bench
from tests.helpers.support import DIGITS

MODEL = load_model(DIGITS)
FOUND = characterization(MODEL)
MAKE = """
for word in "$@"; do
  case $word in BINDIRROOT=*) out=${word#BINDIRROOT=};; EXAMPLE=*) app=${word#EXAMPLE=};; esac
done
echo "$@" >> "$LOG"
mkdir -p $out/images
for suffix in axf bin; do echo $app > $out/images/$app.$suffix; done
"""

MAKEFILE = r"""
subdirectory = $(ADPATH)/$(EXAMPLE)
of_c = $(subst .c,.o,$(filter %.c,$1))
of_cpp = $(subst .cc,.o,$(filter %.cc,$1))
objects = $(addprefix $(BINDIRROOT)/,$(call of_c,$1) $(call of_cpp,$1))
define make-axf
$1.axf $1.bin: $(call objects,$2) $(lib_prebuilt)
	mkdir -p $$(@D)
	touch $$@
endef
include $(subdirectory)/module.mk
all: $(examples)
$(BINDIRROOT)/%.o: %.c
	mkdir -p $(@D)
	cp $< $@
$(BINDIRROOT)/%.o: %.cc
	mkdir -p $(@D)
	cp $< $@
"""
"""Finds objects by the path of their source as neuralSPOT's does, and compiles nothing."""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """neuralSPOT with a make that only writes down what it was told, and Arm's compiler."""
    bench = Bench(tmp_path, monkeypatch)
    fake_program(bench.folder / "bin", "armclang", "echo Arm Compiler for Embedded 6.22")
    bench.make(MAKE)
    return bench


def options_of(bench: Bench) -> BuildOptions:
    return BuildOptions(
        sdk=str(bench.sdk), toolchain=str(bench.folder / "bin/armclang"), cache=bench.folder / "c"
    )


def test_the_power_binary_is_made_by_neuralspot_outside_of_it(bench: Bench) -> None:
    out = bench.folder / "out"

    delivery = generate(MODEL, board_spec("apollo4l_evb"), out, ["power"], FOUND, options_of(bench))

    assert not delivery.left_out
    images = {out / "bin" / f"digits_cnn_power{suffix}" for suffix in (".axf", ".bin")}
    assert images <= set(delivery.written)
    words = bench.log.read_text().split()
    assert {"EXAMPLE=digits_cnn_power", "PLATFORM=apollo4l_evb", "all"} <= set(words)
    assert all(f"={bench.folder}/c/" in word for word in words if word.startswith("ADPATH="))


def test_a_library_needs_the_linker_of_gnu(bench: Bench) -> None:
    out = bench.folder / "out"

    delivery = generate(
        MODEL, board_spec("apollo4l_evb"), out, ["library"], FOUND, options_of(bench)
    )

    assert "needs GNU's linker, not armclang" in delivery.left_out[0].why


def test_an_app_that_is_in_the_cache_is_not_built_again(bench: Bench) -> None:
    out = bench.folder / "out"
    for _ in range(2):
        generate(MODEL, board_spec("apollo4l_evb"), out, ["power"], FOUND, options_of(bench))

    assert len(bench.log.read_text().splitlines()) == 1


def test_what_make_says_of_a_failure_is_the_reason(bench: Bench) -> None:
    bench.make("echo 'src/power_main.cc:7: error: no such pin'; exit 2")
    out = bench.folder / "out"

    delivery = generate(MODEL, board_spec("apollo4l_evb"), out, ["power"], FOUND, options_of(bench))

    assert delivery.left_out[0].what == "the power binary"
    assert "power_main.cc:7: error: no such pin" in delivery.left_out[0].why


def test_what_make_sees_is_the_app_alone(bench: Bench) -> None:
    apps = NeuralSpotApps(board_spec("apollo4l_evb"), options_of(bench))
    apps.build("app", {"module.mk": "first", "src/old.cc": ""})

    apps.build("app", {"module.mk": "second", "src/new.cc": b""})

    (copy,) = (bench.folder / "c").rglob("app/app")
    assert (copy / "module.mk").read_text() == "second"
    assert [path.name for path in (copy / "src").iterdir()] == ["new.cc"]


@pytest.mark.skipif(shutil.which("make") is None, reason="not installed: make")
def test_apps_are_made_in_a_folder_whose_name_has_the_suffix_of_c(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the user's own cache folder. To neuralSPOT's make its ``.c`` is a suffix."""
    monkeypatch.setenv("PATH", os.environ["PATH"].partition(os.pathsep)[2])
    (bench.sdk / "Makefile").write_text(MAKEFILE)
    options = replace(options_of(bench), cache=bench.folder / ".cache")
    sources = Sources(FOUND, MODEL, board_spec("apollo4l_evb"))
    apps = NeuralSpotApps(sources.board, options)

    for name, files in (
        ("digits_cnn", folders.library(sources) | {"lib/libdigits_cnn.a": b""}),
        ("digits_cnn_power", apps_of.power(sources)),
    ):
        program = apps.build(name, files)
        assert program.files[".bin"].is_file()


@pytest.mark.parametrize("folder", [".cc", "my.ccache"])
def test_a_folder_whose_name_has_the_suffix_of_cpp_is_refused(bench: Bench, folder: str) -> None:
    options = replace(options_of(bench), cache=bench.folder / folder)

    with pytest.raises(BuildError, match="make cannot work with the path"):
        NeuralSpotApps(board_spec("apollo4l_evb"), options).build("app", {"module.mk": ""})
