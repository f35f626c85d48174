"""What looks like a TFLM tree, without anything that could be compiled."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.support import ROOT

APACHE = (ROOT / "LICENSE").read_text(encoding="utf-8")
TFLM_FILES = (
    "tensorflow/lite/micro/micro_interpreter.h",
    "tensorflow/lite/micro/micro_mutable_op_resolver.h",
    "tensorflow/lite/micro/micro_profiler_interface.h",
    "tensorflow/lite/schema/schema_generated.h",
    "third_party/flatbuffers/include/flatbuffers/flatbuffers.h",
    "third_party/gemmlowp/fixedpoint/fixedpoint.h",
)
CM4 = "lib/libtensorflow-microlite-cm4-gcc-release.a"


def make_files(root: Path, *names: str) -> Path:
    """Empty files in a folder."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def tflm(root: Path, *libraries: str, licence: str | None = APACHE) -> Path:
    """What looks like a TFLM tree."""
    make_files(root, *TFLM_FILES, *libraries)
    if licence is not None:
        (root / "LICENSE").write_text(licence, encoding="utf-8")
    return root
