"""What the pages take from the code."""
