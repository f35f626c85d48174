"""The site; see conf.py."""
