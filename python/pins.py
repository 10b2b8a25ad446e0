"""pins.py: writes pins.txt beside each packages.txt: the newest versions that fit it, with the
SHA-256 of each file that pip may choose of them, which is all that make deps, deps-real and
deps-all install. Run it by the oldest Python that they support: it chooses the versions."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile

SETS = {"examples/engines": ["--no-deps"], "examples/real": ["--no-deps"], "tests/python": []}
PYTHONS = [(3, minor) for minor in range(11, 15)]
MACHINES = ["x86_64", "aarch64"]
GLIBC = range(36, 4, -1)  # of Debian 12 and before
HEAD = "# Written by make pins, from packages.txt: change that.\n"


def files(wanted: pathlib.Path, options: list[str], pins: str) -> dict[str, str]:
    """What pip would install: the hash of each "name==version"."""
    with tempfile.TemporaryDirectory() as folder:
        report, fixed = pathlib.Path(folder, "report"), pathlib.Path(folder, "fixed")
        fixed.write_text(pins)
        pip = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed"]
        given = [*options, "-r", str(wanted), "-c", str(fixed), "--report", str(report)]
        subprocess.run(pip + given, check=True)
        found = json.loads(report.read_text())["install"]
    return {
        f"{f['metadata']['name']}=={f['metadata']['version']}": f["download_info"]["archive_info"][
            "hashes"
        ]["sha256"]
        for f in found
    }


def write(folder: pathlib.Path, options: list[str]) -> None:
    hashes: dict[str, set[str]] = {}
    for python in PYTHONS:
        for machine in MACHINES:
            tags = ["--platform=any"] + [f"--platform=manylinux_2_{n}_{machine}" for n in GLIBC]
            tags += [f"--platform=manylinux{n}_{machine}" for n in (2014, 2010, 1)]
            on = ["--python-version=%d.%d" % python, "--only-binary=:all:", "--target=none", *tags]
            chosen = files(folder / "packages.txt", [*options, *on], "\n".join(hashes))
            for name, digest in chosen.items():
                hashes.setdefault(name, set()).add(digest)
    lines = (
        name + "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(hashes[name]))
        for name in sorted(hashes, key=str.lower)
    )
    (folder / "pins.txt").write_text(HEAD + "\n".join(lines) + "\n")


if sys.version_info[:2] != PYTHONS[0]:
    sys.exit("pins.py: run it by Python %d.%d: make pins PYTHON=python3.11" % PYTHONS[0])
root = pathlib.Path(__file__).resolve().parent.parent
for name, options in SETS.items():
    write(root / name, options)
