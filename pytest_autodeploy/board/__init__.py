"""Boards: the catalog, and the kinds of board that run a model."""
