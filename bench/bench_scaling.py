"""How the library's time grows: slopes, the exponents of power laws over the last decade, and a
figure. The time of models takes no part in it.

    make bench-scaling; or bench/bench_scaling.py smaller, a look with hundredths of the sizes"""

import sys
import time

import numpy as np

from certreg import Estimator, Question
from page import ROOT, show
from reproduce import figures

LEAST = 0.02  # seconds; shorter ones are taken as the least of some


class Sizes:
    """One record, of which one size at a time is another."""

    def __init__(self, samples=1000, inputs=16, outputs=1, questions=1, threads=None, **asked):
        self.samples, self.inputs, self.outputs = samples, inputs, outputs
        self.questions, self.threads, self.asked = questions, threads, asked

    def estimator(self):
        def model(x):
            y = np.clip(x[:, :1] + x[:, 1:2] * x[:, 2:3], -3, 3)
            return np.repeat(y, self.outputs, 1)

        batch = max(1, min(256, 4_000_000 // self.inputs))
        return Estimator(
            model, self.inputs, self.samples, outputs=self.outputs, batch=batch, lo=-3, hi=3,
            seed=1, threads=self.threads, constraints=self.asked.get("constraints", 0),
        )  # fmt: skip

    def asks(self):
        most = max(self.questions, self.outputs)
        return [
            Question(tolerance=0.5 + i / most, output=i % self.outputs, **self.asked)
            for i in range(most)
        ]


def drawn(sizes):
    """Seconds of the library while sampling."""
    with sizes.estimator() as e:
        e.begin(np.zeros(sizes.inputs), 0.25)
        e.sample(0, sizes.samples)
        return e.info().library_seconds


def answered(sizes):
    """Seconds of the answers to all questions about a record that is there."""
    with sizes.estimator() as e:
        times, spent = [], 0.0
        while spent < LEAST:
            e.begin(np.zeros(sizes.inputs), 0.25)
            e.sample(0, sizes.samples)
            begun = time.perf_counter()
            e.certify(0, *sizes.asks())
            times.append(time.perf_counter() - begun)
            spent += times[-1]
        return min(times)


FINITE = dict(statistic="mean", method="finite", constraints="ecgm")
ASYMPTOTIC = dict(FINITE, method="asymptotic")
SERIES = (
    # panel, name, what takes time, the size that grows, from, to, the others
    ("samples", "sampling", drawn, "samples", 1000, 1_000_000, {}),
    ("samples", "median", answered, "samples", 1000, 1_000_000, {}),
    ("samples", "mean", answered, "samples", 1000, 1_000_000, dict(statistic="mean")),
    ("samples", "mean, gradient", answered, "samples", 1000, 100_000, FINITE),
    ("samples", "mean, asymptotic gradient", answered, "samples", 1000, 100_000, ASYMPTOTIC),
    ("features", "sampling", drawn, "inputs", 10, 1_000_000, {}),
    ("features", "mean, gradient", answered, "inputs", 10, 1_000_000, FINITE),
    ("features", "mean, asymptotic gradient", answered, "inputs", 10, 1_000_000, ASYMPTOTIC),
    ("outputs", "medians", answered, "outputs", 1, 100, {}),
    ("outputs", "means, gradient", answered, "outputs", 1, 100, FINITE),
    ("questions", "medians", answered, "questions", 1, 1000, {}),
    ("questions", "means, gradient", answered, "questions", 1, 1000, FINITE),
)


def points(first, last):
    """Two in a decade."""
    count = round(2 * np.log10(last / first)) + 1
    return np.unique(np.geomspace(first, last, count).round().astype(int))


def measured(series, smaller):
    _, name, seconds, size, first, last, asked = series
    sizes = points(first, max(first * 10, last // 100 if smaller else last))
    times = [seconds(Sizes(**{size: int(n)}, **asked)) for n in sizes]
    print(f"  {size}: {name}, {times[-1]:.3g} s at {sizes[-1]:,}", flush=True)
    return sizes, np.array(times)


def slope(sizes, times):
    """Between the greatest size and that a decade below."""
    at = np.argmin(np.abs(sizes - sizes[-1] / 10))
    return np.log(times[-1] / times[at]) / np.log(sizes[-1] / sizes[at])


def draw(found):
    panels = dict.fromkeys(series[0] for series in SERIES)
    every = figures.panels(["seconds"] * len(panels), "", 2.6 * len(panels))
    for ax, panel in zip(every, panels):
        for series, (sizes, times) in zip(SERIES, found):
            if series[0] == panel:
                ax.plot(sizes, times, marker="o", label=series[1])
        ax.set(xscale="log", yscale="log", title=panel)
        ax.minorticks_off()
        ax.legend(fontsize=9, loc="lower right")
    return every[0]


def main():
    smaller = sys.argv[1:] == ["smaller"]
    found = [measured(series, smaller) for series in SERIES]
    lines = [
        [f"{panel}: {name}", f"{s[0]:,} to {s[-1]:,}", f"{1e3 * t[0]:.3g} to {1e3 * t[-1]:.3g} ms",
         f"{slope(s, t):.2f}"]
        for (panel, name, *_), (s, t) in zip(SERIES, found)
    ]  # fmt: skip
    show("scaling", ["what grows", "from, to", "time", "slope"], *lines, keep=not smaller)
    if not smaller:
        figures.save(draw(found), ROOT / "docs/figures/scaling.svg")


if __name__ == "__main__":
    main()
