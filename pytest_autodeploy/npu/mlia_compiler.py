"""For people who come from MLIA: its wrapper of the Vela compiler, its options and its summary.

Unlike MLIA's, Vela runs in a process of its own, and files in the output folder are read again only
when they are of the same model, configuration and Vela: a note beside them says so.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_autodeploy.base.errors import AutodeployError
from pytest_autodeploy.base.files import write_bytes
from pytest_autodeploy.npu.cache import cache_key
from pytest_autodeploy.npu.config_file import NpuSystem, choose_system
from pytest_autodeploy.npu.estimate import TIMEOUT_S, vela_output
from pytest_autodeploy.npu.tables import TableError, read_table
from pytest_autodeploy.npu.vela import VelaOutput, run_vela, vela_arguments, vela_version

logger = logging.getLogger(__name__)

INTERNAL_DEFAULT = "internal-default"
"""What MLIA calls Vela's own choice."""


@dataclass
class VelaCompilerOptions:
    """What the estimate is for, with MLIA's keywords, order and defaults.

    ``config_file`` is a Vela .ini file, ``config_files`` its older name. In ``output_dir`` Vela's
    CSVs and model are kept, as MLIA does in the folder ``output``; None, which MLIA does not know,
    keeps nothing. Without an ``accelerator_config`` it is Vela's own choice, ethos-u55-256.
    ``recursion_limit`` is of no effect: Vela runs in a process of its own.
    ``verbose_performance`` neither: without it there is no CSV of layers.
    """

    config_file: str | Path | None = None
    system_config: str | None = INTERNAL_DEFAULT
    memory_mode: str | None = INTERNAL_DEFAULT
    accelerator_config: str | None = None
    max_block_dependency: int = 3
    arena_cache_size: int | None = None
    tensor_allocator: str = "HillClimb"
    cpu_tensor_alignment: int = 16
    optimization_strategy: str = "Performance"
    output_dir: str | Path | None = Path("output")
    recursion_limit: int = 1000
    verbose_performance: bool = True
    config_files: str | Path | list[str] | None = None

    @property
    def config(self) -> Path | None:
        """The configuration file, by whichever name it was given; of several the first."""
        given = self.config_file or self.config_files
        first = given[0] if isinstance(given, list) and given else given
        return Path(first) if isinstance(first, str | Path) and first else None

    def system(self) -> NpuSystem:
        """The system that an estimate is for. Raises NpuConfigError."""
        system = choose_system(
            self.accelerator_config or "ethos-u55-256",
            system_config=_explicit(self.system_config),
            memory_mode=_explicit(self.memory_mode),
            config=self.config,
        )
        return replace(system, arguments=self._arguments())

    def _arguments(self) -> tuple[str, ...]:
        """What differs from Vela's own values: the key of a cache should not."""
        given = {
            "--max-block-dependency": (self.max_block_dependency, 3),
            "--arena-cache-size": (self.arena_cache_size, None),
            "--tensor-allocator": (self.tensor_allocator, "HillClimb"),
            "--cpu-tensor-alignment": (self.cpu_tensor_alignment, 16),
            "--optimise": (self.optimization_strategy, "Performance"),
        }
        changed = ((flag, value) for flag, (value, usual) in given.items() if value != usual)
        return tuple(word for flag, value in changed for word in (flag, str(value)))


def _explicit(name: str | None) -> str | None:
    return None if name == INTERNAL_DEFAULT else name


@dataclass
class VelaSummary:
    """The totals of Vela's summary CSV, as it wrote them: cycles, Hz and KiB."""

    cycles_total: float
    cycles_npu: float
    cycles_sram_access: float
    cycles_dram_access: float
    cycles_on_chip_flash_access: float
    cycles_off_chip_flash_access: float
    core_clock: float
    dram_memory_used: float
    sram_memory_used: float
    on_chip_flash_memory_used: float
    off_chip_flash_memory_used: float
    batch_size: int
    memory_mode: str
    system_config: str
    accelerator_configuration: str
    arena_cache_size: float

    def __repr__(self) -> str:
        """``CSV title: value, `` for every field."""
        return "".join(f"{each.name}: {getattr(self, each.name)}, " for each in fields(self))


_CASTS: Mapping[str, Callable[[str], Any]] = {
    "float": float,
    "int": lambda text: int(float(text)),
    "str": str,
}


def summary_of(text: str) -> VelaSummary:
    """The totals in the text of a summary CSV.

    Raises RuntimeError for one without rows, KeyError for a missing column, as MLIA does.
    """
    try:
        rows = read_table(text, quoted=False).rows
    except TableError as error:
        raise KeyError(f"Generated Vela Summary CSV missing expected header: {error}.") from error
    if not rows:
        raise RuntimeError("Generated Vela Summary CSV is empty")
    cells = rows[0].cells
    for each in fields(VelaSummary):
        if each.name not in cells:
            raise KeyError(f"Generated Vela Summary CSV missing expected header: {each.name}.")
    values = {each.name: _CASTS[str(each.type)](cells[each.name]) for each in fields(VelaSummary)}
    return VelaSummary(**values)


def parse_summary_csv_file(vela_summary_csv_file: Path) -> VelaSummary:
    """The totals of a file; errors as of ``summary_of``, and FileNotFoundError."""
    if not vela_summary_csv_file.is_file():
        raise FileNotFoundError(f"CSV File not found at {vela_summary_csv_file}")
    return summary_of(vela_summary_csv_file.read_text("utf-8-sig", errors="replace"))


class _File(NamedTuple):
    """A model as Vela gets it: its bytes, whatever this package thinks of them."""

    name: str
    content: bytes
    sha256: str


def read_model(model_path: Path) -> _File:
    """The bytes of a model. Raises RuntimeError, in MLIA's words."""
    name = model_path.stem
    try:
        content = model_path.read_bytes()
    except OSError as error:
        raise RuntimeError(f"Unable to read model {model_path}") from error
    return _File(name, content, hashlib.sha256(content).hexdigest())


class VelaCompiler:
    """Compiles models with Vela, as MLIA's class of that name."""

    def __init__(self, compiler_options: VelaCompilerOptions) -> None:
        self.compiler_options = compiler_options
        self.output_dir = Path(compiler_options.output_dir or "output")

    def compile_model(
        self, model_path: Path, already_compiled: bool = False
    ) -> tuple[VelaSummary, Path]:
        """Compile a model into ``output_dir``: its summary, and the path of what Vela made.

        ``already_compiled`` reads the summary that is there again, but only when it is of this
        model and configuration. Raises RuntimeError in MLIA's words, with the cause; NpuConfigError
        for options that cannot be used.
        """
        system = self.compiler_options.system()
        model = read_model(model_path)
        made = self.output_dir / f"{model.name}_vela{model_path.suffix}"
        key = _key(model, system)
        kept = read_kept(self.output_dir, model.name, system, key) if already_compiled else None
        if kept is None or not made.exists():
            kept = self._compile(model, system, made)
            keep(self.output_dir, model.name, system, key, kept)
        return summary_of(kept.summary), made

    def _compile(self, model: _File, system: NpuSystem, made: Path) -> VelaOutput:
        logger.debug("Compile model %s for %s", model.name, system.accelerator)
        try:
            return run_vela(
                model.content, system, name=model.name, timeout_s=TIMEOUT_S, compiled=made
            )
        except AutodeployError as error:
            raise RuntimeError("Model could not be optimized with Vela compiler.") from error


def compile_model(model_path: Path, compiler_options: VelaCompilerOptions) -> Path:
    """The path of the compiled model; one in ``output_dir`` that is of this model is taken."""
    return VelaCompiler(compiler_options).compile_model(model_path, already_compiled=True)[1]


def output_for(
    model_path: Path, options: VelaCompilerOptions, cache: Path | bool
) -> tuple[VelaOutput, NpuSystem]:
    """What Vela writes of a model, from ``output_dir`` when it is there; errors as in npu.estimate.

    ``output_dir`` gets it otherwise.
    """
    model, system = read_model(model_path), options.system()
    if options.output_dir is None:
        return vela_output(model, system, cache=cache), system
    folder, key = Path(options.output_dir), _key(model, system)
    output = read_kept(folder, model.name, system, key)
    if output is None:
        output = vela_output(model, system, cache=cache)
        keep(folder, model.name, system, key, output)
    return output, system


def _key(model: _File, system: NpuSystem) -> str:
    return cache_key(model.sha256, system.sha256, vela_version(), vela_arguments(system))


def _paths(folder: Path, stem: str, system: NpuSystem) -> tuple[Path, Path, Path]:
    """Vela's names of summary and layers, and that of the note on what they are of."""
    summary = folder / f"{stem}_summary_{system.system_config}.csv"
    return summary, folder / f"{stem}_per-layer.csv", folder / f".{stem}_per-layer.key"


def keep(folder: Path, stem: str, system: NpuSystem, key: str, output: VelaOutput) -> None:
    """Write both CSVs, and what they are of. Raises ResultsError."""
    summary, layers, note = _paths(folder, stem, system)
    write_bytes(summary, output.summary.encode())
    write_bytes(layers, output.per_layer.encode())
    write_bytes(note, f"{key} {_digest(output.summary, output.per_layer)}\n".encode())


def read_kept(folder: Path, stem: str, system: NpuSystem, key: str) -> VelaOutput | None:
    """Both CSVs again when they are of this ``key`` and nobody has changed them, else None."""
    summary, layers, note = _paths(folder, stem, system)
    try:
        files = (summary, layers)
        texts = [path.read_bytes().decode("utf-8", errors="replace") for path in files]
        of = note.read_text("utf-8").split()
    except (OSError, UnicodeDecodeError):
        return None
    if of != [key, _digest(*texts)]:
        return None
    logger.debug("%s is of this model and configuration: Vela is not run", summary)
    return VelaOutput(texts[0], texts[1], perf="", source="", log="")


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
