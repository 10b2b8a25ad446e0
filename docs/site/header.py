"""A public header as Doxygen has to see it. In the headers, ordinary comments stand before or after
what they are about; here they become comments of Doxygen. The sections of a header become groups,
and its longer explanations sections of these groups."""

import functools
import itertools
import re

import tree
import words

COMMENT = re.compile(r"/\*.*?\*/", re.S)
SECTION = re.compile(r"/\* ==== (\w.*?) =+(.*)\*/\Z", re.S)
PART = re.compile(r"/\* -{4} (.*?) *\*/\Z")
TITLE = re.compile(r"^(?:/\*| \*) ([A-Z][^\n.:,(]*(?: \([^\n]*\))?)\n \*  \S", re.M)
SEVERAL = re.compile(r"(\s*(?:const )?\w+ )(\*?\w+(?:, \*?\w+)+);\s*\Z")
BELOW = re.compile(
    r"(/\*(?!\*)(?:(?!\*/).)*\*/)(\s*(?:const )?\w+ )(\*?\w+(?:, \*?\w+)+);(?! */\*)", re.S
)
STANDARD = (  # fields that every struct may have
    (re.compile(r"(uint32_t struct_size;)$", re.M), r'\1 /* sizeof of this struct; see "rules" */'),
    (re.compile(r"(int32_t reserved;)( */\* 0 \*/)?$", re.M), r"\1 /* must be 0 */"),
)
# Parameters of which the type and the name say nearly everything, where a comment leaves them out.
OBVIOUS = {
    "backend": "NULL: the CPU",
    "bounds": "what is known of u",
    "bytes": "receives the size",
    "calibration": "scores of the calibration points",
    "constraints": "mask of the constraints to use; 0: all in bounds->constraints",
    "count": "how many there are",
    "coverage": "what the ranks depend on",
    "digest": "receives the digest",
    "first": "index of the first sample",
    "inputs": "how many inputs there are",
    "levels": "how many noise levels there are",
    "noise_id": "as for certreg_estimator_begin",
    "options": "what the run may use",
    "out": "receives the result",
    "question": "the question",
    "questions": "as for certreg_certify",
    "ranks": "from certreg_interval_ranks",
    "sigma": "as for certreg_estimator_begin",
    "total_samples": "as for certreg_certify",
    "why": "receives the error, or NULL",
    "z": "as for certreg_estimator_begin",
}
FUNCTION = re.compile(r"^(?:CERTREG_API\s.*?)(\([^()]*\));", re.M | re.S)
COMMAND = r"(?:param|tparam|return|throws|par|file|since|deprecated)\b"
RESULT = "@return as described"
PROTOTYPE = re.compile(r"\s*(?:const )?(\w+)\s+\*?\w+\(([^()]*)\);")


@functools.lru_cache(None)
def titles():
    """The explanations that comments refer to by their titles: title -> label."""
    found = {"rules": tree.group("rules")}
    for header in tree.HEADERS:
        for comment in COMMENT.findall(tree.read(header)):
            if not comment.startswith("/**"):
                for title in TITLE.findall(comment):
                    name = title.split(" (")[0]
                    found[name] = tree.slug(name)
    return found


def contents(comment):
    """The lines of a comment without its frame, indented as they stand behind the asterisk."""
    lines = re.sub(r"\A/\*+|\s*\*/\Z", "", comment).split("\n")
    return [re.sub(r"^\s*\*(?=\s|$)", "", line).rstrip() for line in lines]


def depth(line):
    return len(line) - len(line.lstrip())


def text(lines):
    """Prose, in which commands of Doxygen stay commands."""
    said = words.plain("\n".join(line.strip() for line in lines))
    said = re.sub(rf"\\@(?={COMMAND})", "@", said)
    said = re.sub(r"@par +(\w+)\s+", r"\n@par \1\n", said)
    said = re.sub(r"@param +(\w+(?:, *\w+)*)", lambda m: m[0].replace(", ", ","), said)
    said = re.sub(r"&quot;(.+?)&quot;", title_of, said)
    return words.told(said)


def title_of(match):
    label = titles().get(match[1])
    return f'@ref {label} "{match[1]}"' if label else match[0]


def paragraphs(lines):
    """Prose with code: lines that are indented after an empty line, or after a colon."""
    kinds, before = [], "none"
    for line in lines:
        inside = bool(kinds) and kinds[-1]
        deep = depth(line) > 4 and (inside or not before or before.endswith(":"))
        kinds.append(deep or (inside and not line))
        before = line
    out = []
    for code, group in itertools.groupby(zip(kinds, lines), key=lambda pair: pair[0]):
        part = [line for _, line in group]
        out.append(verbatim("\n".join(part).rstrip()) if code else definitions(part))
    return "\n".join(out)


def verbatim(code):
    kind = "code" if re.search(r"[;{]$", code, re.M) else "verbatim"
    language = "{.c}" if kind == "code" else ""
    return f"\n@{kind}{language}\n{code}\n@end{kind}\n"


def definitions(lines):
    """An explanation in which lines such as "FINITE  Valid at ..." define a term."""
    out, column, pending = [], None, []

    def flush(after=""):
        out.append(text(pending) + after)
        pending.clear()

    for line in lines:
        entry = re.match(r" {1,4}((?:[\w:]+,? ){1,3}) +(\S.*)", line)
        if entry:
            flush("<dl>" if column is None else "</dd>")
            column = depth(line)
            out.append(f"<dt>{text([entry[1]])}</dt><dd>")
            pending.append(entry[2])
        elif column is not None and line and depth(line) < column + 4:
            flush("</dd></dl>\n")
            column = None
            pending.append(line)
        else:
            pending.append(line)
    flush("</dd></dl>" if column is not None else "")
    return "\n".join(out)


def obvious(comment, rest):
    """What a comment leaves out about the function that follows: its parameters and its result."""
    function = PROTOTYPE.match(rest)
    if not function:
        return "", ""
    said = {name for names in re.findall(r"@param +(\w+(?:, *\w+)*)", comment)
            for name in names.split(", ")}
    named = [re.fullmatch(r"\s*\w.*[\s*](\w+)", one, re.S) for one in function[2].split(",")]
    added = [f"@param {one[1]} {OBVIOUS[one[1]]}" for one in named
             if one and one[1] in OBVIOUS and one[1] not in said]
    return text(added), "" if function[1] == "void" or "@return" in comment else RESULT


def each(match):
    """Of several fields with one comment above, each gets it."""
    return "\n".join(f"{match[1]}{match[2]}{name};" for name in match[3].split(", "))


def named(function):
    """The prototype with names for parameters that are named by their type, such as handles."""
    parameters = re.sub(r"\bcertreg_(\w+)( \*|(?<=status))(?=\s*[,)])", r"\g<0> \1", function[1])
    return function[0].replace(function[1], parameters)


class Header:
    def __init__(self, source, sections):
        self.sections = sections
        for field, documented in STANDARD:
            source = field.sub(documented, source)
        source = BELOW.sub(each, source)
        source = FUNCTION.sub(named, source)
        self.source = re.sub(r"^CERTREG_API\s", "", source, flags=re.M)
        self.group = None

    def written(self):
        out, end = [], 0
        for match in COMMENT.finditer(self.source):
            out.append(self.source[end : match.start()])
            end = match.end()
            code = out.pop()
            before, last = code[: code.rfind("\n") + 1], code[code.rfind("\n") + 1 :]
            out.append(before)
            if last.strip():
                out.append(self.after(last, match[0]))
            else:
                out.append(last + self.comment(match[0], self.source[end:]))
        tail, closing = self.source[end:], "#ifdef __cplusplus\n}"
        if self.group:
            tail = tail.replace(closing, "/** @} */\n" + closing)
        return "".join(out) + tail

    def after(self, code, comment):
        """A comment behind a declaration."""
        said = f" /**< {text(contents(comment))} */"
        several = SEVERAL.match(code)
        if not several:
            return code + said
        return "".join(f"{several[1]}{name};{said}" for name in several[2].split(", "))

    def comment(self, comment, rest):
        """A comment on lines of its own."""
        if comment.startswith("/**"):
            said, (parameters, result) = paragraphs(contents(comment)), obvious(comment, rest)
            command = re.search(rf"@(?!file){COMMAND}|\Z", said).start()
            return f"/** {said[:command]}{parameters}\n{said[command:]}\n{result} */"
        section = SECTION.match(comment)
        if section and self.sections:
            return self.section(*section.groups())
        if PART.match(comment):
            return self.part(PART.match(comment)[1])
        if TITLE.match(comment):
            return self.explanation(contents(comment))
        following = rest.split("\n")[1:2]
        if not following or not following[0].strip():
            return comment  # about nothing in particular
        return f"/** {text(contents(comment))} */"

    def section(self, title, rest):
        close = "/** @} */\n" if self.group else ""
        self.group = tree.group(title)
        said = definitions(contents("/*" + rest + "*/"))
        return f"{close}/** @defgroup {self.group} {title}\n{said}\n@{{ */"

    def part(self, title):
        close = "/** @} */\n" if self.group else ""
        self.group = "part"
        return f"{close}/** @name {words.plain(title)}\n@{{ */"

    def explanation(self, lines):
        out, body = [], []
        for line in [*lines, " Z"]:
            if depth(line) == 1:
                out.append(definitions(body))
                body = []
                name = line.strip().split(" (")[0]
                out.append(f"\n@section {titles().get(name, name)} {words.plain(line.strip())}\n")
            else:
                body.append(line)
        said = "\n".join(out[:-1])
        return f"/** @}} */\n/** @addtogroup {self.group}\n{said}\n@{{ */"


def seen(path):
    return Header(tree.read(path), path.suffix == ".h").written()
