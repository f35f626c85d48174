"""The site: `make docs` builds it into build/docs and takes each warning for an error."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the extension is docs/_ext

project = "pytest-autodeploy"
author = "The pytest-autodeploy authors"
copyright = author  # noqa: A001 - Sphinx's name
release = installed_version(project)

extensions = ["myst_parser", "sphinx.ext.autodoc", "docs._ext.generated"]
exclude_patterns = ["_ext"]
myst_heading_anchors = 4
nitpicky = False  # types of the standard library and of NumPy are not looked up over the network
suppress_warnings = ["myst.xref_ambiguous"]

linkcheck_timeout = 20  # of `make linkcheck`; links within the site are checked by `make docs`
linkcheck_retries = 2
linkcheck_workers = 4

autodoc_class_signature = "separated"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "exclude-members": "__new__, __init__",
}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
add_module_names = False

html_theme = "furo"
html_title = "pytest-autodeploy"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
smartquotes = False  # two dashes of an option stay two dashes
