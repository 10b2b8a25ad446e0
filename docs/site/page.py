"""A Markdown page of the repository as Doxygen has to see it. Headings get the anchors that GitHub
gives them, links lead to pages of the site, and characters that are commands to Doxygen mean
themselves."""

import re

import tree
import words

SPAN = re.compile(
    r"(?P<comment><!--.*?-->)"
    r"|(?P<ruler>(?<=\n)[ ]*\|[-:| ]+\|(?=\n))"
    r"|(?P<ticks>(?<!`)(?P<mark>`+)(?!`)(?P<code>.+?)(?<!`)(?P=mark)(?!`))"
    r"|(?P<image>!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)\))"
    r"|(?P<link>\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\))"
    r"|(?P<bare><(?P<url>https?://[^>]+)>)"
    r"|(?P<escape>\\[*_`\[\]()|])"
    r"|(?P<dashes>--+)"
    r"|(?P<special>[@#%<>&\"\\])", re.S)


KEPT = "\ue000"  # a place in the text that is ready


def emphasised(text):
    """Doxygen misses the end of emphasis behind code, so emphasis is written as elements."""
    text = re.sub(r"\*\*(?=\S)([^|]+?)(?<=\S)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<!\w)\*(?=\S)([^*|]+?)(?<=\S)\*(?!\w)", r"<em>\1</em>", text)
    return re.sub(r"\*", r"\\*", text)


class Page:
    def __init__(self, path):
        self.path = path
        self.text = tree.read(path)
        self.anchors = iter(tree.headings(self.text))
        self.first = True

    def spans(self, text, linked=words.told):
        """Text between code blocks. Names of the C interface and citations of the theory become
        links, except within a link."""
        kept, out, end = [], [], 0
        for match in SPAN.finditer(text):
            out += [linked(text[end : match.start()]), KEPT]
            kept.append(self.span(match))
            end = match.end()
        out.append(linked(text[end:]))
        parts = iter(kept)
        return re.sub(KEPT, lambda _: next(parts), emphasised("".join(out)))

    def span(self, match):
        if match["comment"]:
            return ""
        if match["ruler"]:
            return match[0]
        if match["ticks"]:
            return words.code(match["code"])
        if match["image"]:
            return f'<img src="{self.place(match["source"])}" alt="{match["alt"]}"/>'
        if match["link"]:
            return self.link(self.place(match["target"]), self.spans(match["text"], str))
        if match["bare"]:
            return self.link(match["url"], match["url"])
        if match["escape"]:
            return match[0]
        if match["dashes"]:
            return words.dashes(match[0])
        return words.ESCAPED[match[0]]

    @staticmethod
    def link(place, text):
        return f'<a href="{place}">{text}</a>'

    def place(self, link):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            return link
        return tree.address(self.path, link)[0]

    def heading(self, line):
        marks = tree.HEADING.match(line)[1]
        title, anchor = next(self.anchors)
        text = self.spans(title.replace("`", ""), str)
        place = f'@htmlonly<a id="{anchor}"></a>@endhtmlonly'
        if self.first:
            self.first = False
            name = tree.page_id(self.path).replace("index", "mainpage")
            return f"# {text} {{#{name}}}\n\n{place}\n\n[TOC]\n"
        return f"{place}\n\n{marks} {text}"

    def lines(self):
        for kind, lines in tree.blocks(self.text):
            if kind == "code":
                yield from lines
            elif kind == "heading":
                yield from map(self.heading, lines)
            else:
                yield self.spans("\n".join(lines))


def seen(path):
    return "\n".join(Page(path).lines()) + "\n"
