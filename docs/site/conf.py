"""The configuration of Sphinx for build.py: what differs from its defaults, and how the pages and
docstrings of the repository, which are written for those who read them in an editor, are read."""

import enum
import inspect
import json
import pathlib
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.inspect import stringify_signature
from sphinx.util.nodes import make_refnode

MADE = pathlib.Path(__file__).resolve().parents[2] / "lib" / "docs"
LINE = 60  # characters of a signature
WARN = logging.getLogger(__name__).warning

project = "libcertreg"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
napoleon_google_docstring, napoleon_use_ivar = False, True
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".ipynb": "markdown"}
highlight_language = "none"  # of blocks without a name, such as outputs and tables of headers
html_theme, html_title = "furo", project
pygments_style, pygments_dark_style = "default", "github-dark"
DARK = """problematic=#ff7b72 api-keyword=#a9b1b9 foreground-primary=#e6edf3
foreground-secondary=#a9b1b9 foreground-muted=#969da5 foreground-border=#666666
background-primary=#131416 background-secondary=#1a1c1e background-hover=#1e2124
background-hover--transparent=#1e212400 background-border=#303335 background-item=#444444
brand-primary=#58a6ff brand-content=#58a6ff highlighted-background=#083563
highlight-on-target=#333300 admonition-background=#18181a"""  # Debian's furo.css loses them
html_theme_options = {
    "dark_css_variables": {f"color-{of}": to for of, to in re.findall(r"(\S+)=(\S+)", DARK)}
}
html_search_scorer = str(pathlib.Path(__file__).with_name("scorer.js"))
html_static_path, html_css_files = ["static"], ["site.css"]
html_js_files = ["theme.js"]
html_copy_source = html_show_copyright = html_show_sphinx = smartquotes = False
myst_heading_anchors = 6
breathe_projects = {project: str(MADE / "xml")}
breathe_default_project = project
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
autodoc_inherit_docstrings, autodoc_preserve_defaults = False, True
autodoc_member_order = "bysource"
toc_object_entries = False
nitpicky = True
nitpick_ignore_regex = [("c:identifier", r"u?int\d+_t|size_t"), ("cpp:.*", ".*"), ("py:.*", ".*")]


def is_field(app, what, name, member, skip, options):
    """Fields have no docstrings of their own: that of their class explains them."""
    own = callable(member) or isinstance(member, (property, enum.Enum))
    return True if what == "class" and not own else None


def signature(app, what, name, member, options, shown, returned):
    """As the source has it: Sphinx would write out what ArrayLike and the like stand for."""
    if what == "class" and issubclass(member, enum.Enum):
        return "", None
    if not shown or what not in ("class", "function", "method"):
        return None
    text = stringify_signature(inspect.signature(member)).replace("(self, ", "(", 1)
    text = re.sub(r"<([\w.]+): [^>]*>", r"\1", text.replace("(self)", "()", 1))  # enumerators
    own, _, result = text.rpartition(" -> ")
    return (own, result if what != "class" else None) if own else None


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


def notebook(app, name, source):
    """Notebooks are read as Markdown, with the results that build.py --notebooks gives them."""
    if app.env.doc2path(name).endswith(".ipynb"):
        source[0] = "\n\n".join(map(cell_text, json.loads(source[0])["cells"]))


def cell_text(cell):
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return text
    parts = [f"```python\n{text}\n```"]
    for out in cell["outputs"]:
        data = {kind: "".join(value) for kind, value in out.get("data", {}).items()
                if kind.startswith(("text/", "image/"))}
        if "image/png" in data:
            image = f'<img alt="a plot" src="data:image/png;base64,{data["image/png"].strip()}">'
            parts.append(f"```{{raw}} html\n{image}\n```")
        elif "text/html" in data:
            table = f'<div class="table-wrapper">{data["text/html"]}</div>'  # which scrolls
            parts.append(f"```{{raw}} html\n{table}\n```")
        elif out.get("name") == "stdout" or "text/plain" in data:
            shown = "".join(out.get("text", "")) or data["text/plain"]
            parts.append(f"```text\n{shown}\n```")
    return "\n\n".join(parts)


def one_a_line(app, doctree, page):
    """Signatures that do not fit a line have a parameter on each."""
    for parameters in doctree.findall(addnodes.desc_parameterlist):
        if len(parameters) > 1 and len(parameters.parent.astext()) > LINE:
            parameters.child_text_separator = ',<br class="parameter">'
            whole = parameters.parent
            while not isinstance(whole, addnodes.desc_signature):
                whole = whole.parent
            whole["classes"].append("long")


def no_network(app, doctree):
    for image in doctree.findall(nodes.image):
        if "://" in image["uri"]:
            WARN("loads %s", image["uri"], location=image)


def setup(app):
    app.connect("autodoc-skip-member", is_field)
    app.connect("autodoc-process-docstring", documented, priority=100)
    app.connect("autodoc-process-signature", signature)
    app.connect("missing-reference", beside)
    app.connect("source-read", notebook)
    app.connect("doctree-resolved", one_a_line)
    app.connect("doctree-read", no_network)
