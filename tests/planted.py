#!/usr/bin/env python3
"""planted.py FOLDER [PATTERN]: plants each fault of planted.tsv (whose line fits) in a copy of the
sources, and demands that the test which it names fails by it. From make planted."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = "Makefile bench docs examples include pkgconfig python src tests".split()


def verdict(copy: pathlib.Path, program: str) -> str:
    """What the test says: ok, FAILED, or nothing if it cannot be built."""
    command = ["make", "-s", "-C", str(copy), "test", f"NAME={program}", "WERROR=", "NVCC="]
    alone = os.environ | {"MAKEFLAGS": ""}
    said = subprocess.run(command, capture_output=True, text=True, env=alone)
    words = [line.split()[0] for line in said.stdout.splitlines() if f" {program} " in line]
    return words[-1] if words else said.stderr


def main() -> None:
    copy = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(copy, ignore_errors=True)
    for part in PARTS:
        source, to = ROOT / part, copy / part
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, to) if source.is_dir() else shutil.copy2(source, to)
    lines = (ROOT / "tests/planted.tsv").read_text(encoding="utf-8").splitlines()[1:]
    wanted = re.compile(sys.argv[2] if sys.argv[2:] else "")
    faults = [line.split("\t") for line in lines if wanted.search(line)]
    missed = 0
    for program in sorted({fault[4] for fault in faults}):
        if verdict(copy, program) != "ok":
            sys.exit(f"not ok {program} fails without a fault: {verdict(copy, program)}")
    for name, file, text, faulty, program in faults:
        path = copy / file
        right = path.read_text(encoding="utf-8")
        if right.count(text) != 1:
            sys.exit(f"not ok {name}: {file} has {right.count(text)} times {text}")
        path.write_text(right.replace(text, faulty), encoding="utf-8")
        found = verdict(copy, program)
        path.write_text(right, encoding="utf-8")
        missed += found != "FAILED"
        print(f"{'' if found == 'FAILED' else 'not '}ok {name}: {program} says {found}", flush=True)
    print(f"{len(faults) - missed} of {len(faults)} planted faults found")
    sys.exit(missed != 0)


if __name__ == "__main__":
    main()
