"""The boards that exist."""
