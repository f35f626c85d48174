"""The storm: faults by the thousand, seeded, against the truth and not against what a board said.

``python -m tests.storm`` runs all of it, ``--slice`` the part that CI runs, ``--seed`` and the name
of a storm replay one. It is no part of ``make test``.
"""
