"""Rigs for tests: simulated boards that run a model behind a port, and the file that names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_autodeploy.board.process import ControlledProcess
from pytest_autodeploy.settings.options import OPTIONS
from pytest_autodeploy.settings.settings import Settings, resolve

TYPE = "sim:apollo4p_evb"
PATIENCE_S = 30.0


@contextmanager
def running_boards(
    folder: Path,
    models: Mapping[str, Path],
    *arguments: str,
    board: str = "apollo4p_evb",
    faults: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[dict[str, str]]:
    """Simulated boards that run models, by their names; gives their ports.

    ``faults`` are further arguments of single ones.
    """
    with ExitStack() as stack:
        ports = {}
        for name, model in models.items():
            log = folder / f"{name}.log"
            words = ["--board", board, "--model", str(model), "--log", str(log), *arguments]
            words += faults.get(name, ())
            process = ControlledProcess("sim", "pytest_autodeploy.sim", words, log)
            stack.callback(process.close)
            ports[name] = str(process.reply("start", PATIENCE_S)["port"])
        yield ports


def write_rig(path: Path, ports: Mapping[str, str], type_: str = TYPE, **more: str) -> Path:
    """A rig file with a board behind each of the ports; ``more`` are lines of TOML by name."""
    tables = [
        f'[[board]]\nname = "{name}"\ntype = "{type_}"\nport = "{port}"\n{more.get(name, "")}\n'
        for name, port in ports.items()
    ]
    path.write_text("\n".join(tables))
    path.chmod(0o644)
    return path


def settings_of(rig: Path, **given: Any) -> Settings:
    """The settings of a run with a rig, in a folder beside it."""
    chosen = {"evb_rig": str(rig), "evb": [TYPE], **given}
    by_dest = {f"autodeploy_{name}": value for name, value in chosen.items()}
    return resolve(OPTIONS, by_dest.get, lambda _: None, rig.parent / "project")
