"""The acceptance test of a board: rows of what was expected and what was found."""
