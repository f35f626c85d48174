"""Arrays that have names, as those of an .npz file, in the order of a model's inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_autodeploy.base.errors import InputsError

if TYPE_CHECKING:
    from pytest_autodeploy.model.graph import Model


_SERVING = re.compile(r"^serv(ing_default|e)_")
"""What TensorFlow puts before the names that a Keras model gives its inputs."""


def arrays_by_name(arrays: Mapping[str, Any], model: Model, origin: str) -> tuple[Any, ...]:
    """The arrays in the order of the model's inputs. Raises InputsError that lists valid names."""
    names = [tensor.name for tensor in model.inputs]
    bare = [_SERVING.sub("", name).partition(":")[0] for name in names]
    schemes = [
        names,
        *([bare] if bare != names else []),
        *([f"{word}_{i}" for i in range(len(names))] for word in ("input", "arr")),
    ]
    for scheme in schemes:
        if set(scheme) == set(arrays) and len(set(scheme)) == len(names):
            return tuple(arrays[name] for name in scheme)
    raise InputsError(
        f"{origin}: has arrays named {', '.join(map(repr, arrays)) or 'nothing'}; expected "
        + " or ".join(", ".join(map(repr, scheme)) for scheme in schemes)
    )
