"""What the accuracy limit may declare."""

from __future__ import annotations

import pytest

from pytest_autodeploy.limits.accuracy import DECLARATION, AccuracyLimit, Task
from pytest_autodeploy.limits.declaration import LimitError
from pytest_autodeploy.limits.declared import declare, declare_text


def test_classes_and_real_targets_have_bounds_of_their_own() -> None:
    text = "min=0.9,max_drop=0.01,top_k=5,output=1,against=float.tflite"
    assert declare_text(DECLARATION, text, "option").limit == AccuracyLimit(
        Task(5, 1), min=0.9, max_drop=0.01, against="float.tflite"
    )
    limit = declare(DECLARATION, max_rmse=0.5, min_r2=0).limit
    assert limit == AccuracyLimit(Task(), max_rmse=0.5, min_r2=0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("top_k=5", "give at least one of min, max_drop, max_rmse and min_r2"),
        ("min=90", "min must be 0 to 1, not 90"),
        ("min=-0.1", "min must be 0 to 1"),
        ("min=nan", "min must be 0 to 1"),
        ("min=high", "min must be a number"),
        ("max_drop=1.5", "max_drop must be 0 to 1"),
        ("max_rmse=-1", "max_rmse must be at least 0"),
        ("min=0.9,top_k=0", "top_k must be at least 1"),
        ("min=0.9,top_k=1.5", "top_k must be a whole number"),
        ("min=0.9,output=-1", "output must be at least 0"),
        ("min=0.9,max_rmse=1", "min and top_k are for classes"),
        ("min=0.9,against=model.keras", r"against must be the path of a \.tflite file"),
        ("min=0.9,classes=3", "unexpected keyword argument 'classes'"),
    ],
)
def test_other_limits_are_refused_with_the_signature(text: str, says: str) -> None:
    with pytest.raises(LimitError, match=f"{says}.*use accuracy\\(min=, max_drop=, top_k=1"):
        declare_text(DECLARATION, text, "--tflite-accuracy")


def test_the_signature_names_every_argument() -> None:
    assert DECLARATION.usage == (
        "accuracy(min=, max_drop=, top_k=1, output=0, max_rmse=, min_r2=, against=)"
    )
