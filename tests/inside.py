"""Links objects into a shared library that hides nothing, for programs that see the inside.

    inside.py COMPILER FLAGS... OBJECTS... LIBRARIES... -o LIBRARY

The machine code is that of the released libraries: the objects are made one, and of that one the
visibility of each symbol is set to default, which no linker option does for hidden ones.
"""

import pathlib
import struct
import subprocess
import sys

SYMBOL_TABLE, SYMBOL_BYTES = 2, 24  # of ELF with 64 bits


def expose(path: pathlib.Path) -> None:
    """Gives every symbol of an object that is not local the default visibility."""
    data = bytearray(path.read_bytes())
    if data[:5] != b"\x7fELF\x02":
        sys.exit(f"{path}: not an object of ELF with 64 bits")
    order = "<" if data[5] == 1 else ">"
    (sections,) = struct.unpack_from(order + "Q", data, 40)
    each, count = struct.unpack_from(order + "HH", data, 58)
    for section in range(sections, sections + each * count, each):
        (kind,) = struct.unpack_from(order + "I", data, section + 4)
        start, size = struct.unpack_from(order + "QQ", data, section + 24)
        if kind == SYMBOL_TABLE:
            for symbol in range(start, start + size, SYMBOL_BYTES):
                if data[symbol + 4] >> 4:  # its binding; its visibility is 2 bits of the next byte
                    data[symbol + 5] &= 0xFC
    path.write_bytes(data)


def main() -> None:
    *command, flag, library = sys.argv[1:]
    if flag != "-o":
        sys.exit(__doc__)
    objects = [part for part in command if part.endswith(".o")]
    begin = command.index(objects[0])
    compiler, libraries = command[:begin], command[begin + len(objects) :]
    one = pathlib.Path(library + ".o")
    subprocess.run([*compiler, "-r", "-nostdlib", *objects, "-o", str(one)], check=True)
    expose(one)
    link = [*compiler, "-shared", "-Wl,-Bsymbolic", str(one), *libraries, "-o", library]
    subprocess.run(link, check=True)
    one.unlink()


main()
