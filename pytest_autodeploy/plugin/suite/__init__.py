"""The tests that ``--tflite`` adds by itself."""
