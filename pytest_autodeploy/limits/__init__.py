"""Limits that a test declares."""
