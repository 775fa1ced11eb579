"""Sphinx settings. `make docs` treats every warning as an error."""

import sys
from pathlib import Path

from gdppca import __version__

sys.path.insert(0, str(Path(__file__).parent))  # gallery_order, paper_pages

import paper_pages

paper_pages.write(Path(__file__).parent / "auto_paper")

project = "gdppca"
author = "The gdppca developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "paper", "pictures", "scaling"]
html_theme = "furo"
html_title = f"gdppca {version}"

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

# The pages of docs/api.md are written by hand, so nothing is generated beside it.
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections name the types
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": "plot_",
    "within_subsection_order": "gallery_order.place",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
}
