"""How fast the plugin is: ``make bench``, one table, also of a machine that has other work.

Every figure is measured beside what bounds it, in turn: what else the machine does befalls both.
"""
