"""The peripherals of the machines, one file each."""
