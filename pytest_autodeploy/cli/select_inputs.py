"""``autodeploy select-inputs``: the smallest part of a data set that tells as much as all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_autodeploy.base.errors import ReferenceFailed
from pytest_autodeploy.cli.command import json_option, print_json, print_lines, progress
from pytest_autodeploy.cli.settings import setting_options, settings_of, tolerance_of

if TYPE_CHECKING:
    from pytest_autodeploy.diagnosis.sensitivity.select import Selection
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import Sensitivity
    from pytest_autodeploy.reference.inputs import Inputs


@click.command(
    "select-inputs", short_help="Choose the fewest samples that would notice as much as all."
)
@click.argument("data", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("model", type=click.Path(exists=True))
@click.option(
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The .npz file that gets them, for --tflite-inputs.",
)
@setting_options("output_tolerance", "state", "sensitivity_time")
@json_option
def select_inputs(data: Path, model: str, out: Path, as_json: bool, **given: Any) -> None:
    """Choose the smallest part of DATA that notices every wrong operator of MODEL that DATA does.

    DATA is an .npz, .npy or .csv file with one sample for each inference. TFLM on this PC (extra
    'sim') runs each sample with the outputs of each operator changed: by 64 steps, by 1 step, in
    one channel. Of a model that carries state, the part is the beginning of DATA. The exit code is
    1 when the time was over before all was looked at; then nothing is written.

    JSON: out, of, selected[] (the numbers of the samples, from 0 on), smallest (whether no smaller
    part notices as much), sensitivity of the part, as in the JSON results of pytest.
    """
    if out.suffix != ".npz":
        raise click.UsageError(f"--out {out}: the samples go into an .npz file.")
    found = _found(settings_given={**given, "tflite": model}, data=data)
    _write(out, found)
    if as_json:
        print_json(_plain(out, found))
    else:
        print_lines([*_lines(out, found)])


@dataclass(frozen=True)
class _Found:
    selection: Selection
    inputs: Inputs
    sensitivity: Sensitivity


def _found(settings_given: dict[str, Any], data: Path) -> _Found:
    from pytest_autodeploy.diagnosis.sensitivity.measure import sensitivity
    from pytest_autodeploy.diagnosis.sensitivity.select import pick, select
    from pytest_autodeploy.reference.inputs import load_inputs
    from pytest_autodeploy.run.preflight import check_settings
    from pytest_autodeploy.run.runtime import Runtime

    settings = settings_of(settings_given)
    check_settings(settings, write=False)
    tolerance, shown = tolerance_of(settings), progress()
    runtime = Runtime(settings, shown)
    try:
        model = runtime.models.first_runnable(settings.evb[0])
        reset_each = settings.state == "reset" and model.stateful

        def run_pc(inputs: Inputs) -> Any:
            reference = runtime.pc.reference(model, tolerance.reference)
            return reference.run(inputs, reset_each=reset_each)

        details: dict[str, Any] = {
            "reset_each": reset_each,
            "seconds": settings.sensitivity_time,
            "progress": shown,
        }
        inputs = load_inputs(data, model)
        chosen = select(model, inputs, run_pc, tolerance, **details)
        _refuse_unknown(chosen)
        part = pick(inputs, chosen.numbers)
        told = sensitivity(model, part, run_pc(part), tolerance, **details)
        return _Found(chosen, part, told)
    finally:
        runtime.close()


def _refuse_unknown(chosen: Selection) -> None:
    if not chosen.unknown:
        return
    first, more = chosen.unknown[0], len(chosen.unknown) - 1
    others = f" and {more} more operators" if more else ""
    raise ReferenceFailed(
        f"what the samples notice is not known of {first.label}{others}: {first.unknown}",
        hint="allow more with --sensitivity-time SECONDS, or give fewer samples",
    )


def _write(out: Path, found: _Found) -> None:
    """The samples as the model stores them, in the order of its inputs. Raises ResultsError."""
    import io

    import numpy as np

    from pytest_autodeploy.base.files import write_bytes

    buffer = io.BytesIO()
    np.savez(buffer, *found.inputs.arrays)
    write_bytes(out, buffer.getvalue())


def _plain(out: Path, found: _Found) -> dict[str, Any]:
    import msgspec

    from pytest_autodeploy.metrics.records.diagnosis import sensitivity_record

    return {
        "out": str(out),
        "of": found.selection.of,
        "selected": list(found.selection.numbers),
        "smallest": found.selection.smallest,
        "sensitivity": msgspec.to_builtins(sensitivity_record(found.sensitivity)),
    }


def _lines(out: Path, found: _Found) -> Iterator[str]:
    from pytest_autodeploy.diagnosis.sensitivity.sensitivity import describe

    chosen = found.selection
    yield f"{out}: {len(chosen.numbers)} of {chosen.of} samples: {_numbers(chosen.numbers)}"
    yield f"  {describe(found.sensitivity)}"
    if not chosen.smallest:
        yield "  perhaps fewer would do: the search for the fewest has its bounds"


def _numbers(numbers: tuple[int, ...], most: int = 20) -> str:
    more = f" and {len(numbers) - most} more" if len(numbers) > most else ""
    return ", ".join(map(str, numbers[:most])) + more
