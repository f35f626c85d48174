"""The trees of others that firmware is built with: TensorFlow Lite Micro, and neuralSPOT."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_autodeploy.image.errors import TreeError
from pytest_autodeploy.image.licence import ambiq_only

TFLM_VARIABLE = "AUTODEPLOY_TFLM_ROOT"
SDK_VARIABLE = "NEURALSPOT_ROOT"
TFLM_HINT = (
    f"Give --evb-tflm-root=DIR or {TFLM_VARIABLE}: the tree that tflite-micro's "
    "create_tflm_tree.py makes, with its static library under lib/, or a runtime folder of an SDK "
    "such as neuralSPOT's extern/tensorflow/helia_rt_v1_3_0."
)
SDK_HINT = f"Give --evb-sdk=DIR or {SDK_VARIABLE}: a checkout of AmbiqAI/neuralSPOT."
RUNTIMES = Path("extern", "tensorflow")

_TFLM_PARTS = (
    "tensorflow/lite/micro/micro_interpreter.h",
    "tensorflow/lite/micro/micro_mutable_op_resolver.h",
    "tensorflow/lite/micro/micro_profiler_interface.h",
    "tensorflow/lite/schema/schema_generated.h",
    "third_party/flatbuffers/include/flatbuffers/flatbuffers.h",
    "third_party/gemmlowp/fixedpoint/fixedpoint.h",
)
_SDK_PARTS = (
    "Makefile",
    "make/neuralspot_config.mk",
    "make/neuralspot_toolchain.mk",
    "neuralspot/ns-core/module.mk",
    "extern/AmbiqSuite",
    "extern/tensorflow",
)
_CORES = {"cortex-m4f": ("cm4", "cortex-m4"), "cortex-m55": ("cm55", "cortex-m55")}
_LIBRARIES = ("lib/*microlite*.a", "gen/*/lib/*microlite*.a")
_BEST_FIRST = ("release-with-logs", "default", "debug", "release")
"""With error strings first: they say why a model is refused."""


@dataclass(frozen=True)
class TflmTree:
    """A TFLM tree with headers and a static library for some cores."""

    root: Path

    @property
    def version(self) -> str:
        """The folder's name: what the trees in circulation carry their version in."""
        return self.root.name

    def library(self, core: str, *, smallest: bool = False) -> Path:
        """The static library for a core of the catalog: with error strings, or the ``smallest``.

        Raises TreeError naming what was sought.
        """
        found = [path for pattern in _LIBRARIES for path in sorted(self.root.glob(pattern))]
        fitting = [path for path in found if _is_for(path.relative_to(self.root), core)]
        if not fitting:
            there = ", ".join(str(path.relative_to(self.root)) for path in found) or "no library"
            raise TreeError(
                f"the TFLM tree {self.root} has no static library for a {core}: it has {there}",
                hint=f"Sought: {' or '.join(_LIBRARIES)} with {' or '.join(_CORES[core])} in its "
                "path. Build it with tflite-micro's make, or name another tree.",
            )
        return min(fitting, key=_rank_of_size if smallest else _rank)

    def require_emulation(self, board: str) -> None:
        """Raise TreeError when the licence of the tree does not allow a CPU that is not Ambiq's."""
        reason = ambiq_only(self.root)
        if reason:
            raise TreeError(
                f"{reason}, which an emulated board is not: {self.root}",
                board=board,
                hint="Use an Apache-2.0 tree: upstream tflite-micro, or helia_rt_v1_3_0.",
            )


def _is_for(path: Path, core: str) -> bool:
    words = re.split(r"[/_\\]|(?<=cm4)-|(?<=cm55)-|-(?=cm4|cm55)|\+", path.as_posix())
    return any(tag in words for tag in _CORES[core])


def _rank(path: Path) -> tuple[int, int, str]:
    name = path.as_posix()
    words = [index for index, word in enumerate(_BEST_FIRST) if word in name]
    return (0 if "gcc" in name else 1, min(words, default=len(_BEST_FIRST)), name)


def _rank_of_size(path: Path) -> tuple[int, int, str]:
    gcc, strings, name = _rank(path)
    return (gcc, -strings, name)


@dataclass(frozen=True)
class Sdk:
    """A checkout of neuralSPOT, which is never written to."""

    root: Path

    def ambiqsuite(self, version: str) -> str:
        """This version of AmbiqSuite if the checkout has it. Raises TreeError with those it has."""
        folder = self.root / "extern" / "AmbiqSuite"
        if not (folder / version).is_dir():
            raise TreeError(
                f"{self.root} has no AmbiqSuite {version}, only {_folders(folder)}",
                hint="Use a revision of neuralSPOT that supports the board.",
            )
        return version

    def runtime(self, given: str | None = None) -> TflmTree:
        """The TFLM tree that a build in this SDK takes: ``given``, else the SDK's own default.

        It is given as the name of a runtime of the SDK, or as its folder.
        """
        folder = self.root / RUNTIMES
        given = given or os.environ.get(TFLM_VARIABLE)
        if given and Path(given).name == given and (folder / given).is_dir():
            return _tflm(folder / given)
        root = Path(given).resolve() if given else folder / self._default_runtime()
        if root.parent != folder.resolve():
            raise TreeError(
                f"neuralSPOT links runtimes of its own only, and {root} is not in {folder}",
                hint=f"Name one of {_folders(folder)}.",
            )
        return _tflm(root)

    def _default_runtime(self) -> str:
        text = (self.root / "make" / "neuralspot_config.mk").read_text(encoding="utf-8")
        match = re.search(r"^\s*TF_VERSION\s*:?=\s*(\S+)", text, re.MULTILINE)
        if match is None:
            raise TreeError(f"{self.root} names no runtime of its own", hint=TFLM_HINT)
        return match[1]


def find_tflm(given: str | None = None) -> TflmTree:
    """The TFLM tree that is ``given``, else of the variable. Raises TreeError: what is missing."""
    root = given or os.environ.get(TFLM_VARIABLE)
    if not root:
        raise TreeError("no TensorFlow Lite Micro tree to build firmware with", hint=TFLM_HINT)
    return _tflm(Path(root).resolve())


def _tflm(root: Path) -> TflmTree:
    _require("TensorFlow Lite Micro tree", root, _TFLM_PARTS, TFLM_HINT)
    return TflmTree(root)


def find_sdk(given: str | None = None) -> Sdk:
    """The SDK that is ``given``, else of the variable. Raises TreeError: what is missing."""
    text = given or os.environ.get(SDK_VARIABLE)
    if not text:
        raise TreeError("no neuralSPOT to build firmware with", hint=SDK_HINT)
    root = Path(text).resolve()
    _require("neuralSPOT checkout", root, _SDK_PARTS, SDK_HINT)
    return Sdk(root)


def _require(what: str, root: Path, parts: Sequence[str], hint: str) -> None:
    if not root.is_dir():
        raise TreeError(f"no such folder: {root}", hint=hint)
    missing = [part for part in parts if not (root / part).exists()]
    if missing:
        raise TreeError(f"{root} is not a {what}: {missing[0]} is missing", hint=hint)


def _folders(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    return ", ".join(names) or "none"
