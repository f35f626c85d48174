"""Which package is to blame when an import fails: the one asked for may only need a broken one."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, TracebackType

from pytest_autodeploy.base.errors import BrokenPackage

_OUR_OWN = ("pytest_autodeploy", "importlib", "_frozen_importlib", "_frozen_importlib_external")

_COMPRESSION = "tflite_micro.tensorflow.lite.micro.compression"


def leave_out_compression() -> None:
    """Let the import of tflite-micro pass over its tool that compresses models, in a child of ours.

    It takes a fifth of the import, for YAML and bit arrays, and nothing that runs a model needs it.
    """
    sys.modules.setdefault(_COMPRESSION, ModuleType(_COMPRESSION))


def import_package(module: str, package: str) -> None:
    """Import a module of an installed package. Raises BrokenPackage, which names what is broken."""
    try:
        importlib.import_module(module)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise BrokenPackage(_culprit(error, module, package), text) from error


def _culprit(error: BaseException, module: str, package: str) -> str:
    """The distribution in whose code the import ended, or the one that was asked for."""
    from importlib import metadata

    name = module
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        at = str(trace.tb_frame.f_globals.get("__name__", ""))
        name = name if at.startswith(_OUR_OWN) else at
        trace = trace.tb_next
    top = name.partition(".")[0]
    if top == module.partition(".")[0]:
        return package
    return metadata.packages_distributions().get(top, [package])[0]
