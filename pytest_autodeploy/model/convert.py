"""Keras models and SavedModels to `.tflite`, by TensorFlow in a process of its own.

``python -m pytest_autodeploy.model.convert SOURCE TARGET [--inputs FILE]`` is that process, which
prints the number of samples. With inputs (.npz, .npy or .csv of real values, one sample for each
entry of the first axis or each row) the model becomes int8 throughout, calibrated on them; without,
it stays float. Code in a file (Lambda layers) is never run: such a file is refused.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pytest_autodeploy.base.archive import ArchiveRefused, check_archive
from pytest_autodeploy.base.errors import InputsError, MissingExtra, ModelError
from pytest_autodeploy.base.names import c_identifier
from pytest_autodeploy.base.process import own_environment, run_tool
from pytest_autodeploy.base.progress import show_task
from pytest_autodeploy.base.scratch import Scratch
from pytest_autodeploy.model.keras_config import HostileModel, loops, refuse_code
from pytest_autodeploy.model.samples import read_samples

_KERAS = (".keras", ".h5")
_BAD_INPUTS, _BAD_MODEL = 3, 4
_LOOPS = "layers with loops: "
"""What the child says on standard error before it converts, for the case that it crashes."""


@dataclass(frozen=True)
class Converted:
    """A converted model: its ``content``, and on how many ``samples`` it was calibrated; 0: float.

    What is ``content`` of one that was kept is in its file.
    """

    content: bytes
    samples: int

    def text(self, source: str) -> str:
        """How it was made, such as ``converted from net.keras to int8 with 20 samples``."""
        plural = "" if self.samples == 1 else "s"
        kind = f"int8 with {self.samples} sample{plural}" if self.samples else "float"
        return f"converted from {source} to {kind}"


def is_convertible(path: Path) -> bool:
    """Whether to_tflite takes this path: a Keras file, or a folder with a SavedModel."""
    return path.suffix.lower() in _KERAS or (path / "saved_model.pb").is_file()


def to_tflite(path: Path, inputs: Path | None = None, *, timeout_s: float = 600) -> Converted:
    """The `.tflite` file that TensorFlow makes of a Keras file or SavedModel.

    Models get a batch of 1. Raises MissingExtra without TensorFlow, InputsError for inputs
    that do not fit the model, ModelError when the conversion fails or exceeds ``timeout_s``.
    """
    if not path.exists():
        raise ModelError(f"{path}: there is no such file", hint="give a .keras or .h5 file")
    if inputs is not None and not inputs.is_file():
        raise InputsError(f"{inputs}: there is no such file", hint="give a .npz, .npy or .csv file")
    if find_spec("tensorflow") is None:
        raise MissingExtra("converting .keras files", "tensorflow")
    _check_size(path)
    with Scratch("convert") as folder:
        target = folder.path / "model.tflite"
        samples = _run(path, target, inputs, timeout_s)
        return Converted(target.read_bytes(), samples)


def _check_size(path: Path) -> None:
    """Raise ModelError for a .keras file, a zip archive, that Keras would unpack to too much."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive)
    except ArchiveRefused as error:
        raise ModelError(
            f"{path}: {error}", hint="convert it yourself and give the .tflite file"
        ) from None
    except (
        OSError,
        NotImplementedError,
        zipfile.BadZipFile,
    ):  # a folder, .h5, or damaged, which TensorFlow will tell
        return


def _run(path: Path, target: Path, inputs: Path | None, timeout_s: float) -> int:
    command = [sys.executable, "-W", "ignore", "-m", "pytest_autodeploy.model.convert"]
    command += [str(path), str(target)]
    command += [] if inputs is None else ["--inputs", str(inputs)]
    # TensorFlow would look for GPUs and take their memory, for a conversion that needs none.
    quiet = own_environment(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    with show_task(f"converting {path.name}"):
        done = run_tool(command, timeout_s=timeout_s, environment=quiet, apart=True)
    if done.code is None:
        raise ModelError(
            f"{path}: TensorFlow had not converted it",
            seconds=timeout_s,
            hint="calibrate with fewer inputs, or convert it yourself and give the .tflite file",
        )
    said = _last_line(done.errors)
    hint = "convert it yourself and give the .tflite file"
    if done.code not in (0, _BAD_INPUTS, _BAD_MODEL):
        hint = _after_a_crash(done.errors) or hint
        said = f"it {done.how}; {said or 'it said nothing'}"
    if done.code == _BAD_INPUTS:
        raise InputsError(f"{inputs}: {said}", hint="give real values for every input of the model")
    if done.code:
        raise ModelError(
            f"{path}: TensorFlow could not convert it: {said}",
            hint=hint,
        )
    return int(done.output.split()[-1])


def _after_a_crash(errors: str) -> str:
    """Which layers to change: quantising the loops of recurrent layers crashes the converter."""
    loops = [line.removeprefix(_LOOPS) for line in errors.splitlines() if line.startswith(_LOOPS)]
    return f"give unroll=True to {loops[0]}: its loop crashes the converter" if loops else ""


def _last_line(output: str) -> str:
    """The last line that is more than a log of what goes well (I0000 00:00:...)."""
    lines = [line.strip() for line in output.splitlines()]
    telling = [
        line
        for line in lines
        if line and not re.match(r"[IW]\d{4} ", line) and not line.startswith(_LOOPS)
    ]
    return telling[-1] if telling else ""


def main(arguments: list[str] | None = None) -> int:
    """The child process: writes the target, or why it failed as the last line on stderr."""
    parser = argparse.ArgumentParser(prog="convert", description="Convert a model to .tflite.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--inputs", type=Path)
    options = parser.parse_args(arguments)
    try:
        content, samples = _convert(options.source, options.inputs)
        options.target.write_bytes(content)
        sys.stdout.write(f"\n{samples}\n")
    except InputsError as error:
        sys.stderr.write(f"\n{error.what}\n")
        return _BAD_INPUTS
    except HostileModel as error:
        sys.stderr.write(f"\n{error.what}\n")
        return _BAD_MODEL
    except Exception as error:
        sys.stderr.write(f"\n{_reason(error)}\n")
        return _BAD_MODEL
    return 0


def _reason(error: Exception) -> str:
    """The line of an exception that says most: where MLIR says "error:", else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "error:" in line] or lines or ["no reason given"]
    return f"{type(error).__name__}: {telling[0]}"


def _convert(source: Path, inputs: Path | None) -> tuple[bytes, int]:
    """The content, and the number of samples that it was calibrated on."""
    import tensorflow as tf

    with Scratch("convert") as folder:
        saved = str(source) if source.is_dir() else _export(source, str(folder.path / "saved"))
        fixed = str(folder.path / "fixed")
        shapes = _fix_batch(saved, fixed)
        converter = tf.lite.TFLiteConverter.from_saved_model(fixed)
        count = 0
        if inputs is not None:
            samples = read_samples(inputs, shapes)
            count = min(len(values) for values in samples.values())
            converter.representative_dataset = lambda: (
                {name: values[at : at + 1] for name, values in samples.items()}
                for at in range(count)
            )
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
            converter.inference_input_type = converter.inference_output_type = tf.int8
        return bytes(converter.convert()), count


def _fix_batch(saved: str, fixed: str) -> dict[str, list[int]]:
    """Save a SavedModel again with a batch of 1; gives the shapes of its inputs by their names.

    An open batch leaves operators that TFLM lacks.
    """
    import tensorflow as tf

    loaded = tf.saved_model.load(saved)
    signature = loaded.signatures["serving_default"]
    _, wanted = signature.structured_input_signature
    specs = {
        name: tf.TensorSpec([1, *spec.shape[1:]] if spec.shape.rank else [], spec.dtype, name=name)
        for name, spec in wanted.items()
    }
    serve = tf.function(lambda **values: signature(**values)).get_concrete_function(**specs)
    tf.saved_model.save(loaded, fixed, signatures={"serving_default": serve})
    return {name: spec.shape.as_list() for name, spec in specs.items()}


def _export(source: Path, folder: str) -> str:
    """A Keras file as a SavedModel with batch 1."""
    refuse_code(source)
    if recurrent := loops(source):
        sys.stderr.write(f"\n{_LOOPS}{', '.join(recurrent)}\n")
        sys.stderr.flush()
    import tensorflow as tf

    model = tf.keras.models.load_model(source, compile=False, safe_mode=True)
    specs = [
        tf.TensorSpec([1, *tensor.shape[1:]], tensor.dtype, name=c_identifier(tensor.name))
        for tensor in model.inputs
    ]
    archive = tf.keras.export.ExportArchive()
    archive.track(model)
    archive.add_endpoint(
        "serve",
        lambda *values: model(values[0] if len(values) == 1 else list(values)),
        input_signature=specs,
    )
    archive.write_out(folder, verbose=False)
    return folder


if __name__ == "__main__":
    sys.exit(main())
