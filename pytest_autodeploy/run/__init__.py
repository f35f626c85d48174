"""The run's shared state."""
