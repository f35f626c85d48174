"""A bench for builds of EVBs: an SDK, a compiler and a make that writes down what it was told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_autodeploy.catalog.boards import board_names, board_spec
from pytest_autodeploy.image.firmware import BuildOptions
from pytest_autodeploy.image.neuralspot import NeuralSpotBuilder
from tests.helpers.fake_tools import fake_program
from tests.helpers.tflm_trees import APACHE, CM4, make_files, tflm

MAKE = """
for word in "$@"; do case $word in BINDIRROOT=*) out=${word#BINDIRROOT=};; esac; done
echo "$@" >> "$LOG"
mkdir -p $out/images
for suffix in axf bin; do echo $suffix > $out/images/autodeploy.$suffix; done
"""


class Bench:
    """An SDK, a compiler and a make that are not real."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.log = folder / "make.log"
        monkeypatch.setenv("LOG", str(self.log))
        monkeypatch.delenv("AUTODEPLOY_TFLM_ROOT", raising=False)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
        fake_program(folder / "bin", "arm-none-eabi-gcc", "echo 'gcc 12.2.1'")
        self.make(MAKE)
        suites = {board_spec(name).ambiqsuite for name in board_names()}
        self.sdk = make_files(
            folder / "sdk",
            *("Makefile", "make/neuralspot_toolchain.mk", "neuralspot/ns-core/module.mk"),
            *(f"extern/AmbiqSuite/{suite}/module.mk" for suite in suites),
        )
        config = self.sdk / "make/neuralspot_config.mk"
        config.write_text("TF_VERSION := helia_rt_v1_6_0\n")
        libraries = (CM4, CM4.replace("cm4", "cm55"))
        tflm(self.sdk / "extern/tensorflow/helia_rt_v1_6_0", *libraries, licence=APACHE)

    def make(self, script: str) -> None:
        """Replace make."""
        fake_program(self.folder / "bin", "make", script)

    def builder(self, board: str = "apollo4p_evb", **options: object) -> NeuralSpotBuilder:
        """A builder on this bench."""
        given = {"sdk": str(self.sdk), "cache": self.folder / "cache", **options}
        return NeuralSpotBuilder(board_spec(board), BuildOptions(**given))  # type: ignore[arg-type]
