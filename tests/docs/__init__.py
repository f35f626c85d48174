"""The pages: what they show is what happens."""
