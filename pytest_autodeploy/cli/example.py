"""``autodeploy example``: a folder with a model, its data and tests, to try and to change."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import click

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.resources import resource
from pytest_autodeploy.cli.command import json_option, print_json, print_lines

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "digits": (
        "models/digits_cnn.tflite",
        "models/digits_test.npz",
        "models/digits_test_labels.npy",
        "digits_suite/test_digits.py",
    ),
    "kws": ("models/kws_ds_cnn.tflite",),
}
"""The files of each example, below ``examples/`` and below the folder that it is written to."""


class ExampleError(AutodeployError):
    """An example cannot be written."""


@click.command(short_help="Write an example: a model, its data and tests.")
@click.argument("name", type=click.Choice(tuple(EXAMPLES)))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
def example(name: str, folder: Path, as_json: bool) -> None:
    """Write the example NAME into FOLDER, which is made; a file that is there is never replaced.

    digits: a CNN that recognises handwritten digits, 360 test images with labels, and a suite of
    tests. kws: a DS-CNN of the shape of keyword spotting. With --json: example, folder, files.
    """
    files = _write(EXAMPLES[name], folder)
    if as_json:
        print_json({"example": name, "folder": str(folder), "files": files})
    else:
        print_lines([*(f"wrote {folder / file}" for file in files), "", *_next(files, folder)])


def _write(files: tuple[str, ...], folder: Path) -> list[str]:
    """Copy the files of an example. Raises ExampleError, and then has written nothing."""
    there = [file for file in files if (folder / file).exists()]
    if there:
        raise ExampleError(
            f"{folder / there[0]} is there already, and is not replaced",
            hint="name another folder",
        )
    for file in files:
        target = folder / file
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(resource("examples", *Path(file).parts), target)
        except OSError as error:
            raise ExampleError(
                f"{target} cannot be written: {error.strerror}", hint="name another folder"
            ) from error
    return list(files)


def _next(files: list[str], folder: Path) -> list[str]:
    """What to type then."""
    suites = sorted({Path(file).parent.as_posix() for file in files if file.endswith(".py")})
    typed = [f"pytest autodeploy --tflite={files[0]}", *(f"pytest {suite}" for suite in suites)]
    return ["Try it:", f"  cd {folder}", *(f"  {line}" for line in typed)]
