"""Archives from outside are measured before they are unpacked."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_autodeploy.base.archive import ArchiveRefused, check_archive
from pytest_autodeploy.base.errors import InputsError, ModelError
from pytest_autodeploy.base.npy import open_npz, read_npy
from pytest_autodeploy.model.convert import to_tflite
from pytest_autodeploy.model.load import load_model
from pytest_autodeploy.model.samples import read_samples
from pytest_autodeploy.reference.inputs import load_inputs
from pytest_autodeploy.reference.labels import load_labels
from tests.helpers.support import DIGITS
from tests.helpers.zip_bombs import write_bomb


@contextmanager
def little_memory(most_bytes: int = 40_000_000) -> Iterator[None]:
    """Fails when more memory is taken within it."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most_bytes


def names_of(path: Path) -> list[str]:
    """The names of the arrays of a file."""
    with open_npz(path) as archive:
        return archive.names


def arrays_of(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of a file."""
    with open_npz(path) as archive:
        return archive.read_all()


def test_arrays_are_read_by_their_names(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", a=np.arange(6).reshape(2, 3), b=np.float32(0.5))
    arrays = arrays_of(tmp_path / "x.npz")
    assert list(arrays) == names_of(tmp_path / "x.npz") == ["a", "b"]
    np.testing.assert_array_equal(arrays["a"], [[0, 1, 2], [3, 4, 5]])
    assert arrays["b"].shape == ()
    assert arrays["b"].dtype == np.float32


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = write_bomb(tmp_path / "x.npz", "a.npy")
    assert path.stat().st_size < 4_100_000
    with little_memory(), pytest.raises(ArchiveRefused, match="3,910 MB, which is more than"):
        names_of(path)


def test_many_members_count_together(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        for number in range(11):
            archive.writestr(f"{number}.npy", bytes(100))
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        check_archive(archive, most_bytes=1100)
        with pytest.raises(ArchiveRefused):
            check_archive(archive, most_bytes=1099)


@pytest.mark.parametrize(
    ("told", "shape"), [(0, 0), (1_000, 4_100_000_000), (2_000_000, 1_999_872), (2_000_000, 9)]
)
def test_a_directory_that_tells_of_less_does_not_help(
    tmp_path: Path, told: int, shape: int
) -> None:
    path = write_bomb(tmp_path / "x.npz", "a.npy", told=told, shape=shape)
    with little_memory(), pytest.raises((ValueError, EOFError, zipfile.BadZipFile)):
        arrays_of(path)


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packers_that_cannot_be_bounded_are_refused(tmp_path: Path, how: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", how) as archive:
        archive.writestr("a.npy", bytes(1000))
    with pytest.raises(ArchiveRefused, match=r"'a\.npy' is compressed, but not with deflate"):
        names_of(tmp_path / "x.npz")


def test_a_header_that_tells_of_more_than_there_is_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.zeros(9, np.int8))
    path.write_bytes(path.read_bytes().replace(b"(9,), }" + b" " * 9, b"(9" + b"0" * 9 + b",), }"))
    with little_memory(), pytest.raises(ValueError, match=r"tells of 9000000000 bytes, .* are 9"):
        read_npy(path)


def test_a_member_that_needs_a_password_or_is_damaged_is_a_value_error(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", a=np.arange(1000))
    content = bytearray((tmp_path / "x.npz").read_bytes())
    locked = bytearray(content)
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(magic) + at] |= 1
    content[100:120] = bytes(20)
    for damaged in (locked, content):
        (tmp_path / "x.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match="'a': "):
            arrays_of(tmp_path / "x.npz")


def test_what_is_no_array_is_a_value_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a.npy", b"no array at all")
    with pytest.raises(ValueError, match="magic string"):
        arrays_of(tmp_path / "x.npz")


@pytest.mark.parametrize("read", ["inputs", "labels", "calibration"])
def test_a_bomb_as_a_users_file_is_one_clear_error(tmp_path: Path, read: str) -> None:
    path = write_bomb(tmp_path / "bomb.npz", "arr_0.npy")
    model = load_model(DIGITS)
    readers: dict[str, Callable[[], object]] = {
        "inputs": lambda: load_inputs(path, model),
        "labels": lambda: load_labels(path),
        "calibration": lambda: read_samples(path, {"image": [1, 8, 8, 1]}),
    }
    with little_memory(), pytest.raises(InputsError, match="it would unpack to 3,910 MB") as raised:
        readers[read]()
    assert read == "calibration" or "give fewer samples" in str(raised.value.hint)


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="no TensorFlow")
def test_a_keras_file_that_is_a_bomb_is_refused_before_tensorflow_sees_it(tmp_path: Path) -> None:
    path = write_bomb(tmp_path / "bomb.keras", "model.weights.h5")
    with little_memory(), pytest.raises(ModelError, match="it would unpack to 3,910 MB") as raised:
        to_tflite(path, timeout_s=1)
    assert raised.value.hint == "convert it yourself and give the .tflite file"


@pytest.mark.parametrize("header", [b"{'descr': ((((", b"((((", b"'''", b"{1: 2", b"[" * 60, b"\0"])
def test_a_damaged_header_is_a_damaged_file(tmp_path: Path, header: bytes) -> None:
    """NumPy reads the header as Python's words, and its tokenizer has errors of its own."""
    path = tmp_path / "a.npy"
    np.save(path, np.zeros(4, np.float32))
    content = bytearray(path.read_bytes())
    content[10 : 10 + len(header)] = header
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"."):
        read_npy(path)
    with pytest.raises(InputsError, match=r"a.npy: not a valid .npy file"):
        load_inputs(path, load_model(DIGITS))


def test_an_archive_of_another_version_is_a_damaged_file(tmp_path: Path) -> None:
    """zipfile raises NotImplementedError for it."""
    path = tmp_path / "a.npz"
    np.savez(path, np.zeros(4, np.float32))
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + 6] = 255
    path.write_bytes(content)
    with pytest.raises(InputsError, match=r"not a valid .npz file: zip file version 25.5"):
        load_inputs(path, load_model(DIGITS))
