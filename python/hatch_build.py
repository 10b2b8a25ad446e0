"""The hook by which hatchling builds the library when the package is installed.

For a wheel the library is built in a temporary folder. So the sources may be read-only, and another
make may be running in them. An editable installation uses the library in the repository's lib/."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = pathlib.Path(__file__).resolve().parents[1]
OURS = ("Makefile", "bench", "docs", "examples", "include", "pkgconfig", "python", "src", "tests")


def certreg_version() -> str:
    """That of the header as Python writes it, such as 0.2.0 or 0.2.0.dev0 for 0.2.0-dev."""
    header = (ROOT / "include/certreg/certreg.h").read_text(encoding="utf-8")
    found = re.search(r"  Version (\S+)$", header, re.MULTILINE)
    if not found:
        raise ValueError("include/certreg/certreg.h does not say its version")
    return found[1].replace("-dev", ".dev0")


def make(folder: pathlib.Path, **more: str) -> None:
    """Runs `make shared` in this folder, without the settings of a make that may have started this
    program."""
    compiler = os.environ.get("CC", "cc").split()[0]
    missing = [tool for tool in ("make", "bash", compiler) if not shutil.which(tool)]
    if missing:
        sys.exit(
            f"certreg is built from C sources, and {' and '.join(missing)} cannot be found; "
            "install make, bash and a C compiler (Debian: apt-get install make gcc libc6-dev)"
        )
    environment = {**os.environ, **more}
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    if subprocess.run(["make", "-s", "shared"], cwd=folder, env=environment).returncode:
        sys.exit("the library of certreg could not be built; see the messages of make above")


class Library(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the library and its modules to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        platform = re.sub("[.-]", "_", sysconfig.get_platform())
        build_data.update(pure_python=False, tag=f"py3-none-{platform}")
        given = os.environ.get("CERTREG_LIBRARY")  # for another platform, by python/wheels.sh
        if given:
            build_data["tag"] = f"py3-none-{os.environ['CERTREG_PLATFORM']}"
            name = pathlib.Path(given).name
            build_data["force_include"][given] = f"certreg/lib/{name}"
            return
        if version == "editable":
            make(ROOT)
            return
        self.folder = tempfile.TemporaryDirectory()  # used until the wheel is written
        folder = pathlib.Path(self.folder.name)
        for name in OURS:
            (folder / name).symlink_to(ROOT / name)
        make(folder, LDFLAGS=os.environ.get("LDFLAGS", "") + " -s")
        library = f"libcertreg.so.{certreg_version().split('.')[0]}"
        inside = build_data["force_include"]
        inside[str(folder / "lib" / library)] = f"certreg/lib/{library}"
        for module in (folder / "lib/certreg-0").glob("*.so"):
            inside[str(module)] = f"certreg/lib/certreg-0/{module.name}"
