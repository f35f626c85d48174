"""What a tolerance of outputs may say of NaN, and of the PC's side."""

from __future__ import annotations

import pytest

from pytest_autodeploy.limits.outputs import output_tolerance


def test_nan_fails_unless_it_is_allowed() -> None:
    assert output_tolerance().nan == "fail"
    assert output_tolerance(nan="allow").nan == "allow"
    with pytest.raises(ValueError, match="nan='maybe' is not one of fail, allow"):
        output_tolerance(nan="maybe")


def test_tflm_on_the_pc_can_be_the_reference() -> None:
    assert output_tolerance(reference="tflm").reference == "tflm"
