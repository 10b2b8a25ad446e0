"""build.py: writes the site to lib/docs/html by Sphinx: the Markdown pages of the repository, the
reference of the headers, which Doxygen reads, that of the Python package, and the help of its
command. Ends with a failure if one of the two warns, if something public in C or a constant has no
documentation, or if words of a header were lost."""

import argparse
import ctypes
import html
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest.mock
import xml.etree.ElementTree

import header

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = ROOT / "lib" / "docs"
SOURCE = MADE / "source"
HEADERS = sorted((ROOT / "include" / "certreg").glob("*.h*"))
COPIED = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "docs",
          "examples", "python")
NEEDED = ("sphinx", "myst_parser", "breathe", "furo", "numpy")
DEBIAN = "/usr/bin/python3"  # has Debian's packages, where another Python comes first
CLASS = "   :members:\n   :undoc-members:\n   :inherited-members: int,tuple,Exception\n"
SAID_ELSEWHERE = ("struct_size", "reserved")  # every struct has them; see "rules" in certreg.h


def read(path):
    return path.read_text(encoding="utf-8")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def titled(title, mark="="):
    return f"{title}\n{mark * len(title)}\n\n"


def literal(text):
    return "::\n\n" + re.sub("^", "   ", text, flags=re.M) + "\n\n"


def index():
    """The first page with the table of contents: the guide in its own order, all else by name."""
    guide = re.findall(r"\]\(([\w-]+)\.md", read(ROOT / "docs" / "guide" / "README.md"))
    chapters = {
        "Guide": ["Overview <README>", "Questions, pages and tasks <docs/guide/README>",
                  *(f"docs/guide/{page}" for page in guide)],
        "C and C++": ["c/certreg.h", "c/*"],
        "Python and command": ["python/certreg", "python/*"],
        "Notebooks": ["examples/notebooks/*"],
        "Theory": ["docs/theory/README", "docs/theory/*"],
        "Project": ["docs/*", "examples/**README", "SECURITY", "CONTRIBUTING", "CHANGELOG"],
    }
    yield read(ROOT / "docs" / "site" / "index.md").replace("../../", "")
    for caption, pages in chapters.items():
        listed = "\n".join(dict.fromkeys(pages))
        options = f":caption: {caption}\n:maxdepth: 1\n:glob:\n:hidden:\n"
        yield f"\n```{{toctree}}\n{options}\n{listed}\n```\n"


def constants(names):
    """The lines of the source that define them."""
    in_c, lines = "".join(map(read, HEADERS)), {}
    for file in sorted((ROOT / "python" / "certreg").glob("*.py")):
        for line in re.findall(r"^\w.* = .*$", read(file), re.M):
            lines.update(dict.fromkeys(re.findall(r"\w+", line.partition(" = ")[0]), line))
    for name in names:
        if " # " not in lines.get(name, "") and f"CERTREG_{name} " not in in_c:
            raise SystemExit(f"docs: {name} has no comment")
    return literal("\n".join(dict.fromkeys(map(lines.get, names))))


def python_pages():
    """A page for each module with public names, and the help of the command."""
    version = re.search(r"CERTREG_VERSION_NUMBER (\d+)", "".join(map(read, HEADERS)))[1]
    library = unittest.mock.MagicMock(**{"certreg_version.return_value": int(version)})
    real = ctypes.CDLL
    with unittest.mock.patch("ctypes.CDLL", lambda name, **_: library if name else real(name)):
        import certreg  # no matter whether the library is built
        from certreg.cli.main import parser

    pages, plain = {"certreg": ".. automodule:: certreg\n"}, []
    for name in certreg.__all__:
        public = getattr(certreg, name)
        if not hasattr(public, "__module__"):
            plain.append(name)
            continue
        page = public.__module__.rpartition(".")[2].strip("_")
        kind, options = ("class", CLASS) if isinstance(public, type) else ("function", "")
        pages[page] = pages.get(page, "") + f".. auto{kind}:: certreg.{name}\n{options}\n"
    pages["regressor"] = f".. autoclass:: certreg.regressor.SmoothedRegressor\n{CLASS}\n"
    pages["constants"] += constants(plain)
    top = parser()
    (commands,) = (a.choices for a in top._actions if isinstance(a, argparse._SubParsersAction))
    pages["command"] = "".join(titled(one.prog, "-") + literal(one.format_help())
                               for one in dict.fromkeys([top, *commands.values()]))
    return pages


def write_source():
    """What Sphinx and Doxygen read. Without the headers: links to them lead to their pages."""
    shutil.rmtree(MADE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "lib", "site")
            shutil.copytree(ROOT / name, SOURCE / name, ignore=ignored)
        else:
            shutil.copyfile(ROOT / name, SOURCE / name)
    for one in HEADERS:
        write(MADE / "include" / "certreg" / one.name, header.seen(one.name, read(one)))
        label = one.name.replace("_", "__").replace(".", "_8")  # as Doxygen refers to it
        write(SOURCE / "c" / f"{one.name}.rst",
              f".. _{label}:\n\n{titled(one.name)}.. doxygenfile:: {one.name}\n")
    for page, text in python_pages().items():
        write(SOURCE / "python" / f"{page}.rst", titled(page) + text)
    write(SOURCE / "index.md", "".join(index()))


def undocumented():
    """Every function, struct, field, enum, enumerator and macro of the headers in C."""
    count = 0
    for file in [*(MADE / "xml").glob("*_8h.xml"), *(MADE / "xml").glob("struct*.xml")]:
        compound = xml.etree.ElementTree.parse(file).find("compounddef")
        if "::" in compound.findtext("compoundname"):
            continue  # in C++
        own = [compound] if compound.get("kind") == "struct" else []
        for one in [*own, *compound.iter("memberdef"), *compound.iter("enumvalue")]:
            count += 1
            name = one.findtext("name") or one.findtext("compoundname")
            said = [one.find("briefdescription"), one.find("detaileddescription")]
            if name not in SAID_ELSEWHERE and not any("".join(s.itertext()).strip() for s in said):
                yield f"{name} has no documentation ({compound.findtext('compoundname')})"
    if count < 300:
        yield f"the headers in C have only {count} names"


def letters(text):
    return re.sub(r"[\W_]+", "", text)


def lost():
    """Lines of comments of the headers that are not in their pages."""
    for one in HEADERS:
        page = read(MADE / "html" / "c" / f"{one.name}.html")
        told = letters(html.unescape(re.sub(r"<[^>]*>", "", page)))
        kind = r"/\*.*?\*/" if one.suffix == ".h" else r"/\*\*.*?\*/"
        for comment in re.findall(kind, read(one), re.S):
            for line in re.sub(r"/\* (====|----).*", "", comment).split("\n"):
                parts = re.split(r"@param +\w+(?:, \w+)*|@\w+", line)
                if any(letters(part) not in told for part in parts):
                    yield f"{one.name}: these words are not in the site: {line.strip()}"


def run_notebooks():
    """Runs the copies of the notebooks, so that their pages show results, if make deps has
    installed what that takes. Returns the name of one that fails."""
    python = ROOT / "lib/deps/venv/bin/python"
    run = [python, "-c", "from nbclient.cli import main; main()", "--inplace"]
    library, ours = ROOT / "lib/libcertreg.so", f"{ROOT / 'python'}:{ROOT / 'lib/deps'}"
    where = {**os.environ, "CERTREG_LIB": str(library), "PYTHONPATH": ours}
    if not library.exists() or subprocess.run([python, "-c", "import nbclient, ipykernel"],
                                              capture_output=True, check=False).returncode:
        print(f"docs: notebooks are shown without results, for want of nbclient in {python}")
        return None
    for path in sorted((SOURCE / "examples/notebooks").glob("*.ipynb")):
        if subprocess.run([*run, path], env=where, check=False).returncode:
            return path.name
    return None


def main():
    missing = [] if shutil.which("doxygen") else ["doxygen"]
    missing += [one for one in NEEDED if not importlib.util.find_spec(one)]
    if missing and sys.executable != DEBIAN and os.access(DEBIAN, os.X_OK):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    if missing:
        return f"docs: {missing[0]} is missing; make deps installs it"
    from sphinx.cmd.build import main as sphinx

    sys.path.insert(0, str(ROOT / "python"))
    write_source()
    if "--notebooks" in sys.argv and (failed := run_notebooks()):
        return f"docs: the notebook {failed} fails"
    doxygen = subprocess.run(["doxygen", "docs/site/Doxyfile"], cwd=ROOT, check=False)
    failed = sphinx(["-q", "-W", "--keep-going", "-c", f"{ROOT}/docs/site", "-d", f"{MADE}/trees",
                     str(SOURCE), f"{MADE}/html"])
    wrong = [*undocumented(), *lost()]
    print(*wrong, sep="\n", end="\n" * bool(wrong), file=sys.stderr)
    if doxygen.returncode or failed or wrong:
        return "docs: the site has the mistakes that are named above"
    print("the site is lib/docs/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
