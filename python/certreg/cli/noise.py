"""Remarks of a command about the noise of the features, before it begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from ..frames import MOST_VALUES, SPREADS, Columns, by_position, listed, names_of, noise_on
from ..frames import split_frame, takes_by_position
from ..inputs import prepare, suspected_categorical
from ..models import as_model
from ..store import default_in
from ..table import not_covered
from .failure import Failure

if TYPE_CHECKING:
    from .commands import CommandInputs


def by_rule(scale: str | None) -> bool:
    """Returns True if --scale does not name the features that get noise."""
    return scale is None or scale.partition(":")[0] in SPREADS


def decide_noise(work: CommandInputs, named: bool) -> None:
    """Decides which features get noise if --scale does not name them, from all rows of the file,
    and prints it if it is not obvious; and which seem to be no quantities. `named`: the file of
    inputs has names of columns."""
    given, names, texts = work.given, work.features.names, []
    with work.failures():
        if by_rule(given.scale) and work.box is None:
            texts = _decide(work)
        matrix, columns, scale = split_frame(work.X, work.scale, values=False)
        if given.command != "check":  # prints the same as findings
            told = prepare(work.model.made(), work.X, 1.0 if work.scale is None else work.scale).inputs
            told._refuse()
            texts += suspected_categorical(told._with_nan(matrix), scale, names)
            for text in texts:
                work.remark(text)
    moves = np.ones(matrix.shape[1:], bool)
    moves = moves if scale is None else np.reshape(np.asarray(scale) > 0, moves.shape)
    if columns is not None:
        _of_a_table(work, columns, moves)
        return
    if not moves.any():
        raise Failure("no column gets noise: give --scale")
    whole = np.zeros(moves.shape, bool)
    if names and named and not os.path.exists(given.scale or ""):
        known = np.where(np.isnan(matrix), 0, matrix)
        whole = moves & ((known == np.rint(known)) & (np.abs(known) < MOST_VALUES)).all(0)
    if names and whole.any():
        integers = listed([name for name, is_whole in zip(names, whole.tolist()) if is_whole])
        work.remark(
            f"{noise_on(names, moves)}. Whole numbers get it too, in {integers}: if they are "
            "exact, give a file with 0 for them as --scale"
        )
    elif by_rule(given.scale) and not moves.all() and not texts:
        shown = names or [f"feature {j}" for j in range(moves.size)]
        sets = any(getattr(work.given, name, None) for name in ("any", "at_most"))
        work.remark(f"{noise_on(shown, moves.flat)}: {not_covered(sets)}")


def _decide(work: CommandInputs) -> list[str]:
    """Sets the scale by the rule. Returns texts about it."""
    given, spread = work.given, work.scale
    interval = given.command == "interval"  # values of calibration points must decide nothing
    X = work.X if interval or not given.rows or spread is not None else work.reference("")
    kept = None
    if spread is None and getattr(given, "resume", None):
        kept = default_in(given.resume, np.shape(work.X)[1:])
    if kept is not None:
        work.scale = kept[0]
        return []
    values = not interval and spread is None
    read = prepare(work.model.made(), X, None, None, work.features.names, values)
    scale, texts = read.scale, read.texts
    if scale is None and given.rows and values:
        scale = np.ones(np.shape(X)[1:])  # so that the values of some rows decide nothing
    if spread is not None and scale is not None:
        scale = np.where(np.reshape(np.asarray(scale), spread.shape) > 0, spread, 0)
    work.scale = spread if scale is None else np.asarray(scale)
    return texts


def _of_a_table(work: CommandInputs, columns: Columns, moves: np.ndarray) -> None:
    if not moves.any():
        raise Failure(f"{work.mixed}, and no other column gets noise: repair it, or give --scale")
    function = as_model(work.model.made())
    if names_of(function, columns.names) is None and takes_by_position(function):
        work.remark(by_position(work.given.model, work.given.inputs, columns.names))
    noisy = ", ".join(np.array(columns.names)[moves])
    work.remark(f"{work.mixed}: the model gets a DataFrame, and only {noisy} get noise")
