"""Real-valued samples for calibration, from .npz, .npy or .csv files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import InputsError
from pytest_autodeploy.base.names import c_identifier
from pytest_autodeploy.base.npy import open_npz, read_npy

if TYPE_CHECKING:
    import numpy as np

    Samples = dict[str, np.ndarray[Any, Any]]


def read_samples(path: Path, shapes: Mapping[str, Sequence[int | None]]) -> Samples:
    """One float32 array (n, *shape[1:]) for each input of a model, by its name.

    ``shapes`` are those of the inputs with their batch dimension. The arrays of an .npz file have
    the names of the inputs; a model with one input takes the only array under any name. Raises
    InputsError for a file that cannot be read or does not fit.
    """
    import numpy as np

    try:
        arrays = _arrays(path)
        if len(arrays) == len(shapes) == 1:
            arrays = dict(zip(shapes, arrays.values(), strict=True))
        return {
            name: np.asarray(arrays[name], np.float32).reshape(-1, *shape[1:])
            for name, shape in shapes.items()
        }
    except KeyError:
        names = f"{', '.join(shapes)}; the file has {', '.join(arrays)}"
        raise InputsError(
            f"the model has the inputs {names}",
            hint="name one array of the .npz file after each of them",
        ) from None
    except Exception as error:
        wanted = {name: list(shape) for name, shape in shapes.items()}
        raise InputsError(f"{error}; the model has inputs of the shapes {wanted}") from None


def _arrays(path: Path) -> Samples:
    import numpy as np

    if path.suffix.lower() == ".csv":
        return {"csv": np.loadtxt(path, delimiter=",", ndmin=2)}
    if path.suffix.lower() == ".npz":
        with open_npz(path) as archive:
            return {c_identifier(name): archive.read(name) for name in archive.names}
    return {"npy": read_npy(path)}
