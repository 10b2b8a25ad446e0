"""What the examples share: files of packages, plots, and how a program ends."""

import argparse
import importlib.util
import pathlib
import sys

try:
    from certreg import CertregError, RowsError
except ImportError as error:
    sys.exit(f"{error}; make deps installs what is missing")

JOBS = {"--jobs": {"type": int, "default": 0, "help": "processes; 0: one for each processor"}}
WIDTH = 5.2  # inches of a plot, in which letters of 10 points are legible on a telephone
PLOT = {"--plot": {"type": pathlib.Path, "metavar": "FILE", "help": "to write: .svg, .png, .pdf"}}


def file_of(package, *names):
    """A file in a package, which is not imported: it would need others."""
    found = importlib.util.find_spec(package)
    for folder in found.submodule_search_locations or () if found else ():
        path = pathlib.Path(folder).joinpath(*names)
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"there is no {package} with {'/'.join(names)}: make real finds what make deps-real "
        "installs into lib/deps/real; if that folder is there, remove it, so that it is made again"
    )


def save(figure, path):
    """Writes a plot; an SVG with text as text, and the same every time."""
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "certreg"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def above_0(text):
    """A whole number above 0, for argparse."""
    if int(text) < 1:
        raise ValueError
    return int(text)


def main(doc, arguments, run, words=None):
    """Runs a program with its options, arguments of add_argument. Where something is missing or
    wrong, the program ends with a sentence."""
    parser = argparse.ArgumentParser(description=doc.partition("\n\n")[0])
    for name, how in arguments.items():
        parser.add_argument(name, **how)
    try:
        run(parser.parse_args(words))
    except ImportError as error:
        sys.exit(f"{error}; make deps deps-real installs what is missing")
    except (CertregError, OSError, RowsError, ValueError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted")
