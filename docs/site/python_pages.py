"""The reference of the Python package as Markdown pages: every public name, from the source and its
docstrings, without importing the package; and the manual of its command."""

import ast
import functools
import re
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "python"))
import manpage  # noqa: E402

PACKAGE = tree.ROOT / "python" / "certreg"
# Each page: its name, its title and the modules of which it has the public names.
PAGES = (
    ("python", "The package certreg", ("_library",)),
    ("python_estimator", "Estimator and questions", ("estimator", "questions")),
    ("python_answers", "Certificates and other answers", ("answers", "attacks", "errors")),
    ("python_rows", "Many rows", ("rows", "result", "units", "tuning")),
    ("python_models", "Models", ("models", "check", "parametric", "_arrays")),
    ("python_denoisers", "Denoisers", ("denoised", "comparison", "training", "joining")),
    ("python_intervals", "Prediction intervals in Python", ("intervals", "_ranks")),
    ("python_solver", "Bounds by hand in Python", ("solver",)),
    ("python_plots", "Plots", ("plots",)),
    ("python_constants", "Constants in Python", ("constants",)),
)
ENTRY = re.compile(r"(\w+(?:, \w+)*) {2,}(\S.*)")


def parsed(module):
    return ast.parse(tree.read(PACKAGE / f"{module}.py"))


def public():
    """The public names by the module that defines them, in the order of the package."""
    found = {}
    for node in parsed("__init__").body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [name.name for name in node.names if name.name.strip("_") == name.name]
            found.setdefault(node.module, []).extend(names)
    return found


def text(said):
    """Plain text as Markdown."""
    return re.sub(r"[*|\[\]]|(?<!\w)_|_(?!\w)", r"\\\g<0>", said)


def docstring(node, what):
    """A docstring as Markdown: paragraphs, examples, and tables of names with their meaning."""
    said = ast.get_docstring(node)
    if not said:
        raise SystemExit(f"docs: {what} has no docstring")
    for part in said.split("\n\n"):
        lines = part.split("\n")
        if lines[0].startswith(" "):
            yield "\n".join("    " + line.strip() for line in lines)
        elif any(ENTRY.fullmatch(line) for line in lines):
            yield from table(lines)
        else:
            yield text(part)


def table(lines):
    """Lines such as "radius  > 0, in units of the input", with what continues them."""
    before, rows = [], []
    for line in lines:
        entry = ENTRY.fullmatch(line)
        if entry:
            rows.append([f"`{entry[1]}`", text(entry[2])])
        elif rows:
            rows[-1][1] += " " + text(line.strip())
        else:
            before.append(text(line))
    if before:
        yield "\n".join(before)
    yield "| name | meaning |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)


def signature(node, name):
    """How a function is called, on one line or with a line for each argument."""
    args = ast.parse(ast.unparse(node)).body[0].args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
    said = [argument(*pair) for pair in zip(positional, defaults) if pair[0].arg not in
            ("self", "cls")]
    if args.vararg:
        said.append("*" + argument(args.vararg, None))
    elif args.kwonlyargs:
        said.append("*")
    said += [argument(*pair) for pair in zip(args.kwonlyargs, args.kw_defaults)]
    if args.kwarg:
        said.append("**" + argument(args.kwarg, None))
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return call(name, said, result.replace(" -> None", ""))


def argument(arg, default):
    said = arg.arg + (f": {ast.unparse(arg.annotation)}" if arg.annotation else "")
    return said + (f" = {ast.unparse(default)}" if default is not None else "")


def call(name, arguments, result=""):
    line = f"{name}({', '.join(arguments)}){result}"
    if len(line) > 88:
        line = f"{name}(\n    " + ",\n    ".join(arguments) + f",\n){result}"
    return f"```python\n{line}\n```"


def is_marked(node, mark):
    return any(mark in ast.unparse(one) for one in node.decorator_list)


def methods(node):
    return [one for one in node.body if isinstance(one, ast.FunctionDef)
            and not one.name.startswith("_")]


def class_of(node, bases):
    """A class, its fields and its methods, also those of its bases in the package."""
    yield f"## {node.name}"
    made = next((one for one in node.body if getattr(one, "name", "") == "__init__"), None)
    if any("Enum" in ast.unparse(base) or "IntFlag" in ast.unparse(base) for base in node.bases):
        yield from docstring(node, node.name)
        yield members(node)
        return
    if is_marked(node, "dataclass"):
        fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
        yield call(node.name, [field(one) for one in fields])
    elif made and not any("Error" in ast.unparse(base) for base in node.bases):
        yield signature(made, node.name)
    yield from docstring(node, node.name)
    for method in [one for holder in with_bases(node, bases) for one in methods(holder)]:
        name = f"{node.name}.{method.name}"
        yield f"### {name}"
        if not is_marked(method, "property"):
            yield signature(method, name)
        yield from docstring(method, name)


def with_bases(node, bases):
    yield node
    for base in node.bases:
        if getattr(base, "id", "") in bases:
            yield from with_bases(bases[base.id], bases)


def field(node):
    default = node.value
    if isinstance(default, ast.Call):  # dataclasses.field(...): nothing for the reader
        default = next((k.value for k in default.keywords if k.arg == "default"), None)
    return argument(ast.arg(node.target.id, node.annotation), default)


def members(node):
    """The members of an enum, with the names that they have in C."""
    word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name).upper()
    prefix = {"STATUS": "CERTREG_E_"}.get(word, f"CERTREG_{word}_")
    rows = []
    for one in node.body:
        if isinstance(one, ast.Assign):
            name = one.targets[0].id
            in_c = next((c for c in (prefix + name, f"CERTREG_{name}") if c in tree.names()), "")
            rows.append((name, ast.unparse(one.value), f"`{in_c}`" if in_c else ""))
    return "| name | value | in C |\n|---|---|---|\n" + "\n".join(
        f"| `{name}` | `{value}` | {in_c} |" for name, value, in_c in rows)


def constants(names, source):
    """Constants of a module, with the comments beside them."""
    rows = []
    for name in names:
        line = re.search(rf"^(?:\w+, )*{name}\b.*=.*$", source, re.M)
        comment = re.search(r"  # (.*)", line[0]) if line else None
        in_c = f"`CERTREG_{name}`" if f"CERTREG_{name}" in tree.names() else ""
        if not comment and not in_c:
            raise SystemExit(f"docs: {name} has no comment")
        rows.append(f"| `{name}` | {in_c} | {text(comment[1]) if comment else ''} |")
    if rows:
        yield "## Constants without an enum"
        yield "| name | in C | meaning |\n|---|---|---|\n" + "\n".join(rows)


@functools.lru_cache(None)
def definitions(name):
    """The classes and functions of a module by their names, also those that it imports."""
    body, found = parsed(name).body, {}
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            found.update({name: one for name, one in definitions(node.module).items()
                          if isinstance(one, ast.ClassDef)})
    return {**found, **{node.name: node for node in body if hasattr(node, "name")}}


def module(name, names):
    nodes = definitions(name)
    for one in names:
        if isinstance(nodes.get(one), ast.ClassDef):
            yield from class_of(nodes[one], nodes)
        elif one in nodes:
            yield f"## {one}"
            yield signature(nodes[one], one)
            yield from docstring(nodes[one], one)
    left = [one for one in names if one not in nodes]
    yield from constants(left, tree.read(PACKAGE / f"{name}.py"))


def overview(found):
    """Where each public name is."""
    yield "| page | names |\n|---|---|\n" + "\n".join(
        f"| [{title}]({name}.md) | "
        + ", ".join(link(one, name) for module in modules for one in found[module])
        + " |"
        for name, title, modules in PAGES[1:])


def link(name, page):
    anchor = "" if name.isupper() else "#" + tree.slug(name)
    return f"[`{name}`]({page}.md{anchor})"


def command():
    """The manual of the command certreg."""
    top = manpage.top()
    yield "# The command certreg"
    yield from manual(top)
    for below in manpage.commands(top):
        yield f"## {below.prog}"
        yield from manual(below)
        yield from prose(below.epilog)
    for head, body in manpage.parts(top.epilog):
        if head:
            yield f"## {head.rstrip(':').capitalize()}"
            yield "```\n" + body + "\n```"


def manual(parser):
    yield "```\n" + " ".join([parser.prog, *manpage.words_of_usage(parser)]) + "\n```"
    yield from prose(parser.description)
    for title, description, shown in manpage.groups(parser):
        if title:
            yield f"*{text(title)}*"
        yield from prose(description)
        yield "| option | meaning |\n|---|---|\n" + "\n".join(
            f"| `{name}` | {text(' '.join(said.split()))} |" for name, said in shown)


def prose(said):
    for head, example in manpage.parts(said):
        if head:
            yield text(head)
        if example:
            yield "```\n" + example + "\n```"


def write(folder):
    """Writes the pages, numbered in their order, into a folder."""
    found = public()
    left = set(found) - {module for _, _, modules in PAGES for module in modules}
    if left:
        raise SystemExit(f"docs: no page of python_pages.py has the names of {sorted(left)}")
    for number, (name, title, modules) in enumerate(PAGES):
        said = [f"# {title}"]
        if number == 0:
            said += [*docstring(parsed("__init__"), "the package"), *overview(found)]
        for one in modules:
            said += module(one, found[one])
        save(folder / f"{number}_{name}.md", said)
    save(folder / f"{len(PAGES)}_command.md", command())


def save(path, parts):
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
