"""build.py: writes the site to lib/docs/html: the pages and figures of the repository, the
reference of the headers by Doxygen, and that of the Python package. Ends with a failure if Doxygen
warns, if something public has no documentation, if a link leads nowhere, or if text was lost."""

import html
import shutil
import subprocess
import sys

import check
import header
import page
import python_pages
import tree

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>$title - libcertreg</title>
<link href="$relpath^$stylesheet" rel="stylesheet"/>
</head>
<body>
<input type="checkbox" id="menu"/>
<header><a href="index.html">libcertreg {version}</a> <label for="menu">Contents</label></header>
<nav>
{contents}
</nav>
<main>
<div id="top">
"""


def entry(title, place):
    return f'<li><a href="{place}">{html.escape(title.replace("`", ""))}</a></li>'


def entries(title, pages):
    yield f"<p>{title}</p>\n<ul>"
    yield from (entry(tree.title_of(page), f"{tree.page_id(page)}.html") for page in pages)
    yield "</ul>"


def contents():
    """The table of contents that every page has."""
    yield from entries("Guide", tree.chapter("guide"))
    yield "<p>Reference</p>\n<ul>"
    for public in tree.HEADERS:
        yield entry(public.name, tree.file_of(public))
        titles = tree.groups(public)
        if titles:
            yield "<li><ul>"
            yield from (entry(title, tree.group_file(title)) for title in titles)
            yield "</ul></li>"
    yield entry("All names in C", "globals.html")
    yield "</ul>"
    yield from entries("Python and command", tree.generated())
    yield from entries("Theory", tree.chapter("theory"))
    yield from entries("Project", tree.project())


def write_input():
    folder = tree.MADE / "input"
    shutil.rmtree(tree.MADE, ignore_errors=True)
    folder.mkdir(parents=True)
    python_pages.write(folder)
    head = HEAD.format(version=tree.version(), contents="\n".join(contents()))
    (folder / "header.html").write_text(head, encoding="utf-8")
    files = []
    for file in [*tree.written(), *tree.generated(), *tree.HEADERS]:
        seen = page.seen(file) if file.suffix == ".md" else header.seen(file)
        target = folder / "seen" / tree.relative(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(seen, encoding="utf-8")
        files.append(tree.relative(target))
    settings = [f"INPUT = {' '.join(files)}", f"PROJECT_NUMBER = {tree.version()}"]
    (folder / "Doxyfile").write_text("\n".join(settings) + "\n", encoding="utf-8")


def copy_files():
    """What pages refer to: files as they are, and of folders a list of what they contain."""
    for place, file in tree.copied().items():
        target = tree.HTML / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            names = sorted(one.name for one in file.iterdir())
            target.write_text("\n".join(names) + "\n", encoding="utf-8")
        elif file.is_file():  # else check.links finds a link to nowhere
            shutil.copyfile(file, target)


def mark_current():
    """In the table of contents of each page, the page itself is marked."""
    for file in tree.HTML.glob("*.html"):
        link = f'<li><a href="{file.name}"'
        text = tree.read(file).replace(link, f'{link} aria-current="page"', 1)
        file.write_text(text, encoding="utf-8")


def main():
    if not shutil.which("doxygen"):
        return "docs: doxygen is missing; make deps installs it (Debian: apt-get install doxygen)"
    write_input()
    doxygen = subprocess.run(["doxygen", "docs/site/Doxyfile"], cwd=tree.ROOT, check=False)
    copy_files()
    mark_current()
    checks = (check.documented, check.links, check.pages, check.headers)
    wrong = [sentence for one in checks for sentence in one()]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    if doxygen.returncode or wrong:
        warned = ", and those of which Doxygen warns" if doxygen.returncode else ""
        return f"docs: {len(wrong)} mistakes{warned}"
    (tree.MADE / "whole").touch()  # what installs the site asks for this file
    print(f"the site is {tree.relative(tree.HTML)}/index.html")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("docs: interrupted; the next run begins anew")
    except OSError as why:
        sys.exit(f"docs: {why}; make lib/docs writable, or make room there")
