"""The arrays of an output failure, to be looked into later."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import ResultsError
from pytest_autodeploy.base.files import write_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Sequence[NDArray[Any]]


def write_mismatch(
    path: Path, inputs: Arrays, board_outputs: Arrays, by_path: Mapping[str, Arrays]
) -> Path:
    """Write inputs and both sides' outputs as ``.npz``; read it with ``numpy.load(path)``.

    Arrays: ``input_0``, ``board_0`` and, per set of kernels of the PC, ``pc_ref_0``; each of shape
    ``(n, *tensor shape)``. Nothing is pickled. Raises ResultsError.
    """
    groups = {"input": inputs, "board": board_outputs}
    groups |= {f"pc_{name}": outputs for name, outputs in by_path.items()}
    arrays = {f"{key}_{i}": array for key, group in groups.items() for i, array in enumerate(group)}
    return write_arrays(path, arrays)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write arrays by name as ``.npz``. Raises ResultsError."""
    try:
        content = _npz(arrays)
    except ValueError as error:
        raise ResultsError(f"cannot write {path}: {error}") from error
    write_bytes(path, content)
    return path


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Like numpy.savez_compressed, which not in all its versions can be told not to pickle."""
    from numpy.lib.format import write_array

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as file:
                write_array(file, array, allow_pickle=False)
    return content.getvalue()
