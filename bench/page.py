"""The tables of docs/benchmarks.md. `make bench-page` writes each between its markers,
`<!-- NAME: begin -->` and `<!-- NAME: end -->`: as a measurement left it in lib/bench*.md, or from
what `make demo-full`, `bench-certificates` and `bench-coverage` wrote. A table stays as it is if
nothing was measured, or only with other settings than the page says."""

import csv
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE, LIB = ROOT / "docs/benchmarks.md", ROOT / "lib"
BLOCK = re.compile(r"<!-- (\S+): begin -->\n(.*?)<!-- \1: end -->\n", re.S)
IMAGES, SAMPLES = 100, "10000"
SIGMAS = ["0.06", "0.12", "0.25", "0.35", "0.5", "0.75"]


def table(head, *lines):
    rows = ("|" + "".join(f" {x} |" if x != "" else " |" for x in row) for row in (head, *lines))
    first, *rest = rows
    return "\n".join([first, "|" + "---|" * len(head), *rest, ""])


def show(name, head, *lines, keep=True):
    """Prints a measurement's table, and keeps it for the page if its settings are the page's."""
    text = f"<!-- {name}: begin -->\n{table(head, *lines)}<!-- {name}: end -->\n"
    if keep:
        (LIB / f"bench_{name}.md").write_text(text, encoding="utf-8")
    print(text)


def read(name):
    with open(LIB / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---- make demo-full
PAPER = "paper"
ASYMPTOTIC = {
    "paper (E,C,G)+M": (PAPER, "mean, variance, gradient, range"),
    "paper (C)": (PAPER, "variance"),
    "paper (C,G)": (PAPER, "variance, gradient"),
    "paper (E,C)+M": (PAPER, "mean, variance, range"),
    "mean, about a prediction": ("asymptotic", "mean"),
    "circular mean": ("asymptotic", "circular mean"),
    "Huber c = ε/2": ("asymptotic", "Huber location"),
    "median, gradient": ("asymptotic", "median"),
}
PREDICTIONS = {
    "mean": ("finite", "mean"),
    "circular mean": ("finite", "circular mean"),
    "Huber c = ε/2": ("finite", "Huber location"),
    "median": ("finite", "median"),
}
FINITE = {**PREDICTIONS, "median, with gradient": ("finite", "median, gradient")}


def demo(name, *keys):
    """The rows of one of its files by these columns; of all images."""
    found = {}
    for row in read(f"demo/{name}.csv"):
        if row.get("n", SAMPLES) != SAMPLES:
            raise KeyError(f"{SAMPLES} samples")
        found.setdefault(tuple(row[k] for k in keys), []).append(row)
    if {len(rows) for rows in found.values()} != {IMAGES}:
        raise KeyError(f"{IMAGES} images")
    return found


def mean_radius(rows):
    return statistics.fmean(float(row["radius"]) for row in rows)


def radii(columns):
    """Columns of mean radii by sigma, and each at its best sigma against the paper's best."""
    found = demo("certificates", "method", "sigma", "certificate")
    paper = max(mean_radius(rows) for key, rows in found.items() if key[0] == PAPER)
    lines = [[s, *(f"{r:.3f}" for r in row)] for s, *row in zip(SIGMAS, *columns.values())]
    best = [max(column) for column in columns.values()]
    lines.append(["best over σ", *(f"{x:.3f}" for x in best)])
    lines.append(["to the paper's best", *(f"{x / paper:.2f}" for x in best)])
    return table(["σ", *columns], *lines)


def by_sigma(names):
    found = demo("certificates", "method", "sigma", "certificate")
    return {n: [mean_radius(found[m, s, c]) for s in SIGMAS] for n, (m, c) in names.items()}


def radii_asymptotic():
    return radii(by_sigma(ASYMPTOTIC))


def radii_finite():
    found = demo("guarantees", "center", "sigma", "served_samples", "at_radius")
    served = {
        f"served from {calls:,}": [mean_radius(found["served", s, str(calls), "0"]) for s in SIGMAS]
        for calls in (1001, 101)
    }
    return radii({**by_sigma(FINITE), **served})


def errors():
    found, lines = demo("certificates", "method", "sigma", "certificate"), []
    for s in SIGMAS:
        off = [
            [abs(math.remainder(float(r["prediction"]) - float(r["angle"]), 360)) for r in rows]
            for rows in (found[m, s, c] for m, c in PREDICTIONS.values())
        ]
        cells = [*map(statistics.fmean, off), statistics.median(off[-1])]
        lines.append([s, *(f"{x:.1f}" for x in cells)])
    return table(["σ", *PREDICTIONS, "median; median over the images"], *lines)


def bounds():
    found, lines = demo("guarantees", "center", "sigma", "served_samples", "at_radius"), []
    for s in SIGMAS:
        cells = [s]
        for shift in ("0.25", "0.5"):
            rows = found["bounds", s, "0", shift]
            widths = [(float(r["output_hi"]) - float(r["output_lo"])) / 2 for r in rows]
            widths = [w for w in widths if math.isfinite(w)]
            cells += [f"{statistics.fmean(widths):.1f}°" if widths else "", len(widths)]
        lines.append(cells)
    return table(["σ", "shift of 0.25", "images", "shift of 0.5", "images"], *lines)


def calls():
    few, all_calls = read("demo/calls.csv"), by_sigma(FINITE)["median"]
    rows = {int(r["calls"]): float(r["mean_radius"]) for r in few}
    rows[int(SAMPLES)] = all_calls[SIGMAS.index(few[0]["sigma"])]
    paper = float(few[0]["paper_best"])
    return table(
        ["calls", *(f"{n:,}" for n in rows)],
        ["mean radius", *(f"{r:.3f}" for r in rows.values())],
        ["to the paper's best", *(f"{r / paper:.2f}" for r in rows.values())],
    )


# ---- make bench-certificates
def number(text):
    x = float(text)
    return "" if math.isnan(x) else f"{x:.3f}" if x < 10 else f"{x:.3g}"


def targets():
    rows, lines = read("bench_certificates.csv"), []
    if {r["row"] for r in rows} != set("123456789"):
        raise KeyError("rows 1 to 9")
    for r in rows:
        target, *cells = (number(r[k]) for k in ("target", "reached", "ours", "reference"))
        if r["verdict"] == "MISSED":
            cells[0] = f"**{cells[0]}**"
        sign = {"at most": "≤ ", "at least": "≥ "}[r["sense"]] if target else ""
        lines.append([r["row"], r["claim"], sign + target, *cells, r["note"]])
    return table(["row", "ours : other", "target", "reached", "ours", "other", ""], *lines)


def gradient():
    found = {}
    for r in read("bench_radii.csv"):
        found.setdefault((r["certificate"], r["sigma"]), []).append(float(r["radius"]))
    lines = []
    for s in SIGMAS:
        two = [found["median finite", s], found["median finite gradient", s]]
        if len(two[0]) != IMAGES:
            raise KeyError(f"{IMAGES} images")
        columns = [*two, [max(pair) for pair in zip(*two)]]
        lines.append([s, *(f"{statistics.fmean(c):.3f}" for c in columns)])
    return table(["σ", "default", "with the gradient", "in hindsight"], *lines)


# ---- make bench-coverage
def coverage():
    """The greatest rate of misses of each law of outputs, over n and d."""
    worst = {}
    for line in (LIB / "bench_coverage.txt").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\S.*?)  +n +\d+ .*", line):
            rates = worst.setdefault(match[1], {})
            for end, rate in re.findall(r"(mean|variance|gradient)_[lh][oi] (0\.\d+)", line):
                rates[end] = max(rates.get(end, 0), float(rate))
    ends = ("mean", "variance", "gradient")
    lines = [[law, *(f"{r[e]:.3f}" for e in ends)] for law, r in worst.items() if len(r) == 3]
    return table(["outputs", *(f"end of the {e}" for e in ends)], *lines)


TABLES = {
    **{"radii-asymptotic": radii_asymptotic, "radii-finite": radii_finite, "errors": errors},
    **{"bounds": bounds, "calls": calls, "targets": targets, "gradient": gradient},
    "coverage": coverage,
}


def filled(page, found):
    """The page with what was found between its markers, and the names of all markers."""

    def block(match):
        text = found[match[1]].rstrip("\n") + "\n" if match[1] in found else match[2]
        return f"<!-- {match[1]}: begin -->\n{text}<!-- {match[1]}: end -->\n"

    return BLOCK.sub(block, page), [match[1] for match in BLOCK.finditer(page)]


def measured():
    """The tables that measurements left."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(LIB.glob("bench*.md"))]
    return {match[1]: match[2] for text in texts for match in BLOCK.finditer(text)}


def main():
    found = measured()
    for name, make in TABLES.items():
        try:
            found[name] = make()
        except (OSError, KeyError) as why:
            print(f"{name}: {why!r}")

    page, places = filled(PAGE.read_text(encoding="utf-8"), found)
    PAGE.write_text(page, encoding="utf-8")
    for name in places:
        print(f"{name}: {'written' if name in found else 'left as it is'}")
    missing = found.keys() - set(places)
    return f"docs/benchmarks.md has no place for {sorted(missing)}" if missing else 0


if __name__ == "__main__":
    sys.exit(main())
