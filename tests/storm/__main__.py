"""Runs storms and prints their table: ``python -m tests.storm [NAME]... [--slice] [--seed N]``."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.storm.tally import Tally, table

Storm = Callable[[Path, int, int], Tally]
"""Given a folder to work in, how many faults and a seed."""


def _simulated(folder: Path, count: int, seed: int) -> Tally:
    from pytest_autodeploy.board.simulated import SimulatedBoard
    from pytest_autodeploy.catalog.boards import board_spec
    from pytest_autodeploy.model.load import load_model
    from tests.helpers.support import DIGITS
    from tests.storm import frames

    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    try:
        return frames.storm("frames, simulated", board, load_model(DIGITS), count, seed)
    finally:
        board.close()


def _emulated(machine: str) -> Storm:
    def storm(folder: Path, count: int, seed: int) -> Tally:
        from tests.helpers.emulation import echo_board, image
        from tests.helpers.tflite_builder import relu
        from tests.storm import frames

        board = echo_board(machine, folder / "cache", timeout_s=60)
        model = image(folder, relu()).model
        try:
            return frames.storm(f"frames, {machine}", board, model, count, seed)
        finally:
            board.close()

    return storm


def _link(folder: Path, count: int, seed: int) -> Tally:
    from tests.storm import links

    return links.storm(folder, count, seed)


def _kills(folder: Path, count: int, seed: int) -> Tally:
    from tests.storm import kills

    return kills.storm(folder, count, seed)


def _bad_links(folder: Path, count: int, seed: int) -> Tally:
    from tests.storm import runs

    return runs.over_bad_links(folder, count, seed)


def _full_disks(folder: Path, count: int, seed: int) -> Tally:
    from tests.storm import runs

    return runs.on_full_disks(folder, count, seed)


def _lab(folder: Path, count: int, seed: int) -> Tally:
    from tests.storm import lab

    return lab.storm(folder, count, seed)


def _files(name: str) -> Storm:
    def storm(folder: Path, count: int, seed: int) -> Tally:
        from tests.storm import files

        return files.storm(files.kinds(folder)[name], folder, count, seed)

    return storm


STORMS: Mapping[str, tuple[Storm, int, int]] = {
    "link": (_link, 5_000, 60),
    "kills": (_kills, 300, 2),
    "runs-link": (_bad_links, 60, 3),
    "runs-disk": (_full_disks, 60, 3),
    "frames-sim": (_simulated, 10_000, 1_000),
    "frames-an386": (_emulated("mps2-an386"), 10_000, 500),
    "frames-an547": (_emulated("mps3-an547"), 10_000, 500),
    "digits_cnn.tflite": (_files("digits_cnn.tflite"), 1_000, 100),
    "kws_ds_cnn.tflite": (_files("kws_ds_cnn.tflite"), 1_000, 100),
    "digits_cnn_mc.json": (_files("digits_cnn_mc.json"), 300, 60),
    "digits_cnn_md.json": (_files("digits_cnn_md.json"), 300, 60),
    "baseline.json": (_files("baseline.json"), 300, 100),
    "vela.ini": (_files("vela.ini"), 300, 100),
    "history.sqlite": (_files("history.sqlite"), 300, 60),
    "inputs.npy": (_files("inputs.npy"), 300, 100),
    "inputs.npz": (_files("inputs.npz"), 300, 100),
    "capture.jls": (_files("capture.jls"), 300, 40),
    "board.adrec": (_files("board.adrec"), 300, 60),
    "sealed.adrec": (_files("sealed.adrec"), 300, 60),
    "labgrid": (_lab, 100, 0),
}
"""Each with its number of faults, in all and in the slice; with 0 it is no part of the slice."""

_NEEDS = {"frames-an386": "qemu-system-arm", "frames-an547": "qemu-system-arm"}


def main() -> int:
    """Exit code 1 when anything hung, was told wrongly as right, or ended in a foreign error."""
    parser = argparse.ArgumentParser(prog="python -m tests.storm", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(STORMS))
    parser.add_argument("--slice", action="store_true", help="the part that CI runs")
    parser.add_argument("--count", type=int, help="how many faults, in place of the usual number")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tallies = []
    for name in options.names or STORMS:
        storm, full, part = STORMS[name]
        if options.slice and not part:
            continue
        if shutil.which(_NEEDS.get(name, sys.executable)) is None:
            print(f"{name}: left out, {_NEEDS[name]} is not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            count = options.count or (part if options.slice else full)
            tallies.append(storm(Path(folder), count, options.seed))
        print(table(tallies[-1:]), flush=True)
    print(f"\n{table(tallies)}")
    return 0 if all(tally.clean for tally in tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
