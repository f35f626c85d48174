"""Energy: power meters, the window in which a model runs, and what is summed over it."""
