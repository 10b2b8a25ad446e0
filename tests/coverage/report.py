"""report.py OBJ LEAST: which lines of src/ were reached, by room and by file, from the data of gcov
below OBJ. Writes lib/coverage.txt, prints its summary, and exits with 1 where less than LEAST per
cent were reached. tests/coverage/unreached.txt says why lines are not reached."""
import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

ROOT = Path(__file__).resolve().parents[2]
REASONS = ROOT / "tests/coverage/unreached.txt"
REPORT = ROOT / "lib/coverage.txt"

Lines = Dict[int, Tuple[int, str]]  # line -> how often it ran, function


class Reason(NamedTuple):
    file: str
    what: str  # a function, or in quotes a part of a line
    why: str

    def fits(self, file: str, function: str, text: str) -> bool:
        if not Path(file).match(self.file):
            return False
        if self.what.startswith('"'):
            return self.what.strip('"') in text
        return self.what in ("*", function)


def reached(folder: Path) -> Dict[str, Lines]:
    """What every object with data says of lines below src/, added up."""
    files: Dict[str, Lines] = defaultdict(dict)
    for data in sorted(folder.rglob("*.gcda")):
        said = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], cwd=ROOT,
                              check=True, capture_output=True, text=True).stdout
        for record in said.splitlines():
            for file in json.loads(record)["files"]:
                name = file["file"]
                if not name.startswith("src/") or name.startswith("src/backend/cuda/"):
                    continue
                for line in file["lines"]:
                    before, function = files[name].get(line["line_number"], (0, ""))
                    files[name][line["line_number"]] = (
                        before + line["count"], line.get("function_name", function))
    return files


def read_reasons() -> List[Reason]:
    reasons = []
    for number, line in enumerate(REASONS.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            sys.exit(f"{REASONS}:{number}: not FILE | FUNCTION or \"LINE\" | WHY")
        reasons.append(Reason(*parts))
    return reasons


def share(counts: Tuple[int, int]) -> str:
    hit, all_of_them = counts
    return f"{hit:6d} of {all_of_them:6d}  {100 * hit / all_of_them:6.2f}%"


def tables(files: Dict[str, Lines]) -> Tuple[List[str], List[str], Tuple[int, int]]:
    """By room, by file, and altogether."""
    rooms: Counter = Counter()
    hits: Counter = Counter()
    by_file = []
    for name, lines in sorted(files.items()):
        hit = sum(count > 0 for count, _ in lines.values())
        room = name.split("/")[1]
        rooms[room] += len(lines)
        hits[room] += hit
        by_file.append(f"{name:40s} {share((hit, len(lines)))}")
    by_room = [f"{room:40s} {share((hits[room], rooms[room]))}" for room in sorted(rooms)]
    return by_room, by_file, (sum(hits.values()), sum(rooms.values()))


def unreached(files: Dict[str, Lines]) -> Tuple[Dict[str, List[str]], List[str], List[Reason]]:
    """Lines never reached by their reason, those without a reason, and reasons without a line."""
    explained: Dict[str, List[str]] = defaultdict(list)
    bare, reasons = [], read_reasons()
    idle = list(reasons)
    for name, lines in sorted(files.items()):
        texts = (ROOT / name).read_text().splitlines()
        for number, (count, function) in sorted(lines.items()):
            if count:
                continue
            text = texts[number - 1]
            told = f"{name}:{number}: {function}: {text.strip()}"
            why = next((r for r in reasons if r.fits(name, function, text)), None)
            if why is None:
                bare.append(told)
                continue
            explained[why.why].append(told)
            idle = [r for r in idle if r is not why]
    return explained, bare, idle


def main() -> int:
    folder, least = Path(sys.argv[1]), float(sys.argv[2])
    files = reached(folder if folder.is_absolute() else ROOT / folder)
    if not files:
        sys.exit(f"coverage: no data of gcov below {folder}")
    by_room, by_file, total = tables(files)
    explained, bare, idle = unreached(files)
    text = ["Lines of src/ that the tests reach, without the CUDA module", "", *by_room,
            f"{'all':40s} {share(total)}", "", *by_file]
    for why, lines in sorted(explained.items()):
        text += ["", f"{why}: {len(lines)}", *(f"  {line}" for line in lines)]
    text += ["", f"without a reason: {len(bare)}", *(f"  {line}" for line in bare)]
    text += ["", f"reasons without a line, on this machine: {len(idle)}",
             *(f"  {r.file} | {r.what} | {r.why}" for r in idle)]
    REPORT.write_text("\n".join(text) + "\n")
    print("\n".join([*by_room, f"{'all':40s} {share(total)}"]))
    print(f"never reached: {total[1] - total[0]} lines, {len(bare)} of them without a reason "
          f"({REPORT.relative_to(ROOT)})")
    good = 100 * total[0] >= least * total[1]
    print(f"{'ok' if good else 'not ok'} at least {least:g}% of the lines are reached")
    return not good


if __name__ == "__main__":
    sys.exit(main())
