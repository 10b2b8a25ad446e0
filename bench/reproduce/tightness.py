"""How tight the certificates are, and whether they are sound: each certified statistic is attacked
by its own search for the shortest shift that moves it out of its tolerance."""

from __future__ import annotations

import concurrent.futures
import csv
import dataclasses
import multiprocessing
import pathlib
import time
from typing import Any, Iterator, Optional

import numpy as np

from . import ascent, digits, figures, tables
from .attacks import (
    ALPHA,
    OF_NETWORK,
    OF_THE_MEAN,
    OTHER,
    PLAIN,
    SIGMA,
    TOLERANCE,
    Job,
    attack_image,
    path_of,
)
from .settings import Settings

NAME = "tightness.csv"
ERRORS_ALLOWED = 3.0  # standard errors by which an attack has to be shorter than a certificate
LISTED = 6  # images, one by one
ACROSS = 0.01  # share of outputs beyond the jump from which a plain mean is said to rest on it


# ---- all images
def compute(settings: Settings) -> None:
    """Appends the lines of each image to the CSV file when they are ready; images whose lines are
    there are not attacked again."""
    path, size = settings.path(NAME), settings.size
    pictures = digits.load(settings.mnist, size.attacked)
    lines = _kept(path, size.samples, size.attack_calls, size.attacked)
    known = {(line["network"], line["image"]) for line in lines}
    jobs = [
        Job(network, i, int(pictures.label[i]), z, size.samples, size.attack_calls)
        for i, z in enumerate(pictures.turned)
        for network in OF_NETWORK
        if path_of(network).exists() and (network, i) not in known
    ]
    if lines:
        tables.write_csv(path, lines)
    elif path.exists():
        path.unlink()
    began = time.monotonic()
    for done, some in enumerate(_attacked(jobs, settings.jobs), start=1):
        _append(path, some)
        lines += some
        if done % 10 == 0 or done == len(jobs):
            seconds = time.monotonic() - began
            print(f"  {done} of {len(jobs)} images, {seconds:.0f} s", flush=True)
    lines.sort(key=lambda line: (list(OF_NETWORK).index(line["network"]), line["image"]))
    tables.write_csv(path, lines)
    with figures.where_possible():
        _plot(tables.read_csv(path), settings.figure("tightness"))


def _attacked(jobs: list[Job], processes: int) -> Iterator[list[dict[str, Any]]]:
    """The lines of each job, in the order in which they are ready."""
    if processes == 1 or len(jobs) < 2:
        yield from map(attack_image, jobs)
        return
    pool = concurrent.futures.ProcessPoolExecutor(
        min(processes, len(jobs)), multiprocessing.get_context("spawn")
    )
    try:
        for future in concurrent.futures.as_completed([pool.submit(attack_image, j) for j in jobs]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _kept(path: pathlib.Path, samples: int, budget: int, images: int) -> list[dict[str, Any]]:
    """The lines of images that are complete, made by the same numbers of samples and calls."""
    if not path.exists():
        return []
    written = path.read_bytes()
    path.write_bytes(written[: written.rfind(b"\n") + 1])  # the last line may be broken off
    lines = tables.read_csv(path)
    of_image: dict[Any, list[dict[str, Any]]] = {}
    for line in lines:
        same = line["samples"] == samples and line["budget"] == budget and line["image"] < images
        if same and line["network"] in OF_NETWORK:
            of_image.setdefault((line["network"], line["image"]), []).append(line)
    complete = [some for (name, _), some in of_image.items() if _names(some) == _wanted(name)]
    return [{**line, **_whole(line)} for some in complete for line in some]


def _names(lines: list[dict[str, Any]]) -> list[str]:
    return [line["statistic"] for line in lines]


def _wanted(network: str) -> list[str]:
    return [one.name for one in OF_NETWORK[network]]


def _whole(line: dict[str, Any]) -> dict[str, int]:
    return {
        key: int(line[key]) for key in ("image", "digit", "samples", "budget", "capped", "calls")
    }


def _append(path: pathlib.Path, lines: list[dict[str, Any]]) -> None:
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0].keys(), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(lines)


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
    ax = figures.axes(
        "attack radius / certified radius", "images", f"Attacks on certificates, σ = {SIGMA:g}"
    )
    edges = np.geomspace(0.25, 16.0, 37)
    for (network, name), column in _columns(lines).items():
        ax.hist(
            np.clip(column.ratio, 0.25, 16.0), edges, histtype="step", label=_label(network, name)
        )
    ax.axvline(1.0, color="black", linestyle=":")
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.legend(fontsize=7)
    figures.save(ax, path)


def _label(network: str, name: str) -> str:
    return name if network == "rotation" else f"{name}, `{network}`"


def report(settings: Settings) -> str:
    lines = tables.read_csv(settings.path(NAME))
    columns = _columns(lines)
    size = settings.size
    table = [column.cells(_label(*key)) for key, column in columns.items()]
    parts = [
        "## Tightness",
        tables.paragraph(
            f"`make reproduce PARTS=tightness`: {size.attacked} images, σ = {SIGMA:g}, tolerance "
            f"{TOLERANCE:g}°, α = {ALPHA:g}, {size.samples:,} samples. Each certified statistic is "
            "attacked by its own search for the shortest shift that moves it out of the "
            f"tolerance. The attack only calls the network, {size.attack_calls:,} times for each "
            "statistic and image. It follows estimated gradients, and also tries the direction "
            "found for the statistic before. The direction is then judged on fresh noise. Pixels "
            "may leave [0, 1], as in the certificate. The attack is an upper bound of the true "
            "radius, up to sampling error. Its relative standard error is "
            f"{_relative_error(columns):.1%} in the mean. *Capped*: no exit was found up to "
            f"{ascent.FARTHEST:g}; these images have no ratio. *Certified* and *attack* are means "
            "over the images with a ratio. *At least 1*: the share of attacked images whose ratio "
            "is at least 1 or capped. *Clearly below*: attacks shorter than the certificate by "
            f"more than {ERRORS_ALLOWED:g} standard errors."
        ),
        tables.markdown(HEADING, [PRINTED, *table]),
        "![Ratios of attack and certificate](figures/tightness.svg)",
        *_broken(columns),
        *_explanation(columns),
    ]
    return "\n\n".join(parts)


def _relative_error(columns: dict[tuple[str, str], Column]) -> float:
    return _mean([x["error"] / x["attack"] for c in columns.values() for x in c.ended])


def _broken(columns: dict[tuple[str, str], Column]) -> list[str]:
    """The attacks on certified statistics that are shorter than the certificate, one by one."""
    own = {key: column for key, column in columns.items() if key[1] != OTHER.name}
    listed = [
        [_label(*key), f"{line['image']:g}", line["certified"], line["attack"], line["error"]]
        for key, column in own.items()
        for line in column.ended
        if line["attack"] < line["certified"]
    ]
    clear = sum(len(column.below) for column in own.values())
    if not listed:
        return ["No attack on a certified statistic succeeds inside its certificate."]
    text = (
        "Attacks on certified statistics that are shorter than the certificate, "
        f"{clear or 'none'} of them by more than {ERRORS_ALLOWED:g} standard errors:"
    )
    heading = ("statistic", "image", "certified", "attack", "standard error")
    return [tables.paragraph(text), tables.markdown(heading, listed)]


def _explanation(columns: dict[tuple[str, str], Column]) -> list[str]:
    return [
        "### What the paper's ratios compare",
        tables.paragraph(
            "The certificate of (E,C,G)+M is about the plain mean: the mean of the angle as a "
            "number in [-180°, 180°). The paper's attack moves the circular mean, and so does the "
            f"line *{OTHER.name}*. Its ratio compares two statistics, which differ in two ways."
        ),
        tables.paragraph(
            "*The jump.* An output that crosses the jump at ±180° moves the plain mean by 360° "
            "times its weight, and the circular mean hardly at all. The table divides the images "
            f"by whether at least {ACROSS:.0%} of the outputs lie beyond the jump, seen "
            "from their circular mean."
        ),
        _by_the_jump(columns),
        tables.paragraph(
            "*Short resultants.* Where the outputs point in many directions, the mean of their "
            "unit vectors (the resultant) is short, and a small change turns it faster than it "
            "moves the plain mean. The certificate does not promise that the circular mean stays, "
            "and a ratio below 1 is no error of it. The paper has two such images, 0.39 and 0.65, "
            "and takes them for sampling error."
        ),
        *(_below(name, columns) for name in OF_NETWORK if (name, OTHER.name) in columns),
    ]


def _by_the_jump(columns: dict[tuple[str, str], Column]) -> str:
    lines = []
    for network in OF_NETWORK:
        for name, beyond in ((f"less than {ACROSS:.0%}", False), ("more", True)):
            cells: list[Any] = [f"`{network}`", name]
            for one in OF_THE_MEAN:
                column = columns.get((network, one.name), Column([], 0))
                pairs = zip(column.ended, column.ratio)
                ratios = [r for line, r in pairs if (line["across"] >= ACROSS) == beyond]
                cells += [len(ratios), f"{_mean(ratios):.2f}" if ratios else ""]
            lines.append(cells)
    heading = ["network", "beyond the jump"]
    for one in OF_THE_MEAN:
        heading += ["images", one.name]
    return tables.markdown(heading, [line for line in lines if line[2] or line[4]])


def _below(network: str, columns: dict[tuple[str, str], Column]) -> str:
    """The images on which the circular mean leaves inside the certificate of the plain mean."""
    other, plain = columns[network, OTHER.name], columns[network, PLAIN.name]
    own = {line["image"]: r for line, r in zip(plain.ended, plain.ratio)}
    ratio = dict(zip((line["image"] for line in other.ended), other.ratio))
    ended = sorted(other.ended, key=lambda line: ratio[line["image"]])
    below = [line for line in ended if ratio[line["image"]] < 1.0]
    rest = [line for line in other.lines if line not in below]
    if not below:
        return tables.paragraph(f"`{network}`: no ratio of the circular mean is below 1.")
    told = ", ".join(
        f"{line['image']:g} ({ratio[line['image']]:.2f}, {line['resultant']:.2f}, "
        f"{_told(own.get(line['image']))})"
        for line in below[:LISTED]
    )
    return tables.paragraph(
        f"`{network}`: the ratio of the circular mean is below 1 on {len(below)} images, such as "
        f"{told}. In parentheses are this ratio, the length of the resultant, and the ratio of "
        f"the plain mean's own attack. The median length is {_median(below):.2f} on these images "
        f"and {_median(rest):.2f} on the others."
    )


def _median(lines: list[dict[str, Any]]) -> float:
    """Of the lengths of the resultants; NaN of none."""
    return float(np.median([line["resultant"] for line in lines])) if lines else float("nan")


def _told(ratio: Optional[float]) -> str:
    return "capped" if ratio is None else f"{ratio:.2f}"
