"""What a test allows a model on an NPU: the budget that the marker ``npu_budget`` declares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_autodeploy.base.errors import NpuConfigError
from pytest_autodeploy.base.numbers import check_number
from pytest_autodeploy.catalog.accelerators import check_accelerator
from pytest_autodeploy.limits.declaration import Declaration

KB = 1024


@dataclass(frozen=True)
class NpuBudget:
    """The most cycles, microseconds and bytes, the least share of operators on the NPU.

    ``accelerator`` None: any. ``forbidden``: names of operators that must not be on the CPU, all
    when it is empty, None when all may.
    """

    accelerator: str | None = None
    cycles: float | None = None
    us: float | None = None
    sram_bytes: float | None = None
    flash_bytes: float | None = None
    min_coverage: float | None = None
    forbidden: tuple[str, ...] | None = None


def npu_budget(
    *,
    accelerator: str | None = None,
    cycles: float | None = None,
    ms: float | None = None,
    sram_kb: float | None = None,
    flash_kb: float | None = None,
    min_coverage: float | None = None,
    forbid_cpu_ops: bool | str | Sequence[str] = False,
) -> NpuBudget:
    """Declare what Vela may estimate of a model on an Ethos-U NPU; 1 KB is 1024 bytes.

    ``min_coverage`` is a share of operators, 0.9 for 90 %; ``forbid_cpu_ops`` True, or names such
    as ``["SOFTMAX"]``. Raises TypeError and ValueError.
    """
    numbers = {"cycles": cycles, "ms": ms, "sram_kb": sram_kb, "flash_kb": flash_kb}
    for name, value in (numbers | {"min_coverage": min_coverage}).items():
        check_number(name, value, above=True)
    if min_coverage is not None and min_coverage > 1:
        raise ValueError(
            f"min_coverage must be a share of at most 1 (0.9 is 90 %), not {min_coverage!r}"
        )
    forbidden = _forbidden(forbid_cpu_ops)
    if forbidden is None and all(value is None for value in (*numbers.values(), min_coverage)):
        raise ValueError(
            "give one of cycles, ms, sram_kb, flash_kb, min_coverage and forbid_cpu_ops"
        )
    return NpuBudget(
        accelerator=_accelerator(accelerator),
        cycles=cycles,
        us=None if ms is None else 1e3 * ms,
        sram_bytes=None if sram_kb is None else KB * sram_kb,
        flash_bytes=None if flash_kb is None else KB * flash_kb,
        min_coverage=min_coverage,
        forbidden=forbidden,
    )


def _accelerator(name: str | None) -> str | None:
    try:
        return None if name is None else check_accelerator(name)
    except NpuConfigError as error:
        raise ValueError(f"{error.what}. {error.hint}") from None
    except AttributeError:
        raise TypeError(f"accelerator must be a name, not {name!r}") from None


def _forbidden(given: object) -> tuple[str, ...] | None:
    if isinstance(given, bool):
        return () if given else None
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not names or not all(isinstance(n, str) for n in names):
        raise TypeError(f"forbid_cpu_ops must be True or names such as ['SOFTMAX'], not {given!r}")
    return tuple(name.strip().upper() for name in names)


DECLARATION = Declaration(
    name="npu_budget",
    signature=npu_budget,
    flag="--tflite-npu-budget",
    marker_help="Vela's estimate on an Ethos-U accelerator; min_coverage is a share of operators, "
    "forbid_cpu_ops is True or names of operators",
    option_help="Budget of the built-in estimates, such as cycles=100000,min_coverage=0.9",
    suite_test="test_npu_estimate",
    needs="accelerator",
    which=("accelerator",),
)
