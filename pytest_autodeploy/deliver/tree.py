"""The folders of what is delivered for one model, and files that replace those of an earlier run.

Below the output folder, ``<name>`` being the model's C identifier::

    <name>/lib/                    the static library and its header
    <name>/src/                    what the library is made from, and an example that calls it
    <name>_ambiqsuite_example/     the same without neuralSPOT: gcc, armclang, make, src
    <name>_power/                  marks windows of inferences on pins, for a power meter
    tflm_validator/                the firmware that the tests talk to
    <name>_mc.json, <name>_md.json the characterisation
    bin/                           example, validator and power application for the board
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pytest_autodeploy.model.naming import c_identifier
from pytest_autodeploy.report.files import write_bytes


@dataclass(frozen=True)
class Tree:
    """The folders below ``out`` of the model with the identifier ``name``."""

    out: Path
    name: str

    @classmethod
    def of(cls, model_name: str, out: Path) -> Tree:
        """The tree of a model of any name."""
        return cls(out, c_identifier(model_name))

    @property
    def library(self) -> Path:
        """The folder of ``lib`` and ``src``."""
        return self.out / self.name

    @property
    def lib(self) -> Path:
        """The static library and its header ``<name>_api.h``."""
        return self.library / "lib"

    @property
    def src(self) -> Path:
        """Model source, data, example and ``main.c``."""
        return self.library / "src"

    @property
    def ambiqsuite(self) -> Path:
        """The example for AmbiqSuite."""
        return self.out / f"{self.name}_ambiqsuite_example"

    @property
    def power(self) -> Path:
        """The power application."""
        return self.out / f"{self.name}_power"

    @property
    def validator(self) -> Path:
        """The app folder of the validator, as neuralSPOT's make takes it."""
        return self.out / "tflm_validator"

    def named(self, folder: Path, files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
        """Files of one of the folders by their names below ``out``."""
        prefix = folder.relative_to(self.out).as_posix()
        return {f"{prefix}/{name}": content for name, content in files.items()}


def replace_files(out: Path, files: Mapping[str, str | bytes], *, group: str) -> list[Path]:
    """Write files below ``out`` and remove those that an earlier call for ``group`` wrote.

    Names are relative paths with slashes. A list of them is kept in ``.autodeploy-<group>``; files
    that are not on it are not touched, and what is the same keeps its time. Raises ResultsError.
    """
    manifest = out / f".autodeploy-{group}"
    for stale in sorted(_listed(manifest) - set(files)):
        _remove(out, out.joinpath(stale))
    for name, content in files.items():
        write_changed(out.joinpath(name), content)
    write_changed(manifest, "".join(f"{name}\n" for name in sorted(files)))
    return [out.joinpath(name) for name in files]


def write_changed(path: Path, content: str | bytes) -> None:
    """Write a file unless it has this content already. Raises ResultsError."""
    data = content if isinstance(content, bytes) else content.encode()
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    write_bytes(path, data)


def _listed(manifest: Path) -> set[str]:
    """The names in a list, as far as they are inside of its folder."""
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    paths = [PurePosixPath(line) for line in lines if line]
    return {str(path) for path in paths if not path.is_absolute() and ".." not in path.parts}


def _remove(out: Path, path: Path) -> None:
    """Remove a file, and the folders that it leaves empty."""
    try:
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == out:
                return
            folder.rmdir()
    except OSError:  # a folder that is not empty, or a file that is gone
        return
