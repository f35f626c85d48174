"""Per-layer profiles of a model on a board, and their CSV."""
