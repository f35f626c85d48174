"""Loading a model file, and refusing what no board can run, each with one clear ModelError."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_autodeploy.base.errors import ModelError
from pytest_autodeploy.model.flatbuffer import Damaged
from pytest_autodeploy.model.graph import Model, Operator, Tensor
from pytest_autodeploy.model.kernel_types import type_refusals
from pytest_autodeploy.model.operators import VELA_CUSTOM_CODE
from pytest_autodeploy.model.parse import SCHEMA_VERSION, UnsupportedVersion, parse
from pytest_autodeploy.model.tested import tested_operators

_MAGIC = {
    b"PK\x03\x04": ("a ZIP archive, such as a .keras model", "convert it to .tflite first"),
    b"\x89HDF": ("an HDF5 file, such as a Keras .h5 model", "convert it to .tflite first"),
    b"version https://git-lfs": ("a Git LFS pointer", "fetch the model itself: git lfs pull"),
}
_AGAIN = "copy the file again from where it was good, or convert the model again"


def load_model(path: Path) -> Model:
    """The static view of a `.tflite` file.

    Raises ModelError for a file that is missing, unreadable, empty, no TFLite model, cut short,
    damaged, of another schema version, or compiled by Vela.
    """
    return check_model(path, _read(path))


def check_model(path: Path, content: bytes) -> Model:
    """As `load_model`, of a content that was read from ``path``."""
    try:
        model = parse(path, content)
    except UnsupportedVersion as error:
        raise ModelError(
            f"{path}: its TFLite schema has version {error}, supported is {SCHEMA_VERSION}",
            hint="convert the model again with a current TensorFlow; if it is new, the file is"
            " damaged",
        ) from None
    except Damaged as error:
        what = f"{path}: the model is damaged or cut short: {error}"
        raise ModelError(what, hint=_AGAIN) from None
    except ImportError:
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        raise ModelError(f"{path}: the model is damaged: {text}", hint=_AGAIN) from error
    _refuse_vela(model)
    return model


def check_runnable(model: Model) -> None:
    """Raise ModelError when TFLM cannot run the model on any board.

    That is: operators without a kernel (builtin or custom), or of a type that their kernel does not
    compute, inputs of dynamic shape, tensors of unknown size, and strings.
    """
    missing = [operator for operator in model.operators if operator.resolver is None]
    if missing:
        raise ModelError(
            f"{model.path}: TFLM has no kernel for {_names(missing)}",
            hint="use other layers, or leave this part of the model to the application",
        )
    for tensor in model.inputs:
        _refuse_dynamic(model, tensor)
    _refuse_unknown_sizes(model)
    strings = [tensor for tensor in model.tensors if tensor.dtype == "string"]
    if strings:
        raise ModelError(
            f"{model.path}: tensor {strings[0].name!r} holds strings, which TFLM cannot process",
            hint="turn text into numbers before the model",
        )
    _refuse_types(model)


def _read(path: Path) -> bytes:
    """The bytes of a file that claims to be a TFLite model."""
    try:
        if not path.exists():
            raise ModelError(f"{path}: there is no such file", hint=_neighbours(path.parent))
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no regular file"
            raise ModelError(f"{path} is {what}, not a .tflite file", hint=_neighbours(path))
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror}", hint="check the path and its permissions"
        ) from None
    if content[4:8] != b"TFL3":
        what, hint = _kind(content)
        raise ModelError(f"{path} is {what}, not a TFLite model", hint=hint)
    return content


def _kind(content: bytes) -> tuple[str, str]:
    """What a file that is no TFLite model is, and what to do."""
    if not content:
        return "empty", _AGAIN
    for magic, text in _MAGIC.items():
        if content.startswith(magic):
            return text
    if all(32 <= byte < 127 or byte in b"\t\r\n\f" for byte in content[:512]):
        return "a text file", "give the .tflite file itself"
    return f"a file with the identifier {content[4:8]!r} where TFL3 must be", _AGAIN


def _neighbours(folder: Path) -> str:
    """The models of a folder, as words for a hint."""
    found = sorted(path.name for path in folder.glob("*.tflite")) if folder.is_dir() else []
    return f"models there: {_shorten(found)}" if found else "give the path of a .tflite file"


def _refuse_vela(model: Model) -> None:
    if any(operator.custom and operator.name == VELA_CUSTOM_CODE for operator in model.operators):
        raise ModelError(
            f"{model.path}: the model is already compiled by Vela (custom operator"
            f" {VELA_CUSTOM_CODE!r}), only an Ethos-U NPU runs it",
            hint="give the .tflite file that went into Vela",
        )


def _refuse_dynamic(model: Model, tensor: Tensor) -> None:
    if tensor.dynamic:
        raise ModelError(
            f"{model.path}: input {tensor.name!r} has a dynamic shape, {list(tensor.shape)} in the"
            " file, but TFLM needs every size",
            hint="give every input a fixed shape when you convert the model; only a batch"
            " dimension may stay open, it becomes 1",
        )


def _refuse_unknown_sizes(model: Model) -> None:
    unknown = [tensor for tensor in model.tensors if -1 in tensor.shape]
    if unknown:
        raise ModelError(
            f"{model.path}: tensor {unknown[0].name!r} has the shape {list(unknown[0].shape)}, but"
            " TFLM needs every size",
            hint="convert the model with fixed input shapes",
        )


def _refuse_types(model: Model) -> None:
    refusals = list(type_refusals(tested_operators(model)))
    if refusals:
        text = list(dict.fromkeys(refusal.text for refusal in refusals))
        raise ModelError(
            f"{model.path}: TFLM has no kernel for {_shorten(text)}", hint=refusals[0].hint
        )


def _names(operators: Sequence[Operator]) -> str:
    names = {f"custom operator {op.name!r}" if op.custom else op.name for op in operators}
    return _shorten(sorted(names))


def _shorten(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
