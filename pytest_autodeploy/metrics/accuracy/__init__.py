"""What a model is worth on data with labels: on the board, and on the PC over the same samples."""
