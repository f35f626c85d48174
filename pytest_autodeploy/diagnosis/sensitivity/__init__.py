"""Whether a set of inputs would show that an operator is wrong, and sets that show more."""
