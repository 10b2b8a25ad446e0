"""Mutation: each chosen edit of sites.py is compiled, and tests have to fail. From make mutants.

Which test runs which line is measured once, by gcov. Of a mutant those tests are run that reach its
line (of a constant: its file), the quickest first, until one fails or takes ten times its time. One
that passes them all survives. It is a mistake in the tests, or it is listed with a reason in
survivors.txt, whose entries are not tried again. Edits that compile to the same code, or not at
all, are not counted.

From the Makefile: OBJ, JOBS, PYTHON; COMPILE and LIBRARY are the commands that compile one file and
link the library, INSIDE is what programs that see the inside are linked with, OBJECTS what the
static library is made of. lib/mutants.csv has a line of every mutant.
"""

import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import sites

ROOT = pathlib.Path(__file__).resolve().parents[2]
OBJ = ROOT / os.environ.get("OBJ", "lib/.obj/none")
PYTHON = os.environ.get("PYTHON", "")
PYTEST = [PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
PYTHON_TESTS = ["attacks", "baselines", "certify", "intervals", "questions", "solver", "vectors"]
FORKS = {"api_misuse_fork"}  # what runs in a child that ends by _exit is not counted
SURVIVORS = ROOT / "tests/mutants/survivors.txt"
REACH = ROOT / "lib/mutants-reach.json"
LONGEST = float(os.environ.get("LONGEST") or 300)  # seconds of a test that is used
MOST = 300.0  # and of one whose lines are counted
MEMORY = 16 << 30  # bytes that a mutant may take


# ---- programs
def tests() -> dict[str, list[str]]:
    """The commands of all tests, by name."""
    programs = [p for p in sorted((OBJ / "tests").iterdir()) if p.is_file() and not p.suffix]
    found = {p.name: [str(p)] for p in programs}
    found["golden"] = ["bash", "tests/golden/compare.sh", str(OBJ / "tests/golden/golden")]
    if PYTHON:
        found |= {f"python {t}": [*PYTEST, f"tests/python/test_{t}.py"] for t in PYTHON_TESTS}
    return found


def run(ask: list[str], libraries: pathlib.Path, seconds: float, **more: str) -> int:
    path = pathlib.Path(ask[0])
    if path.parent == OBJ / "tests" and not path.name.startswith(("api_", "unit_without")):
        made = path.with_name(f"{path.name}.{libraries.parent.name}{libraries.name}")
        parts = [*command("COMPILE"), f"{path}.o", *command("INSIDE"), "-o", str(made)]
        parts = [str(libraries / "libinside.a") if part == "ARCHIVE" else part for part in parts]
        try:
            more_flags = ["--coverage"] if more else []
            if subprocess.run([*parts, *more_flags], cwd=ROOT, capture_output=True).returncode:
                return 1
            return run_made([str(made)], libraries, seconds, more)
        finally:
            made.unlink(missing_ok=True)
    return run_made(ask, libraries, seconds, more)


def run_made(
    ask: list[str], libraries: pathlib.Path, seconds: float, more: dict[str, str]
) -> int:
    """The status of a test with the libraries of a folder; 124 if it took longer."""
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(libraries),
        "CERTREG_LIB": str(libraries / "libcertreg.so"),
        "PYTHONPATH": ":".join(str(ROOT / f) for f in ("python", "lib/deps")),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    process = subprocess.Popen(
        ask,
        cwd=ROOT,
        env=environment | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        kill(process.pid)
        process.wait()
        return 124


def kill(process: int) -> None:
    """With all that it has started: Check gives each test a group of processes of its own."""
    os.kill(process, signal.SIGSTOP)
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue  # it has ended
        if parent == process:
            kill(int(path.parent.name))
    os.kill(process, signal.SIGKILL)


# ---- objects and libraries
def command(name: str) -> list[str]:
    return shlex.split(os.environ[name])


def compiled(source: pathlib.Path, output: pathlib.Path, *more: str) -> bool:
    parts = command("COMPILE")
    output.parent.mkdir(parents=True, exist_ok=True)
    ask = [parts[0], *more, *parts[1:], "-w", "-c", str(source), "-o", str(output)]
    return subprocess.run(ask, cwd=ROOT, capture_output=True).returncode == 0


def linked(folder: pathlib.Path, objects: dict[str, pathlib.Path], *more: str) -> bool:
    """libinside.a and libcertreg.so in a folder, of our objects in place of the usual ones."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [str(objects.get(part, part)) for part in command("LIBRARY")]
    library = [*parts, *more, "-o", str(folder / "libcertreg.so")]
    usual = [str(objects.get(part, part)) for part in command("OBJECTS")]
    for ask in (library, ["ar", "rcs", str(folder / "libinside.a"), *usual]):
        if subprocess.run(ask, cwd=ROOT, capture_output=True).returncode != 0:
            return False
    (folder / "libcertreg.so.0").symlink_to("libcertreg.so")
    for module in ("certreg",):
        (folder / module).symlink_to(OBJ / module)
    return True


def object_of(source: str) -> str:
    """As the commands name it."""
    return f"{OBJ.relative_to(ROOT)}/{source[:-2]}.o"


def users_of(file: str) -> list[str]:
    """The sources that a change of a file compiles again."""
    if file.endswith(".c"):
        return [file]
    found = []
    for room in sites.ROOMS:
        for path in (OBJ / "src" / room).glob("*.d"):
            if file in path.read_text().split():
                found.append(f"src/{room}/{path.stem}.c")
    return sorted(found)


# ---- which test reaches which line
Lines = dict[str, set[int]]


class Reach:
    """The lines with code, of each file; and of each test those that it runs, and its seconds."""

    def __init__(self, kept: dict) -> None:
        self.code = {file: sorted(lines) for file, lines in kept["code"].items()}
        self.ran = {
            test: {file: set(lines) for file, lines in ran.items()}
            for test, ran in kept["ran"].items()
            if kept["seconds"][test] <= LONGEST
        }
        self.seconds: dict[str, float] = kept["seconds"]

    def tests_of(self, site: sites.Site) -> list[str]:
        """Those that run the statement before or at the site; of a constant all of its file."""
        before = [line for line in self.code.get(site.file, []) if line <= site.line]
        files = [site.file] if site.file.endswith(".c") else users_of(site.file)
        if site.kind == "constant" or not before:
            return [t for t, ran in self.ran.items() if any(ran.get(f) for f in files)]
        file = {test: ran.get(site.file, set()) for test, ran in self.ran.items()}
        reach = [t for t, ran in file.items() if before[-1] in ran or t in FORKS]
        return reach or [t for t, ran in file.items() if ran]


def digest_of_sources() -> str:
    digest = hashlib.sha256(str([MOST, sorted(tests())]).encode())
    for folder in ("include", "src", "tests"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def lines_of(folder: pathlib.Path) -> tuple[Lines, Lines]:
    """By gcov, of one test: lines with code, and those that were run."""
    found = [str(p) for p in folder.rglob("*.gcda")]
    code: Lines = collections.defaultdict(set)
    ran: Lines = collections.defaultdict(set)
    if not found:
        return code, ran
    ask = ["gcov", "--json-format", "--stdout", *found]
    said = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True).stdout
    for part in filter(None, said.split("\n")):
        for file in json.loads(part)["files"]:
            name = os.path.relpath(ROOT / file["file"], ROOT)
            for line in file["lines"]:
                code[name].add(line["line_number"])
                if line["count"]:
                    ran[name].add(line["line_number"])
    return code, ran


def measure(jobs: int, scratch: pathlib.Path) -> Reach:
    """Runs every test once, with libraries that count."""
    paths = [path for room in sites.ROOMS for path in (ROOT / "src" / room).glob("*.c")]
    sources = [str(path.relative_to(ROOT)) for path in paths]
    objects = {object_of(s): scratch / "counted" / (s[:-2] + ".o") for s in sources}
    count = ["--coverage", "-fprofile-update=single"]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = pool.map(lambda s: compiled(ROOT / s, objects[object_of(s)], *count), sources)
        if not all(done) or not linked(scratch / "counting", objects, *count):
            sys.exit("not ok mutants: the library that counts lines could not be built")
    kept: dict = {"code": {}, "ran": {}, "seconds": {}}

    def one(item: tuple[str, list[str]]) -> tuple[str, int, float, tuple[Lines, Lines]]:
        name, ask = item
        prefix = scratch / "counts" / name.replace(" ", "_")
        begin = time.monotonic()
        status = run(ask, scratch / "counting", MOST, GCOV_PREFIX=str(prefix))
        seconds = time.monotonic() - begin
        for data in prefix.rglob("*.gcda"):
            notes = pathlib.Path("/") / data.relative_to(prefix).with_suffix(".gcno")
            data.with_suffix(".gcno").symlink_to(notes)
        lines = lines_of(prefix)
        shutil.rmtree(prefix, ignore_errors=True)
        return name, status, seconds, lines

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, status, seconds, (code, ran) in pool.map(one, tests().items()):
            if status:
                why = f"more than {MOST:g} s" if status == 124 else f"status {status}"
                print(f"skip {name}: {why} without a mutant", flush=True)
                continue
            kept["seconds"][name] = seconds
            kept["ran"][name] = {file: sorted(lines) for file, lines in ran.items()}
            for file, lines in code.items():
                kept["code"][file] = sorted(lines.union(kept["code"].get(file, [])))
    REACH.write_text(json.dumps(kept | {"digest": digest_of_sources()}))
    return Reach(kept)


def reach(jobs: int, scratch: pathlib.Path) -> Reach:
    if REACH.exists():
        kept = json.loads(REACH.read_text())
        if kept["digest"] == digest_of_sources():
            return Reach(kept)
    return measure(jobs, scratch)


# ---- one mutant
class Runner:
    def __init__(self, reached: Reach, scratch: pathlib.Path, listed: set) -> None:
        self.reached, self.scratch, self.listed = reached, scratch, listed
        self.commands = tests()
        self.kills: collections.Counter[str] = collections.Counter()
        self.lock = threading.Lock()

    def built(self, site: sites.Site, folder: pathlib.Path) -> str:
        """"same" if it compiles to the same code, "none" if not at all, else "built"."""
        path = folder / site.file
        path.parent.mkdir(parents=True)
        text = (ROOT / site.file).read_text()
        path.write_text(text[: site.start] + site.text + text[site.end :])
        objects, differs = {}, False
        for source in users_of(site.file):
            kept = folder / "objects" / (source[:-2] + ".o")
            given = path if source == site.file else ROOT / source
            if not compiled(given, kept, f"-I{folder / 'src'}"):
                return "none"
            objects[object_of(source)] = kept
            differs |= kept.read_bytes() != (ROOT / object_of(source)).read_bytes()
        if not differs:
            return "same"
        return "built" if linked(folder / "lib", objects) else "none"

    def order(self, site: sites.Site) -> list[str]:
        """The quickest first, and before them those that killed others."""
        with self.lock:
            kills = dict(self.kills)
        names = self.reached.tests_of(site)
        return sorted(names, key=lambda n: self.reached.seconds[n] / (1 + kills.get(n, 0)))

    def judge(self, site: sites.Site) -> tuple[str, str]:
        """What became of it, and which test killed it."""
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            folder = pathlib.Path(name)
            result = self.built(site, folder)
            if result != "built":
                return result, ""
            if site.name in self.listed:
                return "survived", ""
            order = self.order(site)
            for test in order:
                longest = 10 + 10 * self.reached.seconds[test]
                status = run(self.commands[test], folder / "lib", longest)
                if status:
                    with self.lock:
                        self.kills[test] += 1
                    return "timeout" if status == 124 else "killed", test
            return "survived", "" if order else "no test reaches it"


# ---- the list of survivors
def listed() -> dict[tuple[str, str, str], str]:
    """survivors.txt: of each mutant its file, "- old line", "+ new line", "= reason"."""
    found, now = {}, ["", "", ""]
    for line in SURVIVORS.read_text().splitlines():
        if line.startswith("src/"):
            now[0] = line.strip()
        elif line[:2] in ("- ", "+ "):
            now[1 + (line[0] == "+")] = line[2:].strip()
        elif line.startswith("= "):
            found[now[0], now[1], now[2]] = line[2:].strip()
    return found


def tell(site: sites.Site) -> None:
    where = f"{site.file}:{site.line} ({site.kind})"
    print(f"    {where}\n    - {site.old}\n    + {site.new}", flush=True)


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seed", type=int, default=1, help="another seed chooses others")
    ask.add_argument("--share", type=float, default=1, help="how many: 1 the usual, 100 all")
    ask.add_argument("--files", default=".", help="a regular expression")
    ask.add_argument("--again", action="store_true", help="those that survived the last run")
    ask.add_argument("--listed", action="store_true", help="try those of survivors.txt as well")
    ask.add_argument("--list", action="store_true", help="only survivors.txt is compared")
    given = ask.parse_args()
    every = sites.every(ROOT)
    known, names = listed(), {site.name for site in every}
    stale = [name for name in known if name not in names]
    for file, old, new in stale:
        print(f"not ok survivors.txt: no mutant any more: {file}\n    - {old}\n    + {new}")
    if given.list:
        if not stale:
            print(f"ok all {len(known)} entries of survivors.txt are mutants")
        return bool(stale)
    return bool(stale) | mutate(every, known, given)


def choose(every: list[sites.Site], given: argparse.Namespace) -> list[sites.Site]:
    if given.again:
        if not (ROOT / "lib/mutants.csv").exists():
            sys.exit("MUTANTS_AGAIN: there is no lib/mutants.csv; run make mutants first")
        with (ROOT / "lib/mutants.csv").open() as table:
            rows = csv.DictReader(table)
            names = {(r["file"], r["old"], r["new"]) for r in rows if r["result"] == "survived"}
        return [site for site in every if site.name in names]
    chosen = [s for s in every if sites.is_chosen(s, given.seed, given.share)]
    return [s for s in chosen if re.search(given.files, s.file)]


def mutate(every: list[sites.Site], known: dict, given: argparse.Namespace) -> int:
    chosen = choose(every, given)
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    begin = time.monotonic()
    count: collections.Counter[str] = collections.Counter()
    bad = 0
    csv_file = ROOT / "lib/mutants.csv"
    with tempfile.TemporaryDirectory() as name, csv_file.open("w") as table:
        scratch = pathlib.Path(name)
        runner = Runner(reach(jobs, scratch), scratch, set() if given.listed else {*known})
        tests_used = len(runner.reached.ran)
        print(f"{len(chosen)} of {len(every)} edits, by {tests_used} tests", flush=True)
        rows = csv.writer(table)
        rows.writerow(["result", "test", "kind", "file", "line", "old", "new"])
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for site, (result, by) in zip(chosen, pool.map(runner.judge, chosen)):
                if result == "survived" and site.name in known:
                    result = "equivalent"
                elif site.name in known:
                    print(f"note: survivors.txt has one that is {result}", by)
                    tell(site)
                if result == "survived":
                    print("not ok survived", by)
                    tell(site)
                    bad = 1
                count[result] += 1
                rows.writerow([result, by, site.kind, site.file, site.line, site.old, site.new])
                table.flush()
    made = sum(count[r] for r in ("killed", "timeout", "equivalent", "survived"))
    print(
        f"{made} mutants: {count['killed'] + count['timeout']} killed, {count['equivalent']} "
        f"equivalent, {count['survived']} survived; {count['same'] + count['none']} edits were "
        f"none; {(time.monotonic() - begin) / 60:.0f} minutes on {jobs} cores"
    )
    return bad


if __name__ == "__main__":
    sys.exit(main())
