"""neuralSPOT's own make on app folders of ours, outside of its tree."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_autodeploy.image.cache import HINT
from pytest_autodeploy.image.errors import BuildError
from pytest_autodeploy.image.failure import build_failure
from pytest_autodeploy.image.firmware import JOBS, BuildOptions, build_environment
from pytest_autodeploy.image.key import build_key, content_digest, stat_digest
from pytest_autodeploy.image.tool import find_program, run_build_tool
from pytest_autodeploy.image.toolchain import Kind, Toolchain, find_toolchain
from pytest_autodeploy.image.trees import Sdk, TflmTree, find_sdk

if TYPE_CHECKING:
    from pytest_autodeploy.catalog.boards import BoardSpec

INSTALL = "Debian and Ubuntu: apt install make."

_TOOLCHAINS: dict[Kind, str] = {"gcc": "arm-none-eabi", "armclang": "arm"}
_SDK_FOLDERS = (
    *("Makefile", "make", "neuralspot"),
    *("extern/CMSIS", "extern/codecs", "extern/drivers", "extern/erpc"),
)


class NeuralSpotMake:
    """The make of a checkout for one board; nothing is looked for before it is needed.

    ``needed`` says in errors what is built; ``flags`` are variables that make is told besides.
    """

    def __init__(self, spec: BoardSpec, options: BuildOptions, needed: str, *flags: str) -> None:
        self._spec = spec
        self._options = options
        self._needed = needed
        self._flags = flags

    @cached_property
    def toolchain(self) -> Toolchain:
        """The compiler. Raises ToolMissing."""
        return find_toolchain(self._options.toolchain)

    @cached_property
    def sdk(self) -> Sdk:
        """The checkout. Raises TreeError."""
        return find_sdk(self._options.sdk)

    @cached_property
    def runtime(self) -> TflmTree:
        """The TFLM tree of the SDK that is linked. Raises TreeError."""
        runtime = self.sdk.runtime(self._options.tflm_root)
        runtime.library(self._spec.core)
        return runtime

    @cached_property
    def inputs(self) -> dict[str, object]:
        """Digests of all that goes into a build but for the app folder."""
        return {
            "compiler": self.toolchain.release,
            "sdk": stat_digest(self.sdk.root, *_SDK_FOLDERS, f"extern/AmbiqSuite/{self._suite}"),
            "runtime": content_digest(self.runtime.root),
            "make": self._variables,  # "variables" are those of a recipe
        }

    @cached_property
    def folder(self) -> str:
        """Name of a build folder, which is another one for whatever make does not notice."""
        parts = {
            "sdk": str(self.sdk.root),
            "compiler": str(self.toolchain.compiler),
            "release": self.toolchain.release,
            "variables": self._variables,
        }
        return f"{self._spec.name}-{build_key(parts)[:12]}"

    @cached_property
    def _suite(self) -> str:
        return self.sdk.ambiqsuite(self._options.ambiqsuite or self._spec.ambiqsuite)

    @cached_property
    def _variables(self) -> list[str]:
        """What make is told, but for paths."""
        return [
            f"PLATFORM={self._spec.name}",
            f"AS_VERSION={self._suite}",
            f"TF_VERSION={self.runtime.version}",
            f"TOOLCHAIN={_TOOLCHAINS[self.toolchain.kind]}",
            "AUTODEPLOY=1",
            "BLE_SUPPORTED=0",
            *(["TFLM_IN_ITCM=1"] if self._options.tflm_memory == "itcm" else []),
            *self._flags,
        ]

    def make(self, app: Path, place: Path) -> Path:
        """Build the app folder in ``place``: the folder of its images. Raises BuildError."""
        for path in (self.sdk.root, place, app):
            require_plain(path)
        make = find_program("make", needed=self._needed, install=INSTALL)
        output = place / "out"
        # With BINDIRROOT outside, nothing is written into the SDK (neuralSPOT 308c4e631). ADPATH is
        # joined to the build folder as text, so the objects of the app land beside it.
        paths = [f"ADPATH={app.parent}", f"EXAMPLE={app.name}", f"BINDIRROOT={output}"]
        done = run_build_tool(
            [make, "-C", self.sdk.root, f"-j{JOBS}", *self._variables, *paths, "all"],
            what=self._needed,
            timeout_s=self._options.timeout_s,
            environment=build_environment(self.toolchain),
        )
        (place / "build.log").write_text(done.output, encoding="utf-8")
        if done.code:
            raise build_failure(self._needed, done.output)
        return output / "images"


def require_plain(path: Path) -> None:
    """Make takes a path for several words, or for something else, when it has such letters.

    neuralSPOT's takes ``.cc`` for the suffix of a source wherever it stands.
    """
    if re.search(r"[^\w./+@,-]|\.cc", path.as_posix()):
        raise BuildError(f"neuralSPOT's make cannot work with the path {str(path)!r}", hint=HINT)
