"""The simulated board: the program behind ``python -m pytest_autodeploy.sim``."""
