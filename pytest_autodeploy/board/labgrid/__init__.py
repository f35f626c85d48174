"""Boards that labgrid lends, through its own program ``labgrid-client``."""
