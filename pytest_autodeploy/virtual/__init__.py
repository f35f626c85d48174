"""The virtual board's program: an image for a Cortex-M4, executed on unicorn in its own process.

Peripherals are small models with the registers that firmware uses; a register that nobody models
is storage, and is logged once.
"""
