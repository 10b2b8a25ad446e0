"""wheels.py: checks the wheels that make wheels has written to dist/: name, tag, size, contents,
RECORD, and the processor and system of the library inside. The one of this machine certifies; a
program runs with the library of the aarch64 one where an emulator is installed."""

from __future__ import annotations

import base64
import csv
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# platform: the library's name, its first bytes, and those that name the processor, with their place
WHEELS = {
    "manylinux_2_28_x86_64": ("libcertreg.so.0", b"\x7fELF", (18, b"\x3e\0")),
    "manylinux_2_28_aarch64": ("libcertreg.so.0", b"\x7fELF", (18, b"\xb7\0")),
    "macosx_11_0_arm64": ("libcertreg.0.dylib", b"\xcf\xfa\xed\xfe", (4, b"\x0c\0\0\1")),
    "macosx_11_0_x86_64": ("libcertreg.0.dylib", b"\xcf\xfa\xed\xfe", (4, b"\x07\0\0\1")),
    "win_amd64": ("libcertreg.dll", b"MZ", (None, b"PE\0\0\x64\x86")),
}
EXAMPLE = "within 0.5 of 0.870862 for every shift below 0.407213"
DENOISED = """
import numpy as np, certreg
try:
    certreg.Denoised(lambda x: x[:, 0], np.eye(3), 1)
except certreg.CertregError as error:
    print(error)
"""
bad = 0


def tell(name: str, wrong: object) -> None:
    """Prints `ok`, or what is wrong."""
    global bad
    bad |= bool(wrong)
    print(f"not ok {name}: {wrong}" if wrong else f"ok {name}")


def unlike_record(wheel: zipfile.ZipFile) -> list[str]:
    """Returns the files that RECORD lacks, has too many or has with another hash or size."""
    (record,) = (name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
    found = [[record, "", ""]]
    for name in set(wheel.namelist()) - {record}:
        digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode()
        found.append([name, "sha256=" + digest.rstrip("="), str(len(wheel.read(name)))])
    rows = list(csv.reader(wheel.read(record).decode().splitlines()))
    return sorted(row[0] for row in found + rows if found.count(row) != 1 or rows.count(row) != 1)


def check(path: pathlib.Path, platform: str) -> None:
    library, magic, (place, processor) = WHEELS[platform]
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (about,) = (name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
        tags = [line for line in wheel.read(about).decode().splitlines() if line.startswith("Tag")]
        inside = {name for name in names if not name.endswith((".py", "py.typed"))}
        wanted = {f"certreg/lib/{library}"}
        code = wheel.read(f"certreg/lib/{library}") if inside == wanted else b""
        sources = {str(p.relative_to(ROOT / "python")) for p in ROOT.glob("python/certreg/**/*.py")}
        tell(f"{platform}: RECORD", unlike_record(wheel))
        tell(f"{platform}: its tag", tags != [f"Tag: py3-none-{platform}"] and tags)
        tell(f"{platform}: the package and {library} alone", (inside ^ wanted) | (sources - names))
    at = int.from_bytes(code[60:64], "little") if place is None else place
    right = code.startswith(magic) and code[at : at + len(processor)] == processor
    tell(f"{platform}: the library is for it", "" if right else code[:20])
    size = path.stat().st_size
    tell(f"{platform}: at most 1 MB", size > 1e6 and size)


def native(path: pathlib.Path, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        wheel.extractall(folder)

    def run(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, *arguments],
            env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
        ).stdout.strip()

    said = run(str(ROOT / "examples/python/example.py"))
    tell("the wheel of this machine: README's example", said != EXAMPLE and said)
    said = run("-c", DENOISED)
    named = "libcertreg_blas.so, OpenBLAS and LAPACKE; install them" in said
    tell("its denoiser names what to install", "" if named else said or "nothing")


def emulated(path: pathlib.Path, folder: pathlib.Path) -> None:
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    missing = [tool for tool in (compiler, emulator) if not shutil.which(tool)]
    if missing:
        print(f"skip the library for aarch64: there is no {missing[0]}")
        return
    with zipfile.ZipFile(path) as wheel:
        library = wheel.extract("certreg/lib/libcertreg.so.0", folder)
    program = folder / "quickstart"
    built = [compiler, ROOT / "examples/quickstart.c", f"-I{ROOT}/include", library, "-lm"]
    subprocess.run([*built, "-o", program], check=True)
    search = f"LD_LIBRARY_PATH={folder}/certreg/lib"
    said = subprocess.run(
        [emulator, "-L", "/usr/aarch64-linux-gnu", "-E", search, program],
        capture_output=True,
        text=True,
    ).stdout.strip()
    tell("the library for aarch64, emulated: quickstart", said != EXAMPLE and (said or "nothing"))


version = sys.argv[1]
paths = {p: ROOT / "dist" / f"certreg-{version}-py3-none-{p}.whl" for p in WHEELS}
for one, file in paths.items():
    if file.exists():
        check(file, one)
    else:
        tell(f"{one}: there is a wheel", f"{file} is missing")
with tempfile.TemporaryDirectory() as made:
    if sys.platform == "linux" and not bad:
        native(paths["manylinux_2_28_x86_64"], pathlib.Path(made, "native"))
        emulated(paths["manylinux_2_28_aarch64"], pathlib.Path(made, "emulated"))
sys.exit(bad)
