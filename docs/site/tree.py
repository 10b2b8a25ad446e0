"""What the pages of the site are, in their order, and where their headings, the sections of the
theory and the names of the public headers are found."""

import functools
import itertools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = ROOT / "lib" / "docs"
HTML = MADE / "html"
HEADERS = sorted(
    (ROOT / "include" / "certreg").glob("*.h*"),
    key=lambda header: (header.suffix, header.stem != "certreg", header.stem),
)
FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^)\s>]+)>?[^)]*\)")


def read(path):
    return path.read_text(encoding="utf-8")


def relative(path):
    return path.resolve().relative_to(ROOT).as_posix()


def linked(page):
    """The Markdown pages to which a page has links, in the order of the links."""
    found = [page.parent / target for _, _, target in LINK.findall(read(page))]
    return list(dict.fromkeys(p.resolve() for p in found if p.suffix == ".md" and p.is_file()))


def chapter(name):
    """The pages of a folder of docs: its README, then the pages in the order of its links."""
    contents = ROOT / "docs" / name / "README.md"
    return [contents, *(page for page in linked(contents) if page.parent == contents.parent)]


def project():
    """What is left: the pages beside the chapters, and those of the examples."""
    order = "glossary stability bindings design testing benchmarks reproduction".split()
    beside = sorted(
        (ROOT / "docs").glob("*.md"),
        key=lambda page: (order.index(page.stem) if page.stem in order else len(order), page.stem),
    )
    examples = sorted((ROOT / "examples").glob("**/README.md"))
    root = [ROOT / name for name in ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*beside, *examples, *root]


def written():
    """Every Markdown page of the repository that belongs to the site."""
    return [ROOT / "README.md", *chapter("guide"), *chapter("theory"), *project()]


def generated():
    """The pages that python_pages.py writes, in their order."""
    return sorted(MADE.glob("input/*.md"))


def page_id(page):
    """The name of a page, which is also that of its HTML file."""
    if page.parent == MADE / "input":
        return re.sub(r"^\d+_", "", page.stem)
    name = relative(page).removeprefix("docs/").removesuffix(".md").removesuffix("/README")
    return {"README": "index"}.get(name, name.lower().replace("/", "_"))


def file_of(header):
    """The HTML file of a header, as Doxygen names it."""
    return header.name.replace("_", "__").replace(".", "_8") + ".html"


def title_of(page):
    return next(title for title, _ in headings(read(page)))


def slug(title):
    """The anchor of a heading, as GitHub makes it."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.lower())
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def numbered(slugs):
    """An anchor that returns gets a number."""
    seen = {}
    for one in slugs:
        seen[one] = seen.get(one, -1) + 1
        yield f"{one}-{seen[one]}" if seen[one] else one


def headings(text):
    """Yields (title, anchor) for each heading of a Markdown text."""
    titles, fence = [], False
    for line in text.split("\n"):
        fence ^= bool(FENCE.match(line))
        if not fence and HEADING.match(line):
            titles.append(HEADING.match(line)[2])
    return list(zip(titles, numbered(map(slug, titles))))


@functools.lru_cache(None)
def sections():
    """The sections of the theory: number -> address."""
    found = {}
    for page in chapter("theory"):
        for title, anchor in headings(read(page)):
            number = re.match(r"(\d+(?:\.\d+)?) ", title)
            if number:
                found[number[1]] = f"{page_id(page)}.html#{anchor}"
    return found


@functools.lru_cache(None)
def names():
    """The functions, types, enumerators and macros of the public C headers."""
    texts = [read(header) for header in HEADERS if header.suffix == ".h"]
    code = re.sub(r"/\*.*?\*/", "", "".join(texts), flags=re.S)
    found = set(re.findall(r"\b(?:certreg_\w+|CERTREG_\w+)", code))
    return found - {"CERTREG_API", "CERTREG_EXPERIMENTAL"}


@functools.lru_cache(None)
def enums():
    """The enum of the constants that share a prefix: CERTREG_METHOD -> certreg_method."""
    found = {}
    for header in HEADERS:
        for name, body in re.findall(r"^enum (certreg_\w+) \{([^}]*)\}", read(header), re.M):
            for prefix in re.findall(r"\b(CERTREG_[A-Z]+)_\w+ = ", body):
                found.setdefault(prefix, name)
    return found


def address(page, link):
    """Where a relative link of a page leads to in the site: a page, a header, or a copy of another
    file of the repository. Returns (address, the file to be copied or None)."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    anchor = "#" + anchor if anchor else ""
    if target in HEADERS:
        return file_of(target), None
    if target in written() or target.parent == MADE / "input":
        return f"{page_id(target)}.html{anchor}", None
    if target.suffix == ".svg":
        return f"figures/{target.name}", target
    return f"files/{relative(target)}.txt", target


def copied():
    """The files of the repository that pages refer to: address -> file."""
    found = {}
    for page in written():
        for _, _, link in LINK.findall(prose(read(page))):
            if not re.match(r"[a-z][a-z0-9+.-]*:", link):
                place, file = address(page, link)
                found.update({place: file} if file else {})
    return found


def blocks(text):
    """Splits a Markdown text into (kind, lines): "code" (fences and indented blocks), "heading" and
    "prose"."""
    groups = itertools.groupby(_kinds(text), key=lambda pair: pair[0])
    return [(kind, [line for _, line in group]) for kind, group in groups]


def _kinds(text):
    fence, blank, item, kind = False, True, False, "prose"
    for line in text.split("\n"):
        mark = bool(FENCE.match(line))
        if line[:1].strip() or not item:  # what is indented below an item belongs to it
            item = bool(re.match(r"\s*([-*+]|\d+\.) ", line))
        deep = line.startswith("    ") and not item and (blank or kind == "code")
        if fence or mark or deep:
            kind = "code"
        else:
            kind = "heading" if HEADING.match(line) else "prose"
        fence ^= mark
        blank = not line.strip()
        yield kind, line


def prose(text):
    """The text without its code blocks."""
    return "\n".join(line for kind, lines in blocks(text) if kind != "code" for line in lines)


def version():
    text = read(ROOT / "include/certreg/certreg.h")
    return re.search(r"  Version (\S+)$", text, re.M)[1]


def groups(header):
    """The titles of the sections of a header in C."""
    found = re.findall(r"^/\* ==== (\w.*?) =+", read(header), re.M)
    return found if header.suffix == ".h" else []


def group(title):
    """Doxygen's name of a section."""
    return "section_" + re.sub(r"\W+", "_", title)


def group_file(title):
    """Its HTML file."""
    return f"group__{group(title).replace('_', '__')}.html"
