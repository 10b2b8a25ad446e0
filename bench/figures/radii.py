"""Certified radii of digits by several methods: their mean by the noise level, and the certified
accuracy."""

from __future__ import annotations

from typing import Any

from certreg.plots import legend_above, plot_accuracy
from reproduce import digits, figures, methods, rotation, sweep
from reproduce.settings import Settings

from .style import BLUE, GREEN, ORANGE, SKY, VERMILION

# Name, and how it is drawn. The promises differ as in docs/reproduction.md.
ASKED: dict[methods.Method, tuple[str, dict[str, Any]]] = {
    methods.MEDIAN: ("median (default)", dict(c=BLUE, ls="-", lw=2.5)),
    methods.SERVED_EASY: ("the same, served from 501 calls", dict(c=SKY, ls="-.", lw=1.5)),
    methods.SAMPLE_MEDIAN: ("median smoothing", dict(c=GREEN, ls="--", lw=1.5)),
    methods.ALPHA_EASY: ("α-smoothing", dict(c=ORANGE, ls=(0, (5, 1, 1, 1, 1, 1)), lw=1.5)),
    methods.FAMILIES[3]: ("Zhang and Frank, (E,C,G)+M", dict(c=VERMILION, ls=":", lw=1.5)),
}
TICKS = (0.03, 0.06, 0.12, 0.25, 0.5)


def found(settings: Settings) -> sweep.Sweep:
    """The certificates of every digit. The files that `make reproduce` keeps serve here too."""
    task = rotation.task("rotation", digits.load(settings.mnist, settings.size.images))
    level = methods.LEVELS[0]
    asked = tuple(methods.Asked(m, level, m.make(task.tolerance, level)) for m in ASKED)
    size = settings.size
    return sweep.run(settings, task, size.sigmas, asked, size.samples, lambda s: print(" ", s))


def by_sigma(done: sweep.Sweep) -> Any:
    """The mean radius and the mean useful radius of each method by σ."""
    labels = ("mean certified radius", "mean useful radius")
    panels = figures.panels(labels, "noise level σ", 7.2)
    titles = ("all predictions", f"predictions within {done.task.tolerance:g}° of the truth")
    for ax, radius, title in zip(panels, (done.radius, done.useful), titles):
        for q, (name, look) in enumerate(ASKED.values()):
            ax.plot(done.sigmas, radius[:, :, q].mean(0), marker="o", label=name, **look)
        ax.set_xscale("log")
        ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.minorticks_off()
        ax.text(0.02, 0.98, title, va="top", transform=ax.transAxes)
    top = 1.05 * max(panels[0].get_ylim())
    for ax in panels:
        ax.set_ylim(0, top)
    legend_above(panels[0])
    return panels[0]


def accuracy(done: sweep.Sweep) -> Any:
    """The share of digits that are right and certified at each radius, each method at the σ of its
    best mean useful radius, which is the area below its curve."""
    (ax,) = figures.panels(("",), "", 4.8)
    curves, looks = {}, []
    for q, (name, look) in enumerate(ASKED.values()):
        best = done.best(q, useful=True)
        label = f"{name}, σ = {done.sigmas[best]:g}"
        curves[label] = (done.radius[:, best, q], done.right[:, best, q])
        looks.append(look)
    plot_accuracy(curves, ax=ax)
    for line, look in zip(ax.get_lines(), looks):
        line.set(**look)
    ax.set_xlabel("radius r (Euclidean norm of the pixels)")
    ax.set_ylabel("share of digits right and certified at r")
    ax.set_ylim(0, 1.05 * max(share[0] for share in (line.get_ydata() for line in ax.get_lines())))
    legend_above(ax)
    return ax


OF_DIGITS = True
DRAWINGS = {"radii_by_sigma": by_sigma, "certified_accuracy": accuracy}
