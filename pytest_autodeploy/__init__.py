"""Hardware-in-the-loop tests of TensorFlow Lite models on Ambiq evaluation boards, in pytest."""
