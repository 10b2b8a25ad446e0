"""A public header as Doxygen has to see it. In the headers, ordinary comments stand behind or
before what they are about; here they become comments of Doxygen. Comments with a title, which are
about no single declaration, become part of the description of the header."""

import itertools
import re

COMMENT = re.compile(r"/\*.*?\*/", re.S)
TITLE = re.compile(r"/\* (?:(?:====|----) ([^\n]*?)(?: [=-]+)?(?= *\*/|\n)"
                   r"|([A-Z][^\n.:,(]*(?: \([^\n]*\))?)(?=\n \*  \S))")
ENTRY = re.compile(r" {1,4}(?:[\w:]+,? ){1,3} +(?=\S)")
FIELDS = r"(\s*(?:const )?\w+ )(\*?\w+(?:, \*?\w+)+);"
BEHIND = re.compile("()" + FIELDS + r"( */\*.*?\*/)", re.S)
BEFORE = re.compile(r"(/\*(?!\*)(?:(?!\*/).)*\*/)" + FIELDS + "()(?! */)", re.S)
COMMAND = re.compile(r"\\@(?=(?:param|tparam|return|throws|par|file)\b)")


def fields(match):
    """Of several fields with one comment, each gets it."""
    before, kind, names, behind = match.groups()
    return "\n".join(f"{before}{kind}{name};{behind}" for name in names.split(", "))


def words(text):
    """Prose, in which only the commands are commands to Doxygen."""
    said = re.sub(r"^ +", "", text, flags=re.M)
    said = re.sub(r"[@#%<>&\"\\]|--+", lambda m: "".join("\\" + c for c in m[0]), said)
    return re.sub(r"@par +(\w+)\s+", r"\n@par \1\n", COMMAND.sub("@", said))


def laid_out(lines):
    """For each line whether it is shown as it stands: code, and terms with their explanations."""
    column, before, command = 99, "", False
    for line in lines:
        depth = len(line) - len(line.lstrip())
        entry = ENTRY.match(line)
        command |= bool(re.match(r"\s*@(?!file)", line))
        if entry and not command and (column < 99 or not before or before[-1] in ".:="):
            column = min(depth + 1, entry.end())
        elif line and depth < column:
            begins = not before or before.endswith(":")
            column = 5 if depth > 4 and begins and not command else 99
        yield column < 99
        before = line


def described(comment):
    """The body of a comment for Doxygen."""
    body = re.sub(r"\A/\*+|\s*\*/\Z", "", comment)
    lines = [re.sub(r"^\s*\*(?=\s|$)", "", line).rstrip() for line in body.split("\n")]
    for shown, run in itertools.groupby(zip(laid_out(lines), lines), key=lambda pair: pair[0]):
        text = "\n".join(line for _, line in run)
        yield f"\n@verbatim\n{text.rstrip()}\n@endverbatim\n" if shown else words(text)


def seen(name, source):
    source = BEFORE.sub(fields, BEHIND.sub(fields, source))
    source = re.sub(r"^  private:.*?(?=^  public:|^\};)", "", source, flags=re.M | re.S)
    out, end = [], 0
    for match in COMMENT.finditer(source):
        comment, code = match[0], source[end : match.start()]
        end = match.end()
        title = TITLE.match(comment)
        said = "\n".join(described("/*" + comment[title.end() :] if title else comment))
        out.append(code)
        if title and said.strip():
            heading = words(title[1] or title[2])
            out.append(f"/** @file {name}\n\n<b>{heading}</b>\n\n{said} */")
        elif title:
            pass  # a group of declarations
        elif code.rpartition("\n")[2].strip():
            out.append(f"/**< {said} */")
        elif comment.startswith("/**") or source[end:].split("\n")[1:2] not in ([], [""]):
            out.append(f"/** {said} */")
    return "".join(out) + source[end:]
