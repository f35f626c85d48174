"""Estimates of a model on Arm Ethos-U NPUs, made by Vela in a process of its own."""
