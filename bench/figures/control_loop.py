"""The control loop of examples/control_loop under attack: where the cart is, and how far the
certificate of each tick reaches."""

from __future__ import annotations

import io
import os
import pathlib
import subprocess
from typing import Any

import numpy as np

from certreg.plots import legend_above
from reproduce import figures
from reproduce.settings import Settings

from .style import BLUE, GREY, ORANGE, VERMILION

PROGRAM = pathlib.Path("examples/control_loop/control_loop")  # beside the library
BOUND = 0.15  # ERROR_BOUND of the program
SHADOWS = ((3.5, 5), (8.5, 10))
# As enum trust.
TRUSTS = {
    0: ("network", dict(color=VERMILION, linestyle="--", linewidth=2)),
    1: ("network, gated", dict(color=ORANGE, linestyle=":", linewidth=2)),
    2: ("network, certified", dict(color=BLUE, linestyle="-", linewidth=2)),
    3: ("tilt sensor", dict(color=GREY, linestyle="-.", linewidth=1.3)),
}


def found(settings: Settings) -> np.ndarray:
    """What the program traced."""
    program = pathlib.Path(os.environ["CERTREG_LIB"]).resolve().parent / PROGRAM
    text = subprocess.run([program, "trace"], check=True, capture_output=True, text=True).stdout
    return np.genfromtxt(io.StringIO(text), delimiter=",", names=True)


def drawn(trace: np.ndarray) -> Any:
    upper, lower = figures.panels(("cart, m from its mark", "radius left"), "seconds", 5.4)
    for trust, (name, look) in TRUSTS.items():
        run = trace[trace["trust"] == trust]
        upper.plot(run["time"], run["x"], label=name, **look)
        if run["time"][-1] < 9:
            upper.plot(run["time"][-1], run["x"][-1], "x", color=look["color"], markersize=9)
    run = trace[trace["trust"] == 2]
    lower.plot(run["time"], run["left"], color=BLUE, linestyle="-", linewidth=1)
    lower.axhline(BOUND, color="black", linestyle="-", linewidth=1)
    lower.text(0.1, 0.9 * BOUND, "the camera's error", va="top")
    lower.set_ylim(0, None)
    for ax in (upper, lower):
        for first, last in SHADOWS:
            ax.axvspan(first, last, color="#dddddd", linewidth=0)
    legend_above(upper)
    return upper


OF_DIGITS = False
DRAWINGS = {"control_loop": drawn}
