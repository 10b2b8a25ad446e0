"""sbom.py VERSION WHEEL TIME: prints the bill of materials of a release, in CycloneDX: what the
wheel contains beyond this project, as Debian's packages have it, and what a user may add."""

from __future__ import annotations

import datetime
import pathlib
import subprocess
import sys
import tomllib
import uuid
import zipfile

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import bundled_licenses  # noqa: E402

INSIDE = "bundled in the wheel"
# What the modules need that make install puts beside the library, and what examples need.
ADDED = {
    "libopenblas": "linked by the module libcertreg_blas",
    "liblapacke": "linked by the module libcertreg_blas",
    "libcublas": "linked by the module libcertreg_cuda",
    "torch": "called by examples, and to train denoisers",
}


REQUIRED, OPTIONAL = ComponentScope.REQUIRED, ComponentScope.OPTIONAL


def part(name: str, scope: ComponentScope, about: str, version: str = "", kind: str = ""):
    url = PackageURL(*kind.split("/"), name=name, version=version or None) if kind else None
    return Component(
        name=name, version=version or None, type=ComponentType.LIBRARY, scope=scope, purl=url,
        description=about, bom_ref=f"{name} {about}",
    )  # fmt: skip


def debian(package: str) -> Component:
    """A package that the wheel contains, in the version of this machine, which built it."""
    command = ["dpkg-query", "-W", "-f", "${Version}", package]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return part(package, REQUIRED, INSIDE, version, "deb/debian")


def parts(wheel: zipfile.ZipFile) -> list[Component]:
    found = [debian(package) for package in bundled_licenses.bundled(wheel)]
    if bundled_licenses.STATIC["libstdc++6"] in wheel.namelist():
        found += [part(name, REQUIRED, f"{INSIDE}, partly") for name in ("cudart", "curand")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in project["dependencies"]:
        found.append(part(name, REQUIRED, "not bundled: Python", kind="pypi/"))
    for name in project["optional-dependencies"]["all"]:
        name = name.partition(">")[0]
        found.append(part(name, OPTIONAL, "not bundled: an extra", kind="pypi/"))
    return found + [part(name, OPTIONAL, f"not bundled: {about}") for name, about in ADDED.items()]


version, wheel, time = sys.argv[1:]
bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"libcertreg {version} {time}"))
bom.metadata.timestamp = datetime.datetime.fromtimestamp(int(time), datetime.timezone.utc)
bom.metadata.component = whole = Component(
    name="libcertreg", version=version, type=ComponentType.LIBRARY, bom_ref="libcertreg",
    licenses=[DisjunctiveLicense(id="MIT")],
)  # fmt: skip
with zipfile.ZipFile(wheel) as opened:
    bom.components.update(parts(opened))
bom.register_dependency(whole, bom.components)
print(JsonV1Dot6(bom).output_as_string(indent=2))
