"""The inputs that are kept for a fuzzer: a line of tests/fuzz/corpus/NAME.hex is one of them, in
hexadecimal digits. What once violated a condition has a "!" before it, and stays.

    corpus.py unpack NAME FOLDER   writes each input to a file of a folder
    corpus.py pack NAME FOLDER     keeps the files of a folder, and the lines with "!"
    corpus.py add NAME FILE        keeps a file that violated a condition
"""

import hashlib
import pathlib
import sys

CORPORA = pathlib.Path(__file__).parent / "corpus"


def lines(name: str) -> list[str]:
    path = CORPORA / f"{name}.hex"
    return path.read_text().splitlines() if path.exists() else []


def write(name: str, kept: list[str]) -> None:
    """The shortest inputs first, so that the same ones make the same file."""
    mended = {line for line in kept if line.startswith("!")}
    others = {line for line in kept if "!" + line not in mended} - mended
    both = sorted(mended | others, key=lambda line: (len(line), line))
    (CORPORA / f"{name}.hex").write_text("".join(line + "\n" for line in both))


def unpack(name: str, folder: pathlib.Path) -> None:
    for line in lines(name):
        data = bytes.fromhex(line.removeprefix("!"))
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(name: str, folder: pathlib.Path) -> None:
    found = [path.read_bytes().hex() for path in folder.iterdir()]
    write(name, found + [line for line in lines(name) if line.startswith("!")])
    print(f"ok {name}: {len(lines(name))} inputs kept")


def add(name: str, file: pathlib.Path) -> None:
    write(name, [*lines(name), "!" + file.read_bytes().hex()])


if len(sys.argv) != 4 or sys.argv[1] not in ("unpack", "pack", "add"):
    sys.exit(__doc__)
{"unpack": unpack, "pack": pack, "add": add}[sys.argv[1]](sys.argv[2], pathlib.Path(sys.argv[3]))
