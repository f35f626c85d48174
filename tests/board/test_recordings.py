"""Recordings: written as they go, answered from by call and content, read as from an enemy."""

from __future__ import annotations

import getpass
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.record_file import RecordingError, RecordWriter, read_records
from pytest_autodeploy.board.base import Board
from pytest_autodeploy.board.recorded.answers import NotRecorded, read_answers
from pytest_autodeploy.board.recorded.recordings import Recordings
from pytest_autodeploy.board.simulated import SimulatedBoard
from pytest_autodeploy.catalog.boards import board_spec
from pytest_autodeploy.catalog.kinds import kind_of, spec_of
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.reference.inputs import as_inputs, random_inputs
from pytest_autodeploy.session.model_session import ModelSession
from tests.helpers.commission_models import FOLDER
from tests.helpers.mutation import mutated
from tests.helpers.recordings import (
    MEASURES,
    RUNS,
    START,
    Made,
    measured,
    recorded,
    recorded_board,
    replay,
    seal,
    session_of,
)
from tests.helpers.support import DIGITS, KWS, ROOT

SVDF = FOLDER / "int8_svdf.tflite"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return recorded(tmp_path_factory.mktemp("recording"))


def test_a_recording_gives_what_was_measured(made: Made) -> None:
    assert replay(made.path) == made.values


def test_the_order_is_free_and_so_is_what_is_left_out(made: Made) -> None:
    backwards = session_of(recorded_board(made.path))
    values = measured(backwards, MEASURES[::-1])
    for name in ("outputs", "memory", "energy", "arena"):
        assert values[name] == made.values[name]
    assert set(values["latency"].samples_us) <= set(made.values["latency"].samples_us)
    alone = session_of(recorded_board(made.path))
    assert measured(alone, ["latency"])["latency"] == made.values["latency"]


def test_it_is_the_kind_and_the_source_of_the_board(made: Made) -> None:
    board_id = f"recorded:{made.path}"
    kind = kind_of(board_id)
    assert (kind.name, kind.source, kind.is_hardware) == ("simulated", "modelled", False)
    assert kind.recorded.startswith("recorded on 20")
    assert kind.recorded.endswith(" from apollo4p_evb")
    assert spec_of(board_id).name == "apollo4p_evb"


def test_inputs_that_were_not_recorded_have_no_outputs(made: Made) -> None:
    session = session_of(recorded_board(made.path))
    other = as_inputs(np.ones((1, *session.model.inputs[0].shape), np.int8), session.model)
    with pytest.raises(NotRecorded, match="infer: not with these inputs") as error:
        session.run(other)
    assert "record it anew" in str(error.value)
    assert session.run() is not None  # the board is none the worse for it


def test_more_times_than_were_recorded_are_not_made_up(made: Made) -> None:
    session = session_of(recorded_board(made.path))
    with pytest.raises(NotRecorded, match=r"invoke: only .* inferences like these were recorded"):
        session.latency(1000)
    assert session.latency(RUNS).source == "modelled"


def test_a_mode_that_was_not_recorded_is_told(made: Made) -> None:
    session = session_of(recorded_board(made.path))
    session.prepare(session.inputs, clock="LP")
    with pytest.raises(NotRecorded, match="identify: not recorded at LP"):
        session.latency(RUNS)


def test_energy_beyond_what_was_metered_is_told(made: Made) -> None:
    board = recorded_board(made.path)
    with pytest.raises(NotRecorded, match="no measurement of energy at LP was recorded"):
        board.metered("LP", None)
    assert board.metered("HP", None).inferences > 0
    with pytest.raises(NotRecorded, match="no more measurement of energy"):
        board.metered("HP", None, more=True)


def test_another_model_is_refused_by_name(made: Made) -> None:
    model = load_model(KWS)
    session = ModelSession(model, recorded_board(made.path), inputs=random_inputs(model, 1, 1))
    with pytest.raises(NotRecorded, match=r"a recording of digits_cnn .*, not of kws_ds_cnn"):
        session.run()


def test_the_state_of_a_model_is_a_part_of_what_was_asked(tmp_path: Path) -> None:
    """The same input again, after others: the answer is the one with that history."""

    def outputs(board: Board, recordings: Recordings | None, order: list[int]) -> list[bytes]:
        model = load_model(SVDF)
        inputs = as_inputs(random_inputs(model, 3, 1).arrays[0][order], model)
        session = ModelSession(model, board, inputs=inputs)
        session.recording.to = recordings
        return [output.tobytes() for output in session.run().outputs[0]]

    live = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    recordings = Recordings(tmp_path)
    truth = outputs(live, recordings, [0, 1, 0, 2, 0])
    live.close()
    recordings.close()
    (path,) = tmp_path.iterdir()
    assert len({truth[0], truth[2], truth[4]}) == 3
    assert outputs(recorded_board(path), None, [0, 1, 0, 2, 0]) == truth
    assert outputs(recorded_board(path), None, [0, 1, 0]) == truth[:3]
    with pytest.raises(NotRecorded, match="infer: not with these inputs"):
        outputs(recorded_board(path), None, [0, 2])


def test_a_refusal_comes_back_with_the_words_of_the_board(tmp_path: Path) -> None:
    def refused(session: ModelSession) -> str:
        session.prepare(session.inputs, arena_bytes=1024)
        with pytest.raises(AutodeployError) as error:
            session.run()
        return str(error.value).partition(": ")[2].partition("\n")[0]

    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    recordings = Recordings(tmp_path)
    words = refused(session_of(board, recordings))
    board.close()
    recordings.close()
    (path,) = tmp_path.iterdir()
    assert "an arena of 1024 bytes is too small" in words
    assert refused(session_of(recorded_board(path))) == words


WRITE_FOR_EVER = """
import sys
from pathlib import Path
from pytest_autodeploy.base.record_file import RecordWriter
writer = RecordWriter(Path(sys.argv[1]))
number = 0
while True:
    writer.add(2, number.to_bytes(4, "little") * 100)
    number += 1
"""


def test_a_kill_leaves_a_file_that_is_readable_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "killed.adrec"
    child = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(path)], cwd=ROOT)
    try:
        until = time.monotonic() + 60
        while not (path.exists() and path.stat().st_size > 100_000):
            assert time.monotonic() < until
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    records = [record.payload for record in read_records(path)]
    assert len(records) >= 200
    assert records == [n.to_bytes(4, "little") * 100 for n in range(len(records))]


def test_a_recording_that_was_cut_anywhere_gives_what_came_before(made: Made) -> None:
    whole, content = made.path.read_bytes(), list(read_records(made.path))
    cut = made.path.with_name("cut")
    chance = random.Random(1)
    for _ in range(30):
        cut.write_bytes(whole[: chance.randrange(START, len(whole))])
        records = list(read_records(cut))
        assert records == content[: len(records)]
        assert len(records) < len(content)


def test_the_size_has_a_bound_and_what_is_missing_says_so(tmp_path: Path) -> None:
    board = SimulatedBoard("sim:apollo4p_evb", board_spec("apollo4p_evb"), timeout_s=60)
    recordings = Recordings(tmp_path, most_bytes=1500)
    measured(session_of(board, recordings), ["latency", "profile", "arena"])
    board.close()
    recordings.close()
    (path,) = tmp_path.iterdir()
    assert path.stat().st_size <= 1500
    assert read_answers(path).full
    with pytest.raises(NotRecorded, match="the recording reached its bound"):
        measured(session_of(recorded_board(path)), ["outputs"])


def test_nothing_private_is_in_it(made: Made) -> None:
    answers = [entry.answer for of in read_answers(made.path).others.values() for entry in of[0]]
    content = made.path.read_bytes() + b"".join(answer.body for answer in answers)
    private = (getpass.getuser() + "@", socket.gethostname(), str(Path.home()) + "/", str(ROOT))
    for words in (*private, str(made.path.parent)):
        assert words.encode() not in content
    inputs = random_inputs(load_model(DIGITS), 10, 42).arrays[0]
    assert inputs[0].tobytes() not in content


def test_paths_in_the_log_of_a_board_are_left_out() -> None:
    from pytest_autodeploy.board.recorded.recorder import _text_of

    page = bytes(12) + b"cannot open /home/me/x y.tflite: no" + bytes(4)
    assert _text_of(page) == b"cannot open <path> y.tflite: no"
    assert _text_of(bytes(12) + b"lite/micro/kernels.cc:12 5/6" + bytes(4)).startswith(b"lite/m")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no recording"),
        (b"\x7fELF and more of it, of no use at all", "is no recording"),
        (b"autodeploy\n\x1a\n\0\0\1\0\0\0  ", "copy it as a binary file"),
        (b"autodeploy\r\n\x1a\n\0\0\2\0\0\0", "a recording of version 2"),
    ],
)
def test_what_is_no_recording_is_told(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "board.adrec"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=words):
        kind_of(f"recorded:{path}")


def test_a_file_that_is_missing_or_a_folder_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.adrec", tmp_path):
        with pytest.raises(RecordingError, match="--evb recorded:FILE"):
            kind_of(f"recorded:{path}")


def test_a_packed_answer_cannot_be_larger_than_a_message(tmp_path: Path, made: Made) -> None:
    import zlib

    path = tmp_path / "bomb.adrec"
    writer = RecordWriter(path)
    head = next(read_records(made.path))
    writer.add(1, head.payload)
    writer.add(2, bytes([1, 2]) + bytes(16) + bytes(16) + bytes(2) + zlib.compress(bytes(1 << 24)))
    writer.close()
    with pytest.raises(RecordingError, match="record 1: a recorded answer is longer"):
        read_answers(path)


@pytest.mark.slow
@pytest.mark.parametrize("sealed", [False, True])
def test_150_mutants_end_in_clear_errors_or_in_what_was_measured(
    tmp_path: Path, made: Made, sealed: bool
) -> None:
    content, path = made.path.read_bytes(), tmp_path / "mutant.adrec"
    texts = []
    for number in range(150):
        mutant = mutated(content, random.Random(f"{sealed}/{number}"), text=False)
        path.write_bytes(seal(mutant) if sealed else mutant)
        try:
            values = replay(path)
            assert sealed or values == made.values
        except AutodeployError as error:
            texts.append(str(error))
    assert len(texts) > 75
    assert all(len(text) < 1000 and "\x1b" not in text for text in texts)
