"""The fixtures, and the override points: session fixtures that return plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_autodeploy.plugin.state import runtime_of

if TYPE_CHECKING:
    from pytest_autodeploy.board.base import Board
    from pytest_autodeploy.model.graph import Model
    from pytest_autodeploy.npu.results import Estimate
    from pytest_autodeploy.plugin.artifacts import Artifacts
    from pytest_autodeploy.plugin.over_pins import PinsTest
    from pytest_autodeploy.power.measure import PowerMeter
    from pytest_autodeploy.reference.runner import Reference
    from pytest_autodeploy.session.model_session import ModelSession


def _parameter(request: pytest.FixtureRequest) -> Any:
    """What the plugin has parametrised the fixture with."""
    if not hasattr(request, "param"):
        pytest.fail(
            f"{request.fixturename} has no parameter: name it, or a fixture that needs it, among "
            "the arguments of the test function; a unittest.TestCase cannot be parametrised",
            pytrace=False,
        )
    return request.param


@pytest.fixture(scope="session")
def tflite_model(request: pytest.FixtureRequest) -> Model:
    """The model of the test: operators, tensors, MACs. No board is needed."""
    from pytest_autodeploy.plugin.collection import model_file

    return runtime_of(request.config).models.load(model_file(_parameter(request), request.config))


@pytest.fixture(scope="session")
def evb_options() -> dict[str, Any]:
    """Override point of ``evb``, for the whole run: ``{"sim_arguments": [...]}``.

    ``["--fault", "corrupt-op:3"]`` injects a fault into simulated boards, which reports tell;
    ``python -m pytest_autodeploy.sim --help`` lists the others.
    """
    return {}


@pytest.fixture(scope="session")
def evb(
    request: pytest.FixtureRequest,
    evb_options: dict[str, Any],
    power_meter_options: dict[str, Any],
) -> Board:
    """The board of the test, one per ``--evb``: its port, catalog entry and RPC client.

    A board that gets its supply through a power meter has it from here on.
    """
    runtime = runtime_of(request.config)
    board = runtime.boards.board(str(_parameter(request)), evb_options)
    runtime.boards.meters.power_up(board, power_meter_options)
    board.start()
    return board


@pytest.fixture(scope="session")
def model_inputs() -> Any:
    """Override point of the inputs: None for ``--tflite-inputs`` or random ones, or arrays.

    Arrays have the shape (n, *tensor shape): one array, one per input, or a dict by tensor name.
    """
    return None


@pytest.fixture(scope="session")
def model_labels() -> Any:
    """Override point of the labels of the inputs: None for ``--tflite-labels``, or an array.

    Integers of shape (n,) are class indices; floats are the real targets of a regression.
    """
    return None


@pytest.fixture(scope="session")
def model_session_options() -> dict[str, Any]:
    """Override point of ``model_session``: ``arena_bytes``, ``clock``, ``latency_runs``, ``state``.

    ``state`` is "carry" or "reset", see ``--tflite-state``.
    """
    return {}


@pytest.fixture(scope="session")
def model_session(request: pytest.FixtureRequest, tflite_model: Model, evb: Board) -> ModelSession:
    """The model on the board: ``run``, ``accuracy``, ``latency``, ``profile``, ``memory``.

    The model is flashed when the board does not run it yet. Limits that the test declares by
    marker are measured and judged after its body.
    """
    return runtime_of(request.config).sessions.open(tflite_model, evb)


@pytest.fixture(scope="session")
def _autodeploy_artifact_board(request: pytest.FixtureRequest) -> Board:
    """Internal: a board of ``--evb`` that artifacts are made for and that is left alone."""
    return runtime_of(request.config).boards.board(str(_parameter(request)))


@pytest.fixture
def autodeploy_artifacts(request: pytest.FixtureRequest) -> Artifacts:
    """Makes what ``--autodeploy-artifacts`` asks for: ``make(model_session)``.

    The summary and the JSON of the test say what was made, and what was left out and why.
    """
    from pytest_autodeploy.plugin.artifacts import Artifacts

    return Artifacts(request.node)


@pytest.fixture
def _autodeploy_over_pins(request: pytest.FixtureRequest) -> PinsTest:
    """Internal: measures the energy of a board without RPC."""
    from pytest_autodeploy.plugin.over_pins import PinsTest

    return PinsTest(request.node)


@pytest.fixture
def _session_overrides(
    request: pytest.FixtureRequest,
    model_session: ModelSession,
    model_inputs: Any,
    model_labels: Any,
    model_session_options: dict[str, Any],
) -> None:
    """Internal: a session outlives the test, the overrides are those of the test's own file."""
    runtime = runtime_of(request.config)
    runtime.sessions.prepare(model_session, model_inputs, model_session_options, model_labels)


@pytest.fixture(scope="session")
def reference(request: pytest.FixtureRequest, tflite_model: Model) -> Reference:
    """The PC side: ``reference.run(inputs)`` gives the outputs of each set of TFLite's kernels."""
    return runtime_of(request.config).pc.reference(tflite_model)


@pytest.fixture(scope="session")
def npu_estimate(request: pytest.FixtureRequest, tflite_model: Model) -> Estimate:
    """What Vela estimates of the model, once per ``--tflite-npu`` accelerator; no board is needed.

    Totals, layers, operators and coverage; every value has the source ``estimated``.
    """
    return runtime_of(request.config).pc.estimate(tflite_model, str(_parameter(request)))


@pytest.fixture(scope="session")
def power_meter_options() -> dict[str, Any]:
    """Override point of ``power_meter``: ``io_voltage`` of the board's pins, in volts."""
    return {}


@pytest.fixture(scope="session")
def power_meter(request: pytest.FixtureRequest, power_meter_options: dict[str, Any]) -> PowerMeter:
    """The power meter: ``measure(model_session, mode="HP", runs=None)`` gives energy and power.

    Tests on boards without a meter are skipped; see ``--autodeploy-power``.
    """
    return runtime_of(request.config).boards.meters.power_meter(power_meter_options)
