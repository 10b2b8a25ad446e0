"""What a finished site has to be: everything public is documented, every link leads somewhere, nothing
is loaded from elsewhere, and every page has the text of its source. Each function yields sentences
about what is wrong."""

import functools
import html.parser
import re
import urllib.parse
import xml.etree.ElementTree

import tree

OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}
MARKS = re.compile(r"[\s*_`|\u200b]+")


class Parsed(html.parser.HTMLParser):
    """The links, the anchors and the text of one HTML file."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loaded, self.anchors, self.text = [], [], set(), []
        self.open, self.told = [], False
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        self.links += [found[name] for name in ("href", "src", "data") if found.get(name)]
        if tag != "a":
            self.loaded += [found[name] for name in ("href", "src", "data") if found.get(name)]
        if tag not in VOID:
            self.open.append((tag, found.get("class", "")))

    def handle_endtag(self, tag):
        if any(tag == name for name, _ in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        if ("main", "") in self.open and not any("toc" in kind.split() for _, kind in self.open):
            self.text.append(data)


@functools.lru_cache(None)
def parsed(file):
    return Parsed(file)


def documented():
    """Every function, struct, field, enum, enumerator, macro and typedef of the headers."""
    count = 0
    for file in sorted((tree.MADE / "xml").glob("*.xml")):
        for one in xml.etree.ElementTree.parse(file).iter():
            if one.tag not in ("memberdef", "enumvalue", "compounddef"):
                continue
            if one.get("kind") in ("page", "dir", "file", "group", "namespace"):
                continue
            count += 1
            about = [one.find("briefdescription"), one.find("detaileddescription")]
            if not any("".join(part.itertext()).strip() for part in about if part is not None):
                name = one.findtext("name") or one.findtext("compoundname")
                yield f"{name} has no documentation ({place_of(one, file)})"
    if count < 100:
        yield f"the headers have only {count} names"


def place_of(one, file):
    place = one.find("location")
    return file.name if place is None else f"{place.get('file')}:{place.get('line')}"


def links():
    """Every href and src of the site."""
    for file in sorted(tree.HTML.glob("**/*.html")):
        page = parsed(file)
        for link in page.loaded:
            if OUTSIDE.match(link):
                yield f"{file.name} loads {link}"
        for link in page.links:
            if not OUTSIDE.match(link) and not leads_somewhere(file, link):
                yield f"{file.name} leads to {link}: there is no such place"


def leads_somewhere(file, link):
    path, _, anchor = urllib.parse.unquote(link).partition("#")
    target = (file.parent / path).resolve() if path else file
    if not target.is_file():
        return False
    return not anchor or target.suffix != ".html" or anchor in parsed(target).anchors


def source_text(page):
    """The text of a Markdown page without its markup."""
    text = []
    for kind, lines in tree.blocks(page.read_text(encoding="utf-8")):
        joined = "\n".join(line for line in lines if not tree.FENCE.match(line))
        if kind == "heading":
            joined = re.sub(r"^#+ ", "", joined, flags=re.M)
        if kind != "code":
            joined = re.sub(r"<!--.*?-->", "", joined, flags=re.S)
            joined = re.sub(r"^\s*\|[-:| ]+\|$", "", joined, flags=re.M)
            joined = re.sub(r"^\s*([-*+]|\d+\.) ", "", joined, flags=re.M)
            joined = tree.LINK.sub(lambda m: "" if m[1] else m[2], joined)
            joined = re.sub(r"<(https?:[^>]*)>", r"\1", joined)
            joined = re.sub(r"\\([*_`|\[\]])", r"\1", joined)
        text.append(joined)
    return "\n".join(text)


def pages():
    """Every page has each character of its source, in the same order."""
    for page in [*tree.written(), *tree.generated()]:
        file = tree.HTML / f"{tree.page_id(page)}.html"
        if not file.is_file():
            yield f"{page.name} is missing in the site"
            continue
        wanted = MARKS.sub("", source_text(page))
        found = MARKS.sub("", "".join(parsed(file).text))
        if wanted != found:
            yield f"{tree.relative(page)} and {file.name} differ: " + difference(wanted, found)


def difference(wanted, found):
    both = zip(wanted + "\0", found + "\0")
    at = next((i for i, (a, b) in enumerate(both) if a != b), min(len(wanted), len(found)))
    start = max(0, at - 30)
    return f"'{wanted[start : at + 30]}' became '{found[start : at + 30]}'"
