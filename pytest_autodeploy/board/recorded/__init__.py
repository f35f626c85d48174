"""Recordings: what a board answered, written as it goes, and a board that answers from it."""
