"""reproduction.md from the sections of the parts."""

from __future__ import annotations

from types import ModuleType
from typing import Iterable

from . import methods, rows, summary
from .settings import Settings
from .tables import markdown, paragraph

HEAD = """# Reproduction

The experiments of Zhang and Frank, *Higher-Order Certified Robustness for Regression*
(ICML 2026), by this library. Each table has three things side by side: the paper's
procedure, the best published methods, and the library's own certificates.

    CERTREG_MNIST=<folder of the MNIST files> make reproduce    # an hour on two cores
    QUICK=1 make reproduce                                      # 90 seconds"""
HOW = """
The command writes CSV files, plots and this page to `lib/reproduce` (with `QUICK=1` to
`lib/reproduce-quick`). `PARTS=rotation` and the like compute one part. A run that is interrupted
goes on where it stopped. It needs NumPy and ONNX Runtime, and matplotlib for plots: `make deps`
installs them. The part about prediction intervals is not in the paper. It takes 9 minutes, and
uses the diabetes data of scikit-learn where that is installed. The networks and their errors are in
[examples/models](../examples/models/README.md). To publish the page, copy it and the folder
`figures` to `docs`."""
PROMISES = """
For every shift below the radius, the methods guarantee different things. Compare radii with this
table in mind. β is the probability that a served value misses."""


def write(settings: Settings, parts: Iterable[ModuleType]) -> None:
    """Writes the page, unless a part has not been computed yet."""
    try:
        sections = [part.report(settings) for part in parts]
        short = summary.report(settings)
    except FileNotFoundError as missing:
        print(f"no page yet: {missing.filename} is missing")
        return
    text = [HEAD, paragraph(HOW), short, _promises(), *sections, rows.report()]
    path = settings.path("reproduction.md")
    path.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    print(f"written: {path}")


def _promises() -> str:
    lines = []
    for key, text in methods.PROMISES.items():
        names = [method.name for method in methods.EVERY if method.promise == key]
        lines.append(["; ".join(names), text])
    table = markdown(("methods", "what stays within the tolerance, and of what"), lines)
    return "\n\n".join(["## What is promised", paragraph(PROMISES), table])
