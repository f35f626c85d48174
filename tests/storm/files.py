"""Files of each kind, damaged and forged: each is refused in words of ours, or read as it is."""

from __future__ import annotations

import functools
import io
import json
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.baseline.history import History
from pytest_autodeploy.baseline.store import read_baseline
from pytest_autodeploy.baseline.text import baseline_text
from pytest_autodeploy.deliver import files as characterisations
from pytest_autodeploy.model.load import check_runnable, load_model
from pytest_autodeploy.npu.config_file import choose_system, sample_config
from pytest_autodeploy.reference.input_files import read_arrays
from tests.helpers import baseline_examples
from tests.helpers.deliver_examples import characterized
from tests.helpers.mutation import mutated
from tests.helpers.recordings import recorded, replay, seal
from tests.helpers.support import DIGITS, KWS
from tests.storm.tally import Tally

DEADLINE_S = 20


class TooLongError(Exception):
    """A file kept its reader busy."""


@dataclass(frozen=True)
class FileKind:
    """A good file, and how it is read; ``check`` gives what may not have changed."""

    name: str
    content: bytes
    read: Callable[[Path], object]
    text: bool = True


def storm(kind: FileKind, folder: Path, count: int, seed: int) -> Tally:
    """Read ``count`` mutants of a file."""
    tally, began = Tally(f"files, {kind.name}"), time.monotonic()
    path = folder / kind.name
    path.write_bytes(kind.content)
    kind.read(path)  # what is refused anyway would prove nothing
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        content = mutated(kind.content, chance, text=kind.text)
        path.write_bytes(content)
        tally.injected += 1
        case = f"seed {seed}/{number}"
        try:
            with deadline(DEADLINE_S):
                kind.read(path)
        except AutodeployError:
            tally.recovered += 1
        except TooLongError:
            tally.hangs += 1
            tally.case(f"{case}: still reading after {DEADLINE_S} s")
        except AssertionError as error:
            tally.wrong += 1
            tally.case(f"{case}: {error}")
        except Exception as error:
            tally.foreign += 1
            tally.case(f"{case}: {type(error).__name__}: {error}"[:200])
        if path.read_bytes() != content:
            tally.left += 1
            tally.case(f"{case}: the file was written to")
    tally.seconds = time.monotonic() - began
    return tally


@contextmanager
def deadline(seconds: int) -> Iterator[None]:
    """Raise TooLongError within, when the time is up."""

    def ring(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def kinds(folder: Path) -> Mapping[str, FileKind]:
    """All kinds of files, by name."""
    every = (
        *(_models()),
        *_characterisation(folder / "characterisation"),
        FileKind(
            "baseline.json", baseline_text(baseline_examples.baseline()).encode(), read_baseline
        ),
        FileKind("vela.ini", sample_config().read_bytes(), _read_vela),
        FileKind("history.sqlite", _history(folder), _read_history, text=False),
        *_inputs(),
        FileKind("capture.jls", _capture(folder), _read_capture, text=False),
        FileKind("board.adrec", _recording(folder), replay, text=False),
        FileKind("sealed.adrec", _recording(folder), _replay_sealed, text=False),
    )
    return {kind.name: kind for kind in every}


@functools.cache
def _recording(folder: Path) -> bytes:
    return recorded(folder / "recording").path.read_bytes()


def _replay_sealed(path: Path) -> None:
    """With its check sums made to fit, as an attacker would."""
    sealed = path.with_name("sealed by an attacker")
    sealed.write_bytes(seal(path.read_bytes()))
    replay(sealed)


def _models() -> Iterator[FileKind]:
    for path in (DIGITS, KWS):
        yield FileKind(path.name, path.read_bytes(), _read_model, text=False)


def _read_model(path: Path) -> None:
    model = load_model(path)
    check_runnable(model)
    assert model.macs is None or model.macs >= 0, "negative MACs"
    json.dumps([tensor.shape for tensor in model.tensors])


def _characterisation(folder: Path) -> Iterator[FileKind]:
    model = load_model(DIGITS)
    truth = characterized(model)
    characterisations.save(truth, folder)
    names = characterisations.file_names(model.name)
    good = {name: (folder / name).read_bytes() for name in names}

    def read(path: Path) -> None:
        """With its hash made to fit, as an attacker would."""
        for name, content in good.items():
            (folder / name).write_bytes(path.read_bytes() if name == path.name else content)
        _seal(folder, *names)
        found = characterisations.load(folder, model)
        assert found.details == truth.details, "details that are not the model's"
        assert found.resolver_methods == truth.resolver_methods, "operators that it has not"
        assert 16 <= found.arena_bytes < 1 << 32, "an arena that cannot be"

    for name in names:
        yield FileKind(name, good[name], read)


def _seal(folder: Path, mc_name: str, md_name: str) -> None:
    try:
        mc, md = (json.loads((folder / name).read_bytes()) for name in (mc_name, md_name))
        md["content_sha256"] = characterisations._digest(md)
        mc["details_sha256"] = md["content_sha256"]
        mc["content_sha256"] = characterisations._digest(mc)
        texts = json.dumps(mc), json.dumps(md)
    except (ValueError, TypeError, RecursionError):
        return  # so broken that it has no hash
    (folder / mc_name).write_text(texts[0])
    (folder / md_name).write_text(texts[1])


def _read_vela(path: Path) -> None:
    system = choose_system("ethos-u85-256", config=path, memory_mode="Weights_In_MRAM")
    assert system.system_config.isprintable(), "a name with control letters"


def _history(folder: Path) -> bytes:
    history = History(folder / "made.sqlite")
    history.check()
    return history.path.read_bytes()


def _read_history(path: Path) -> None:
    copy = path.with_name("copy.sqlite")  # opening a database repairs it
    for old in path.parent.glob("copy.sqlite*"):
        old.unlink()
    copy.write_bytes(path.read_bytes())
    History(copy).check()


def _capture(folder: Path) -> bytes:
    from tests.helpers.captures import saved
    from tests.helpers.power_streams import stream

    return saved(folder / "made.jls", stream(np.full(20_000, 0.02))).read_bytes()


def _read_capture(path: Path) -> None:
    from pytest_autodeploy.power.replay import Replay
    from pytest_autodeploy.power.replayed import windows_of

    replay = Replay(path)
    try:
        replay.open()
        windows_of(replay, board="evb", pins={})
    finally:
        replay.close()


def _inputs() -> Iterator[FileKind]:
    model = load_model(DIGITS)
    values = np.zeros((3, *model.inputs[0].shape[1:]), np.float32)
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, values)
    np.savez(npz, values)
    for name, content in (("inputs.npy", npy), ("inputs.npz", npz)):
        yield FileKind(name, content.getvalue(), lambda path: read_arrays(path, model), text=False)
