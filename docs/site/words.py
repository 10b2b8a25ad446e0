"""How text becomes text for Doxygen: nothing in it is a command of Doxygen by accident, and names
of the C interface and sections of the theory become links."""

import re

import tree

# Characters that Doxygen would take for something else, as it wants them written.
ESCAPED = {"@": "\\@", "#": "\\#", "%": "\\%", "<": "&lt;", ">": "&gt;", "&": "&amp;",
           '"': "&quot;", "\\": "\\\\"}
SPECIAL = re.compile("[" + re.escape("".join(ESCAPED)) + "]")
NAME = re.compile(r"\b(?:certreg|CERTREG)_\w+\b")
FAMILY = re.compile(r"\b(CERTREG_(?:[A-Z]+_)*[A-Z]+)\\_(?=\.\.\.)")  # as plain writes it
CITATION = re.compile(r"\b(theory)(\s+)((?:\d+(?:\.\d+)?(?:,\s+(?:and\s+)?|\s+and\s+)?)+)", re.I)


def plain(text):
    """Text without any markup: every character means itself."""
    text = SPECIAL.sub(lambda m: ESCAPED[m[0]], text)
    text = re.sub(r"[*`\[\]]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)
    return dashes(text).replace(" .. ", " ..&nbsp;")  # "." and space would end a brief description


def dashes(text):
    """Doxygen makes one long dash of several."""
    return re.sub(r"--+", lambda m: "\\-" * len(m[0]), text)


def linked(text):
    """With links from the names of the C interface."""
    known = tree.names()
    return NAME.sub(lambda m: f'@ref {m[0]} "{m[0]}"' if m[0] in known else m[0], text)


def cited(text):
    """With links from citations such as theory 5.1."""

    def link(match):
        place = tree.sections().get(match[0])
        return f'<a href="{place}">{match[0]}</a>' if place else match[0]

    return CITATION.sub(lambda m: m[1] + m[2] + re.sub(r"\d+(?:\.\d+)?", link, m[3]), text)


def families(text):
    """With links from prefixes such as CERTREG_METHOD_... to the enums of these constants."""
    known = tree.enums()
    return FAMILY.sub(lambda m: f'@ref {known[m[1]]} "{m[1]}_"' if m[1] in known else m[0], text)


def told(text):
    """With all kinds of links."""
    return cited(families(linked(text)))


def code(text):
    """A code span."""
    said = linked(plain(" ".join(text.replace("\\|", "|").split())))
    return "<code>" + said.replace("|", "\\|") + "</code>"
