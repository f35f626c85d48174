import pytest


@pytest.mark.tflite("models/digits_cnn.tflite")
@pytest.mark.output_tolerance(lsb=1)
@pytest.mark.latency_budget(ms=20)
@pytest.mark.memory_limit(arena_kb=8)
def test_digits_meets_its_budget(model_session):
    model_session.run(inputs=20)
