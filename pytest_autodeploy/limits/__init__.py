"""Limits: how metrics are declared, by marker, option and ini key; which limits a test has."""
