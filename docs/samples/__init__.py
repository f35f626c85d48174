"""What the pages show of real runs."""
