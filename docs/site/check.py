"""What a finished site has to be: everything public is documented, every link leads somewhere,
nothing is loaded from elsewhere, and every page has the text of its source. Each function yields
sentences about what is wrong."""

import functools
import html.parser
import re
import urllib.parse
import xml.etree.ElementTree

import tree

OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}
SPACE = re.compile(r"[\s\u200b]+")


class Parsed(html.parser.HTMLParser):
    """The links, the anchors and the text of one HTML file."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loaded, self.anchors, self.text = [], [], set(), []
        self.open, self.told = [], False
        self.feed(tree.read(file))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if ("div", "summary") not in self.open:  # not shown
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
    """Every function, class, field, enum, enumerator, macro and typedef of the headers."""
    count = 0
    for file in sorted((tree.MADE / "xml").glob("*.xml")):
        for compound in xml.etree.ElementTree.parse(file).iter("compounddef"):
            kinds = ("page", "dir", "file", "group", "namespace")
            found = [] if compound.get("kind") in kinds else [compound]
            for one in [*found, *compound.iter("memberdef")]:
                for part in [one, *one.findall("enumvalue")]:
                    count += 1
                    yield from missing(part, compound, place_of(one, file))
    if count < 100:
        yield f"the headers have only {count} names"


def missing(one, compound, place):
    """What the documentation of something leaves out."""
    holder = compound.findtext("compoundname").split("::")[-1]
    name = one.findtext("name") or one.findtext("compoundname")
    about = [one.find("briefdescription"), one.find("detaileddescription")]
    in_c = place.split(":")[0].endswith(".h")
    if not any("".join(part.itertext()).strip() for part in about if part is not None):
        plain, inside = name.split("::")[-1], "private" in (one.get("prot"), compound.get("prot"))
        if in_c or not (inside or plain == holder or means_the_same(plain)):
            yield f"{name} has no documentation ({place})"
    elif in_c and one.get("kind") == "function":
        yield from (f"{what} of {name} has no documentation" for what in left_out(one))


def means_the_same(name):
    """Whether a name of the C++ headers has the meaning that it has in C, or everywhere in C++."""
    everywhere = ("begin", "end", "data", "size", "what", "value", "operator=", "operator[]")
    return name in everywhere or any(one.endswith("_" + name) for one in tree.names())


def left_out(function):
    """The parameters of a function, and its result, that its documentation does not explain."""
    told = {name.text for name in function.iter("parametername")}
    for parameter in function.findall("param"):
        name, kind = parameter.findtext("declname"), "".join(parameter.find("type").itertext())
        if name and name not in told and f"certreg_{name}" not in kind.split():
            yield f"parameter {name}"
    results = [one for one in function.iter("simplesect") if one.get("kind") == "return"]
    if "".join(function.find("type").itertext()) != "void" and not results:
        yield "the result"


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


CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
# In code and behind a backslash these mean themselves; elsewhere they are markup.
MARKS = str.maketrans("*`|", "\ue001\ue002\ue003")
AGAIN = str.maketrans("\ue001\ue002\ue003", "*`|")


def source_text(page):
    """The text of a Markdown page without its markup."""
    text = []
    for kind, lines in tree.blocks(tree.read(page)):
        joined = "\n".join(line for line in lines if not tree.FENCE.match(line))
        if kind == "heading":
            joined = re.sub(r"^#+ |`", "", joined, flags=re.M)
        if kind == "code":
            joined = joined.translate(MARKS)
        else:
            joined = re.sub(r"<!--.*?-->", "", joined, flags=re.S)
            joined = re.sub(r"^\s*\|[-:| ]+\|$", "", joined, flags=re.M)
            joined = re.sub(r"^\s*([-*+]|\d+\.) ", "", joined, flags=re.M)
            joined = CODE.sub(lambda m: m[2].replace("\\|", "|").translate(MARKS), joined)
            joined = tree.LINK.sub(lambda m: "" if m[1] else m[2], joined)
            joined = re.sub(r"<(https?:[^>]*)>", r"\1", joined)
            joined = re.sub(r"\\([*_`|\[\]])", lambda m: m[1].translate(MARKS), joined)
            joined = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"\1", joined, flags=re.S)
            joined = re.sub(r"(?<!\w)\*(?=\S)([^*]+?)(?<=\S)\*(?!\w)", r"\1", joined)
            joined = re.sub(r"^\s*\|.*", lambda m: m[0].replace("|", ""), joined, flags=re.M)
        text.append(joined.translate(AGAIN))
    return "\n".join(text)


def pages():
    """Every page is there, and has each character of its source in the same order."""
    for page in sorted((tree.ROOT / "docs").glob("**/*.md")):
        if page not in tree.written():
            yield f"{tree.relative(page)} is not linked from the README.md of its folder"
    for page in [*tree.written(), *tree.generated()]:
        file = tree.HTML / f"{tree.page_id(page)}.html"
        if not file.is_file():
            yield f"{page.name} is missing in the site"
            continue
        wanted = SPACE.sub("", source_text(page))
        found = SPACE.sub("", "".join(parsed(file).text))
        if wanted != found:
            yield f"{tree.relative(page)} and {file.name} differ: " + difference(wanted, found)


def difference(wanted, found):
    both = zip(wanted + "\0", found + "\0")
    at = next((i for i, (a, b) in enumerate(both) if a != b), min(len(wanted), len(found)))
    start = max(0, at - 30)
    return f"'{wanted[start : at + 30]}' became '{found[start : at + 30]}'"


def letters(text):
    return re.sub(r"[\W_]+", "", text)


def headers():
    """Every line of every comment of a header is in the pages about it."""
    for header in tree.HEADERS:
        files = [tree.file_of(header), *map(tree.group_file, tree.groups(header)),
                 *(file.name for file in tree.HTML.glob("[cs][lt][ar][su]*.html"))]
        files = [name for name in files if (tree.HTML / name).is_file()]
        told = "".join(letters("".join(parsed(tree.HTML / name).text)) for name in files)
        kind = r"/\*.*?\*/" if header.suffix == ".h" else r"/\*\*.*?\*/"
        for comment in re.findall(kind, tree.read(header), re.S):
            for line in comment.split("\n"):
                said = letters(re.sub(r"@\w+", "", line))
                if said not in told:
                    yield f"{header.name}: these words are not in the site: {line.strip()}"
