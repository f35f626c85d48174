"""The minimal static library: what a model's operators need of TFLM, behind a few functions.

The model's source is linked with TFLM's library into one relocatable object, without what its
functions do not reach; then every symbol but these functions becomes local, so that the libraries
of several models, and a TFLM of the application's own, can be linked into one program.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.deliver.ambiqsuite import INCLUDES
from pytest_autodeploy.deliver.footprint import Footprint, library_footprint
from pytest_autodeploy.deliver.gnu import CODE_FLAGS, CORE_FLAGS, CXX_FLAGS, Gnu, find_gnu
from pytest_autodeploy.deliver.library_script import library_script
from pytest_autodeploy.image.cache import BuildCache, default_folder
from pytest_autodeploy.image.key import build_key, content_digest
from pytest_autodeploy.image.sources import write_sources
from pytest_autodeploy.image.trees import TflmTree, find_sdk, find_tflm

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec
    from pytest_autodeploy.image.firmware import BuildOptions

_DEFINES = ("-DTF_LITE_STATIC_MEMORY", "-DTF_LITE_STRIP_ERROR_STRINGS")
_LINK = ("-r", "--gc-sections", "--force-group-allocation", "-T", "parts.ld")
_UNWINDERS = [f"--strip-symbol=__aeabi_unwind_cpp_pr{number}" for number in range(3)]
_STRIP = ("--strip-debug", "-R", ".comment", *_UNWINDERS)


@dataclass(frozen=True)
class Library:
    """A static library of one object; ``runtime`` names the TFLM tree that it is made from."""

    path: Path
    footprint: Footprint
    runtime: str


class LibraryBuilder:
    """Builds the libraries for one board; nothing is looked for before the first ``build``.

    For emulated boards TFLM's tree must have a licence that allows CPUs that are not Ambiq's; for
    EVBs it is a runtime of the neuralSPOT checkout.
    """

    def __init__(self, spec: BoardSpec, options: BuildOptions, *, board_id: str) -> None:
        self._spec = spec
        self._options = options
        self._board_id = board_id
        self._cache = BuildCache(options.cache or default_folder())

    @cached_property
    def _gnu(self) -> Gnu:
        needed = f"the library for {self._board_id}"
        return find_gnu(self._options.toolchain, needed, self._options.timeout_s)

    @cached_property
    def tree(self) -> TflmTree:
        """The TFLM tree that libraries are made from. Raises TreeError: none for this board."""
        if self._spec.has_sdk:
            tree = find_sdk(self._options.sdk).runtime(self._options.tflm_root)
        else:
            tree = find_tflm(self._options.tflm_root)
            tree.require_emulation(self._board_id)
        tree.library(self._spec.core)
        return tree

    @property
    def _archive(self) -> Path:
        return self.tree.library(self._spec.core, smallest=True)

    def build(self, name: str, sources: Mapping[str, str]) -> Library:
        """The library of the sources (text by file name) whose functions begin with ``<name>_``.

        Raises ToolMissing, TreeError, BuildError, ModelError: an operator that TFLM lacks.
        """
        facts = {
            "name": name,
            "sources": sources,
            "compiler": self._gnu.toolchain.release,
            "flags": self._flags,
            "recipe": [*_LINK, *_STRIP, library_script([], [])],
            "headers": content_digest(self.tree.root, ".h", ".hpp"),
            "archive": content_digest(self._archive),
        }
        built = self._cache.get_or_build(
            build_key(facts),
            f"library-{self._spec.core}",
            partial(self._make, name, sources),
            facts={"library": name, "runtime": self.tree.version, "for": self._spec.core},
            timeout_s=self._options.timeout_s,
        )
        return Library(built.file(".a"), library_footprint(built.file(".o")), self.tree.version)

    @property
    def _flags(self) -> list[str]:
        return [*CORE_FLAGS[self._spec.core], *CODE_FLAGS, *CXX_FLAGS, *_DEFINES]

    def _make(self, name: str, sources: Mapping[str, str], place: Path) -> dict[str, Path]:
        source, work = place / "src", place / "work"
        write_sources(source, sources)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        objects = self._compile(source, work)
        members = self._gnu.run("ar", ["t", self._archive], work).split()
        (work / "parts.ld").write_text(library_script(objects, members), encoding="utf-8")
        whole, member, library = "whole.o", f"{name}.o", f"lib{name}.a"
        functions = self._functions(name, objects, work)
        roots = [f"--undefined={function}" for function in functions]
        self._gnu.run("ld", [*_LINK, *roots, "-o", whole, *objects, self._archive], work)
        kept = [f"--keep-global-symbol={function}" for function in functions]
        self._gnu.run("objcopy", [*_STRIP, *kept, whole, member], work)
        self._gnu.run("ar", ["rcD", library, member], work)
        return {".a": work / library, ".o": work / member}

    def _compile(self, source: Path, work: Path) -> list[str]:
        """Names of the objects, in ``work``."""
        files = sorted(path for path in source.iterdir() if path.suffix == ".cc")
        roots = [str(self.tree.root / folder) for folder in INCLUDES]
        includes = [word for root in roots for word in ("-isystem", root)]
        self._gnu.run("g++", [*self._flags, "-I", source, *includes, "-c", *files], work)
        return [f"{path.stem}.o" for path in files]

    def _functions(self, name: str, objects: Sequence[str], work: Path) -> list[str]:
        """The functions that the library offers: global symbols that begin with its name."""
        text = self._gnu.run("nm", ["-P", "--defined-only", "--extern-only", *objects], work)
        words = (line.split() for line in text.splitlines())
        found = [parts[0] for parts in words if len(parts) > 1 and parts[1] in "TW"]
        return sorted({symbol for symbol in found if symbol.startswith(f"{name}_")})
