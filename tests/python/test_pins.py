"""What make deps, deps-real and deps-all let pip install is named file by file."""

import re

import pytest
from kit import root

SETS = sorted(p.parent for p in root.glob("*/*/packages.txt"))


def wanted(folder):
    """name: the beginning of its version, as "4." of "lightgbm==4.*"."""
    lines = (folder / "packages.txt").read_text().splitlines()
    asked = [re.sub(r"\[.*\]", "", line).split("==") for line in lines if line[:1] not in "#"]
    return {name: version.rstrip("*") for name, version in asked}


def pinned(folder):
    """name: its version, and the hashes of its files."""
    entries = (folder / "pins.txt").read_text().replace("\\\n", "").splitlines()
    for entry in entries:
        if not entry.startswith("#"):
            pin, *hashes = entry.split()
            name, version = pin.split("==")
            yield name, (version, hashes)


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_pins_are_those_of_the_packages(folder):
    pins = dict(pinned(folder))
    for name, version in wanted(folder).items():
        assert pins[name][0].startswith(version), f"{folder}/packages.txt was edited: make pins"
    for name, (_, hashes) in pins.items():
        assert hashes and all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", h) for h in hashes), name


def test_recipes_install_nothing_else():
    recipes = "".join((root / name).read_text() for name in ("Makefile", "python/python.mk"))
    installs = re.findall(r"pip install .*", recipes)
    assert len(SETS) == 3 and len(installs) == 2
    for line in installs:
        assert "--no-deps --require-hashes" in line, line
