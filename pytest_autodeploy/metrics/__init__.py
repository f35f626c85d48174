"""What is measured is judged."""
