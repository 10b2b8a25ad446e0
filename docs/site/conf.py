"""The configuration of Sphinx for build.py: what differs from its defaults, and how the pages and
docstrings of the repository, which are written for those who read them in an editor, are read."""

import enum
import pathlib
import re

from docutils import nodes
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

MADE = pathlib.Path(__file__).resolve().parents[2] / "lib" / "docs"
WARN = logging.getLogger(__name__).warning

project = "libcertreg"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_google_docstring, napoleon_use_ivar = False, True
html_theme = "sphinx_rtd_theme"
html_search_scorer = str(pathlib.Path(__file__).with_name("scorer.js"))
html_static_path, html_css_files = ["static"], ["narrow.css"]
html_copy_source = html_show_copyright = html_show_sphinx = smartquotes = False
myst_heading_anchors = 6
breathe_projects = {project: str(MADE / "xml")}
breathe_default_project = project
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
toc_object_entries = False
nitpicky = True
nitpick_ignore_regex = [("c:identifier", r"u?int\d+_t|size_t"), ("cpp:.*", ".*"), ("py:.*", ".*")]


def is_field(app, what, name, member, skip, options):
    """Fields have no docstrings of their own: that of their class explains them."""
    own = callable(member) or isinstance(member, (property, enum.Enum))
    return True if what == "class" and not own else None


def signature(app, what, name, member, *_):
    return ("", None) if what == "class" and issubclass(member, enum.Enum) else None


def documented(app, what, name, member, options, lines):
    made = what == "class" and any(lines) and lines[0].startswith(f"{member.__name__}(")
    if what != "attribute" and (made or not any(lines)):  # dataclasses make one
        WARN("%s has no docstring", name)
    # scikit-learn's formulas, which are inherited, would load MathJax from the network.
    lines[:] = [re.sub(r":math:(`[^`]+`)", r"`\1`", line) for line in lines]


def beside(app, env, node, contnode):
    """Links to a header lead to its page. Folders have none: links to them become text."""
    page = "c/" + node["reftarget"].rpartition("/")[2]
    if page in env.found_docs:
        return make_refnode(app.builder, node["refdoc"], page, None, contnode)
    folder = pathlib.Path(env.doc2path(node["refdoc"])).parent / node["reftarget"]
    return contnode if folder.is_dir() else None


def no_network(app, doctree):
    for image in doctree.findall(nodes.image):
        if "://" in image["uri"]:
            WARN("loads %s", image["uri"], location=image)


def setup(app):
    app.connect("autodoc-skip-member", is_field)
    app.connect("autodoc-process-docstring", documented, priority=100)
    app.connect("autodoc-process-signature", signature)
    app.connect("missing-reference", beside)
    app.connect("doctree-read", no_network)
