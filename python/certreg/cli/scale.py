"""The command scale."""

from __future__ import annotations

import argparse

import numpy as np

from ..arguments import Names
from ..display import aligned
from ..rows import grouped
from ..tuning import TunedScale, tune_scale
from . import arguments
from .commands import CommandInputs
from .failure import DONE
from .files import Destination, read_groups
from .tables import answer, as_lines


def run(given: argparse.Namespace) -> int:
    """Chooses a scale and sigma, prints them, and writes the scale."""
    arguments.check_options(given)
    destination = Destination(given.out, (".npy", ".csv")) if given.out else None
    work = CommandInputs(given)
    tuned = _tuned(work, _groups(work))
    if destination is not None:
        _write(destination, np.asarray(tuned.scale, np.float32), work.features.names)
    names = "sigma changed gain gain_error scale".split()
    document = {name: getattr(tuned, name) for name in names}
    document.update(scale=np.asarray(tuned.scale), groups=tuned.table())
    answer(given, f"{aligned(tuned.table())}\n{_recommendation(tuned)}", document)
    return DONE


def _groups(work: CommandInputs) -> np.ndarray | None:
    """The groups of the features; without a file each is a group, under its name if it has one."""
    if work.given.groups:
        return read_groups(work.given.groups, work.X.shape[1:], work.features)
    names = work.features.names
    return None if names is None else np.reshape(names, work.X.shape[1:])


def _write(destination: Destination, scale: np.ndarray, names: Names) -> None:
    if destination.suffix == ".npy":
        destination.write_array(scale)
        return
    numbers = scale.ravel().astype(np.float64).tolist()  # all digits: fewer would be rounded up
    destination.write_text(as_lines([*([] if names is None else [names]), numbers]))


def _tuned(work: CommandInputs, groups: np.ndarray | None) -> TunedScale:
    given = work.given
    with work.failures():
        return tune_scale(
            work.model.function,
            work.X,
            given.sigma,
            arguments.questions(given)[0],
            groups=groups,
            scale=work.scale,
            box=work.box,
            rounds=given.rounds,
            limit=given.limit,
            labels=work.labels,
            **grouped({**work.outputs(work.X, work.first), **arguments.sampling(given)}),
        )


def _recommendation(tuned: TunedScale) -> str:
    measured = (
        f"{tuned.gain:.3f} times (standard error {tuned.gain_error:.3f}) that of the scale at the "
        "start, on rows that chose nothing"
    )
    if tuned.changed:
        return f"Deploy sigma {tuned.sigma:g} with this scale. The mean radius is {measured}."
    return (
        f"Deploy sigma {tuned.sigma:g} with the scale as it was. With these factors the mean "
        f"radius is {measured}, which is no clear gain."
    )
