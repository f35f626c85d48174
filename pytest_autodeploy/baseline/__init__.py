"""Results that are kept to be compared with: baselines, what is allowed, and the history."""
