"""The PC side: the same inputs through LiteRT's kernel paths, and how near the board came."""
