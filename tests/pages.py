"""pages.py: the commands of README, CONTRIBUTING and the guide. Those of RUN are fast and need
neither network nor root: they are run, with a temporary HOME. CHECKED gives the reason why others
are not; their make targets and variables, options and files have to exist."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from certreg.cli.main import parsed  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
RUN = r"make($| (&& make )?(un)?install .*\$[HP]| test NAME=['\w]| help)|(export|cc|g\+\+|\(umask) "
CHECKED = {  # the reason, and the sources that have the options
    r"make ": ("needs a network, root, a device or minutes, or writes outside of lib", ""),
    r"cmake ": ("tests/consumers/cmake.sh", ""),
    r"conan ": ("needs Conan", ""),
    r"certreg ": ("needs the reader's files; the parser takes the options", ""),
    r"(LD_PRELOAD=\S+ )?certify ": ("tests/engines/certify.sh", "examples/engines/*.c"),
    r"sbatch ": ("needs Slurm; tests/python/test_resume.py", "examples/cluster/*"),
    r"mpirun ": ("needs Open MPI; tests/mpi/jobs.sh", "examples/mpi/*.c"),
    r"lib/\S+/misses ": ("may have been built several times", "tests/misses/*.c"),
    r"pip |python3 ": ("tests/wheel.sh; tests/python/test_pages.py", ""),
}
COMMAND = "|".join([RUN, *CHECKED])


def shown(page):
    """Indented commands, joined to their continuations, without comments; and `make ...`."""
    text = page.read_text("utf-8")
    plain = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M).replace("\\\n", " ")
    for line in re.finditer(rf"^ {{4}}(?:\$ )?((?:{COMMAND}).*?)(?:\s+# .*)?$", plain, re.M):
        yield re.sub(r"\s+", " ", line[1])
    yield from re.findall(r"`(make [^`<]+)`", re.sub(r"\n\s*", " ", text))


def lacking(command, sources, targets, makefiles):
    words = shlex.split(command.partition(" && ")[0])
    for name, given, _ in (word.partition("=") for word in words[1:] if words[0] == "make"):
        read = re.search(rf"\$\(?{name}\b|\b{name} \?=", makefiles) if given else name in targets
        yield from [] if read else [f"make knows no {name}"]
    code = "".join(file.read_text("utf-8") for file in ROOT.glob(sources or "LICENSE"))
    for word in words:
        lost = sources and word[:2] == "--" and not re.search(rf"{word}\b", code)
        if lost or (re.search(r"\.(slurm|py)$", word) and not [*ROOT.glob(f"**/{word}")]):
            yield f"there is no {word}"
    if words[0] == "certreg" and "..." not in words:
        try:
            parsed(words[1:])
        except SystemExit:
            yield "it refuses these options"


def fault(command, home, *known):
    """What is wrong with a command; "" if it runs, or if all that it names exists."""
    if not re.match(RUN, command):
        sources = next(about[1] for begin, about in CHECKED.items() if re.match(begin, command))
        return "; ".join(lacking(command, sources, *known))
    line = command.replace("/home/you", home).replace("$PWD", home)
    line = re.sub(r" (examples/)?(quickstart|program)\.c", f" {ROOT}/examples/quickstart.c", line)
    flags = re.sub(r" ?--jobserver-\w+=\S*|(^| )-j\d*", "", os.environ.get("MAKEFLAGS", ""))
    more = {"HOME": home, "MAKEFLAGS": flags, "PKG_CONFIG_PATH": home + "/.local/lib/pkgconfig"}
    done = subprocess.run(["bash", "-c", line], env={**os.environ, **more}, text=True,
                          cwd=ROOT if line[:4] == "make" else home, capture_output=True)
    return f"status {done.returncode}: {done.stdout}{done.stderr}" if done.returncode else ""


def main():
    made = subprocess.run(["make", "-qp", "none"], cwd=ROOT, capture_output=True, text=True).stdout
    targets = re.findall(r"^([a-z][\w.-]*):(?!=)", re.sub("# Not a target:\n.*", "", made), re.M)
    makefiles = "".join(file.read_text() for file in [ROOT / "Makefile", *ROOT.glob("*/**/*.mk")])
    every = dict.fromkeys((page.name, one) for page in PAGES for one in shown(page))
    with tempfile.TemporaryDirectory() as home:
        faults = [one[-3:] != "..." and fault(one, home, targets, makefiles) for _, one in every]
    for (page, command), wrong in zip(every, faults):
        print(f"not ok {page}: {command}: {wrong}" if wrong else f"ok {page}: {command}")
    return any(faults)


if __name__ == "__main__":
    sys.exit(main())
