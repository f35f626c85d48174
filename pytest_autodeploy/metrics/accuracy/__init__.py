"""How accurate a model is on labelled data: on the board, and on the PC over the same samples."""
