"""What ``import pytest_autodeploy`` offers to those who annotate their tests."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pytest_autodeploy
from tests.helpers.support import ROOT

SUITE = """
from __future__ import annotations

import pytest

from pytest_autodeploy import (
    Board, BoardTimeout, Energy, Estimate, LabelledRun, Latency, LayerProfile, MemoryUse, Model,
    ModelSession, PowerMeter, Reference, RunResult, TunedArena,
)


def test_of_a_user(
    evb: Board, tflite_model: Model, model_session: ModelSession, reference: Reference,
    power_meter: PowerMeter, npu_estimate: Estimate,
) -> None:
    result: RunResult = model_session.run(inputs=3)
    assert result.outputs[0].shape[1:] == tflite_model.outputs[0].shape
    assert reference.run(result.inputs)
    latency: Latency = model_session.latency(runs=3)
    profile: LayerProfile = model_session.profile()
    share: float = profile.layers[0].us / latency.median_us
    memory: MemoryUse = model_session.memory()
    tuned: TunedArena = model_session.tune_arena()
    assert tuned.arena_bytes <= memory.arena_given_bytes
    energy: Energy = power_meter.measure(model_session, mode="LP")
    labelled: LabelledRun = model_session.accuracy([0, 1, 2])
    assert labelled.accuracy is not None and share < 1 and energy.uj < 1000
    assert npu_estimate.coverage.share > 0.5
    with pytest.raises(BoardTimeout, match=evb.id):
        model_session.run()
"""


WRONG = """
from pytest_autodeploy import Bord, ModelSession, RunResult


def of_another_type(model_session: ModelSession) -> RunResult:
    return model_session.latency()
"""


def mypy(folder: Path, cache: Path, *files: str) -> list[str]:
    """The errors of a strict check of a user's files, away from this project's own settings."""
    settings = ("--strict", "--config-file=", "--no-error-summary", "--cache-dir", str(cache))
    command = [sys.executable, "-m", "mypy", *settings, *files]
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.stdout.splitlines()


def of_type_checkers() -> set[str]:
    """The names that the package's stub imports for type checkers."""
    stub = Path(pytest_autodeploy.__file__).with_suffix(".pyi")
    imports = [
        node
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    ]
    return {alias.name for node in imports for alias in node.names}


def public_records() -> list[type]:
    """The public dataclasses."""
    values: list[type] = [getattr(pytest_autodeploy, name) for name in pytest_autodeploy.__all__]
    return [value for value in values if hasattr(value, "__dataclass_fields__")]


def fields_with_a_docstring(record: type) -> set[str]:
    """The fields that a string below them tells of."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(node, ast.ClassDef)
    pairs = zip(node.body, node.body[1:], strict=False)
    fields = (first for first, then in pairs if isinstance(then, ast.Expr))
    targets = [field.target for field in fields if isinstance(field, ast.AnnAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def test_importing_the_package_imports_nothing_else() -> None:
    script = (
        "import __future__, sys; before = set(sys.modules); import pytest_autodeploy;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["pytest_autodeploy"]


@pytest.mark.parametrize("name", pytest_autodeploy.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(pytest_autodeploy, name)
    assert name in dir(pytest_autodeploy)
    if name != "Source":
        assert value.__name__ == name
        assert value.__doc__


def test_type_checkers_see_the_names_that_run() -> None:
    assert of_type_checkers() == set(pytest_autodeploy.__all__)
    assert sorted(pytest_autodeploy.__all__) == pytest_autodeploy.__all__


@pytest.mark.parametrize("record", public_records(), ids=lambda record: record.__name__)
def test_every_field_of_a_public_record_is_told(record: type) -> None:
    told = fields_with_a_docstring(record)
    names = [field.name for field in dataclasses.fields(record) if field.name not in told]
    assert [name for name in names if f"``{name}``" not in str(record.__doc__)] == []


def test_another_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'pytest_autodeploy' has no attribute 'Bord'"):
        getattr(pytest_autodeploy, "Bord")  # noqa: B009  # mypy would notice it


@pytest.mark.slow
def test_a_suite_that_annotates_with_them_is_strictly_typed(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    pytest.importorskip("mypy", reason="mypy is of the extra dev")
    assert pytestconfig.cache
    cache = pytestconfig.cache.mkdir("mypy")
    name, returned = mypy(tmp_path, cache, "test_it.py", "wrong.py")
    assert name.startswith("wrong.py:2: error: ")
    assert 'has no attribute "Bord"' in name
    assert 'wrong.py:6: error: Incompatible return value type (got "Latency"' in returned
