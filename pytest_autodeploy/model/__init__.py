"""The model: what a `.tflite` file says, without hardware and without an interpreter."""
