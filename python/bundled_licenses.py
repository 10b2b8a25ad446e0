"""bundled_licenses.py WHEEL: adds the licenses of what a wheel contains beyond this project: the
libraries that auditwheel copied into it, and those that the modules were linked with statically.

The texts are those of the Debian packages that the libraries come from. Where one is missing, the
script ends with a sentence and leaves the wheel as it is: a wheel without them must not be given to
others."""

from __future__ import annotations

import json
import pathlib
import re
import sys
import zipfile

from auditwheel import wheeltools

DOCS = pathlib.Path("/usr/share/doc")
COMMON = pathlib.Path("/usr/share/common-licenses")
# Inside the modules, where auditwheel does not see it: package, and the file whose presence tells.
STATIC = {
    "liblapacke-dev": "certreg/lib/certreg-0/libcertreg_blas.so",
    "libstdc++6": "certreg/lib/certreg-0/libcertreg_cuda.so",
}
CUDA_RUNTIME = """\
The CUDA module contains NVIDIA's CUDA runtime (libcudart_static) and a function of
cuRAND's headers, which the license of the CUDA Toolkit lets applications contain:
https://docs.nvidia.com/cuda/eula/
"""


def bundled(wheel: zipfile.ZipFile) -> list[str]:
    """The Debian packages, by the list that auditwheel leaves in the wheel."""
    names = wheel.namelist()
    found = {package for package, file in STATIC.items() if file in names}
    for name in names:
        if name.endswith(".cdx.json"):
            components = json.loads(wheel.read(name))["components"]
            found |= {c["name"] for c in components if c["bom-ref"].startswith("pkg:deb/")}
    copied = [name for name in names if re.search(r"\.libs/.+\.so", name)]
    if len(found - set(STATIC)) < len(copied):
        raise SystemExit(f"it is not known from which packages all of these come: {copied}")
    return sorted(found)


def texts(packages: list[str]) -> dict[str, str]:
    """The text of each package, and the licenses that these refer to, by file name."""
    made: dict[str, str] = {}
    for package in packages:
        made[f"{package}.txt"] = (DOCS / package / "copyright").read_text(errors="replace")
    for name in sorted(set(re.findall(rf"{COMMON}/([\w.-]*\w)", "".join(made.values())))):
        made[f"{name}.txt"] = (COMMON / name).read_text()
    return made


def add(path: pathlib.Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        files = texts(bundled(wheel))
        if STATIC["libstdc++6"] in wheel.namelist():
            files["cuda-runtime.txt"] = CUDA_RUNTIME
    with wheeltools.InWheel(path, path) as folder:  # writes RECORD anew
        (metadata,) = folder.glob("*.dist-info/METADATA")
        added = "".join(f"License-File: bundled/{name}\n" for name in sorted(files)).encode()
        ours = b"License-File: LICENSE\n"
        metadata.write_bytes(metadata.read_bytes().replace(ours, ours + added, 1))
        licenses = metadata.parent / "licenses/bundled"
        licenses.mkdir()
        for name, text in files.items():
            (licenses / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        add(pathlib.Path(sys.argv[1]))
    except OSError as error:
        raise SystemExit(f"a license of what the wheel contains is missing: {error}") from None
