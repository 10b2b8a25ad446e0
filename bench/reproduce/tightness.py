"""How tight the certificates are, and whether they are sound: each certified statistic is attacked
by its own search for the shortest shift that moves it out of its tolerance."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from typing import Any

import numpy as np

from . import digits, figures, tables
from .attacks import OF_NETWORK, SIGMA, Job, attack_image
from .everywhere import everywhere
from .settings import Settings

NAME = "tightness.csv"
ERRORS_ALLOWED = 3.0  # standard errors by which an attack has to be shorter than a certificate


# ---- all images
def compute(settings: Settings) -> None:
    path, size, lines = settings.path(NAME), settings.size, []
    pictures = digits.load(settings.mnist, size.attacked)
    jobs = [
        Job(network, i, int(pictures.label[i]), z, size.samples, size.attack_calls)
        for i, z in enumerate(pictures.turned)
        for network in OF_NETWORK
    ]
    began = time.monotonic()
    found = everywhere(settings.jobs, attack_image, [(job,) for job in jobs])
    for done, some in enumerate(found, start=1):
        lines += some
        if done % 10 == 0 or done == len(jobs):
            seconds = time.monotonic() - began
            print(f"  {done} of {len(jobs)} images, {seconds:.0f} s", flush=True)
    lines.sort(key=lambda line: (list(OF_NETWORK).index(line["network"]), line["image"]))
    tables.write_csv(path, lines)
    with figures.where_possible():
        _plot(tables.read_csv(path), settings.figure("tightness"))


# ---- the report
HEADING = (
    "statistic that is attacked",
    "attacked",
    "no radius",
    "capped",
    "certified",
    "attack",
    "mean ratio",
    "median ratio",
    "least ratio",
    "at least 1",
    "clearly below",
)
PRINTED = ("printed in the paper", 100, "", 18, 0.146, 0.504, "3.41", "3.48", "0.39", "98%", "")


@dataclasses.dataclass(frozen=True)
class Column:
    """What was found for one statistic of one network, on the images that have a radius."""

    lines: list[dict[str, Any]]
    without: int

    @property
    def ended(self) -> list[dict[str, Any]]:
        """The lines whose attack did not reach the end of the search."""
        return [line for line in self.lines if not line["capped"]]

    @property
    def ratio(self) -> np.ndarray:
        return np.array([line["attack"] / line["certified"] for line in self.ended])

    @property
    def below(self) -> list[dict[str, Any]]:
        """The lines whose attack is shorter than the certificate, by more than sampling error."""
        return [
            line
            for line in self.ended
            if line["attack"] + ERRORS_ALLOWED * line["error"] < line["certified"]
        ]

    def cells(self, name: str) -> list[Any]:
        ended, ratio, count = self.ended, self.ratio, len(self.lines)
        sound = count - int((ratio < 1.0).sum())
        means = [_mean([line[key] for line in ended]) for key in ("certified", "attack")]
        some = [f(ratio) if len(ratio) else float("nan") for f in (np.mean, np.median, np.min)]
        share = f"{100 * sound / count:.0f}%" if count else ""
        capped = count - len(ended)
        ratios = [f"{x:.2f}" if x == x else "" for x in some]
        return [name, count, self.without, capped, *means, *ratios, share, len(self.below)]


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _columns(lines: list[dict[str, Any]]) -> dict[tuple[str, str], Column]:
    """By network and statistic."""
    columns = {}
    for network, attacked in OF_NETWORK.items():
        for one in attacked:
            own = [x for x in lines if (x["network"], x["statistic"]) == (network, one.name)]
            some = [line for line in own if line["certified"] > 0]
            if own:
                columns[network, one.name] = Column(some, len(own) - len(some))
    return columns


def _plot(lines: list[dict[str, Any]], path: pathlib.Path) -> None:
    """A histogram for each statistic, below each other."""
    columns, edges = _columns(lines), np.geomspace(0.25, 16.0, 37)
    across, height = "attack radius / certified radius", 0.6 + 1.1 * len(columns)
    panels = figures.panels(["images"] * len(columns), across, height)
    panels[0].figure.suptitle(f"Attacks on certificates, σ = {SIGMA:g}")
    for ax, (key, column) in zip(panels, columns.items()):
        ax.hist(np.clip(column.ratio, 0.25, 16.0), edges, histtype="stepfilled")
        ax.axvline(1.0, color="black", linestyle=":")
        ax.set_title(_label(*key, mark=""), loc="left")
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.label_outer()
        ax.grid(False)
    figures.save(ax, path)


def _label(network: str, name: str, mark: str = "`") -> str:
    return name if network == "rotation" else f"{name}, {mark}{network}{mark}"


def report(settings: Settings, beside: tables.Beside) -> dict[str, str]:
    lines = tables.read_csv(settings.path(NAME))
    columns = _columns(lines)
    table = [column.cells(_label(*key)) for key, column in columns.items()]
    return {
        "tightness": tables.markdown(HEADING, [PRINTED, *table]),
        "attack-error": f"Their relative standard error is {_relative_error(columns):.1%}.",
    }


def _relative_error(columns: dict[tuple[str, str], Column]) -> float:
    return _mean([x["error"] / x["attack"] for c in columns.values() for x in c.ended])
