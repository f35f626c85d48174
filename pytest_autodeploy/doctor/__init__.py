"""The doctor: what this PC has for each kind of board, what is missing, and how to get it."""
