"""A model on a board, and what it measured."""
