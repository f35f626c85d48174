"""Why outputs differ: the board, the runtime or the model, and the operator where it starts."""
