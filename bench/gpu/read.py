#!/usr/bin/env python3
"""What first.sh found on a device, into the pages.

    python3 bench/gpu/read.py FOLDER

FOLDER has gpu.csv and first.csv. Its figures become the table of docs/benchmarks.md, with the name
of the card. README.md and the guide's page of engines say on what the backend was tested: the card,
if the contract suite and the square roots passed there. Figures of the emulated device are refused.
"""

import csv
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from page import filled, table  # noqa: E402

# What stands in the table: the row of the CSV, its words, a unit, and what the peer is.
ROWS = (
    ("draw_1e5_784_GBps", "draw 100,000 × 784", "GB/s", "memset"),
    ("draw_1e4_12288_GBps", "draw 10,000 × 12,288", "GB/s", "memset"),
    ("noise_784_beside_torch", "all noise of a certificate, 784 inputs", "ms", "PyTorch"),
    ("noise_12288_beside_torch", "all noise of a certificate, 12,288 inputs", "ms", "PyTorch"),
    ("replay_784_ms", "block sums of two functions, 784 inputs", "ms", ""),
    ("gram_784_ms", "their Gram matrix, fetched", "ms", ""),
    ("finite_median_2500_ms", "median, batches of 2,500", "ms", ""),
    ("finite_median_256_ms", "median, batches of 256", "ms", ""),
    ("finite_median_gradient_ms", "median with a finite-sample gradient", "ms", ""),
    ("asymptotic_huber_ms", "Huber, asymptotic, all constraints", "ms", ""),
    ("paper_mean_ms", "Zhang and Frank's method, all constraints", "ms", ""),
    ("finite_gradient_12288_ms", "median with a finite-sample gradient, 12,288 inputs", "ms", ""),
    ("network_certificate_ms", "the demo's network, whole certificate", "ms", ""),
    ("network_smoothing_ms", "the same, median smoothing as peer", "ms", "PyTorch"),
)
SENTENCES = {  # of each page: how the paragraph begins, and goes on in the next line
    "README.md": ("- ", "  "),
    "docs/guide/engines.md": ("", ""),
}


def figure(value):
    return f"{float(value):,.3g}" if float(value) < 1000 else f"{float(value):,.0f}"


def rows_of(found):
    """The lines of the table."""
    for name, words, unit, peer in ROWS:
        if name not in found:
            continue
        ours, other, ratio, _ = found[name]
        beside = (f"{figure(other)} {unit}, {peer}", f"{float(ratio):.2f}") if peer else ("", "")
        yield (words, f"{figure(ours)} {unit}", *beside)


def sentence(card):
    return (
        f"The CUDA backend was tested on one card, an {card}: the noise has the CPU's bits there. "
        "Continuous tests run on an emulated device."
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    lines = list(csv.reader((folder / "gpu.csv").open(encoding="utf-8")))
    steps = dict(row[:2] for row in csv.reader((folder / "first.csv").open(encoding="utf-8")))
    found = {name: rest for name, *rest in lines}
    card = found.pop("device")[0]
    if "emulated" in card:
        sys.exit("figures of the emulated device mean nothing: they stay out of the pages")
    failed = [name for name in ("check_gpu", "sqrt_all", "bench_gpu") if steps.get(name) != "ok"]
    if failed:
        sys.exit(f"{', '.join(failed)} did not pass on the {card}: mend that first")
    page = ROOT / "docs/benchmarks.md"
    text = f"On an {card}; 10,000 samples.\n\n"
    text += table(("work", "time or rate", "peer", "speed (peer = 1)"), *rows_of(found))
    page.write_text(filled(page.read_text(encoding="utf-8"), {"gpu": text})[0], encoding="utf-8")
    for name, (start, indent) in SENTENCES.items():
        path = ROOT / name
        said = textwrap.fill(start + sentence(card), 88, subsequent_indent=indent) + "\n"
        old = path.read_text(encoding="utf-8")
        # Up to the end of the list's item, or of the paragraph.
        item = rf"(?m)^{start}The CUDA backend .*\n((?!- |\n).*\n)*"
        new, count = re.subn(item, lambda _, said=said: said, old)
        if count != 1:
            sys.exit(f"{name} has {count} sentences about the CUDA backend; one was expected")
        path.write_text(new, encoding="utf-8")
    print(f"written: {page.relative_to(ROOT)}, {', '.join(SENTENCES)}")


main()
