"""manpage.py VERSION FILE: writes the manual page of the command certreg from its parser of
arguments, certreg/cli/parser.py, which needs neither the library nor NumPy."""

import argparse
import importlib
import itertools
import pathlib
import sys
import textwrap
import types

CLI = pathlib.Path(__file__).resolve().parent / "certreg" / "cli"


def top():
    """The parser, from its package without the rest of it."""
    package = sys.modules["cli"] = types.ModuleType("cli")
    package.__path__ = [str(CLI)]
    return importlib.import_module("cli.parser").parser()


def escaped(text):
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def filled(text):
    return escaped(" ".join(text.split()))


def parts(text):
    """Yields for each paragraph its lines at the margin, and the indented lines after them, which
    are an example or the contents of a section."""
    for part in (text or "").strip("\n").split("\n\n"):
        lines = part.split("\n")
        head = list(itertools.takewhile(lambda line: line[:1] not in ("", " "), lines))
        yield "\n".join(head), textwrap.dedent("\n".join(lines[len(head) :]))


def paragraphs(text):
    for head, example in parts(text):
        if head:
            yield ".PP\n" + filled(head)
        if example:
            yield ".PP\n.RS 4\n.nf\n" + escaped(example) + "\n.fi\n.RE"


def sections(text):
    for head, body in parts(text):
        if head:
            yield f".SH {escaped(head.rstrip(':').upper())}\n.nf\n{escaped(body)}\n.fi"


def words_of_usage(parser):
    """What follows the name of the command in its usage."""
    return parser.format_usage().split()[1 + len(parser.prog.split()) :]


def usage(parser):
    """The usage on one line, such as: certreg [-h] command ..."""
    return f".PP\n\\fB{escaped(parser.prog)}\\fR {escaped(' '.join(words_of_usage(parser)))}"


def groups(parser):
    """Yields the title of each group of arguments ("" where argparse made it), its description, and
    a list of (argument, help)."""
    formatter = parser._get_formatter()
    for group in parser._action_groups:
        shown = [a for a in group._group_actions if a.help != argparse.SUPPRESS and not choices(a)]
        if shown:
            title = "" if group in parser._action_groups[:2] else group.title
            yield title, group.description, [
                (
                    formatter._format_action_invocation(action),
                    formatter._expand_help(action) if action.help else "",
                )
                for action in shown
            ]


def options(parser):
    """The arguments of each group, below its title."""
    for title, description, shown in groups(parser):
        if title:
            yield f".PP\n\\fI{escaped(title)}\\fR"
            yield from paragraphs(description)
        for name, text in shown:
            yield f".TP\n\\fB{escaped(name)}\\fR\n{filled(text)}"


def choices(action):
    """The parsers of the commands, without aliases, if the action is the choice of a command."""
    if not isinstance(action, argparse._SubParsersAction):
        return []
    return list({id(parser): parser for parser in action.choices.values()}.values())


def commands(parser):
    return [command for action in parser._actions for command in choices(action)]


def page(parser, version):
    name, below = parser.prog, commands(parser)
    what = filled(parser.description).split(". ")[0].rstrip(".")
    yield f'.TH {name.upper()} 1 "" "{name} {version}" "User Commands"'
    yield f".SH NAME\n{name} \\- {what[:1].lower()}{what[1:]}"
    yield ".SH SYNOPSIS"
    yield from map(usage, [parser, *below])
    yield ".SH DESCRIPTION"
    yield from paragraphs(parser.description)
    yield ".SH OPTIONS"
    yield from options(parser)
    yield ".SH COMMANDS"
    for command in below:
        yield f".SS {escaped(command.prog)}"
        yield from paragraphs(command.description)
        yield from options(command)
        yield from paragraphs(command.epilog)
    yield from sections(parser.epilog)


def main(version, path):
    parser = top()
    for one in [parser, *commands(parser)]:
        one.color = False  # newer versions of Python colour what they format
    pathlib.Path(path).write_text("\n".join(page(parser, version)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
