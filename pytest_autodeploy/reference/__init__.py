"""The PC side: the same inputs through LiteRT's sets of kernels, and how near the board came."""
