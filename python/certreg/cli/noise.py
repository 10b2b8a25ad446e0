"""Remarks of a command about the noise of the features, before it begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from .._categorical import categorical_features_of, suspected_categorical
from ..frames import MOST_VALUES, Columns, split_frame
from ..models import as_model
from ..names import by_position, listed, names_of, noise_on, takes_by_position
from .failure import Failure

if TYPE_CHECKING:
    from .commands import CommandInputs


def remark_on_noise(work: CommandInputs, named: bool) -> None:
    """Prints which columns get noise if this is not obvious, and which seem to be no quantities.
    `named`: the file of inputs has names of columns."""
    given, names = work.given, work.features.names
    with work.failures():
        matrix, columns, scale = split_frame(work.X, work.scale)
        if given.command != "check":  # prints the same as findings
            categorical_features_of(work.model.made(), columns, scale).check(matrix)
            for text in suspected_categorical(matrix, scale, names):
                work.remark(text)
    moves = np.ones(matrix.shape[1:], bool)
    moves = moves if scale is None else np.reshape(np.asarray(scale) > 0, moves.shape)
    if columns is not None:
        _of_a_table(work, columns, moves)
    elif names and named and not os.path.exists(given.scale or ""):
        whole = moves & ((matrix == np.rint(matrix)) & (np.abs(matrix) < MOST_VALUES)).all(0)
        if whole.any():
            work.remark(
                f"{noise_on(names, moves)}. Whole numbers get it too, in "
                f"{listed(np.array(names)[whole])}: if they are exact, give a file with 0 for them "
                "as --scale"
            )


def _of_a_table(work: CommandInputs, columns: Columns, moves: np.ndarray) -> None:
    if not moves.any():
        raise Failure(f"{work.mixed}, and no other column has floats: repair it, or give --scale")
    function = as_model(work.model.made())
    if names_of(function, columns.names) is None and takes_by_position(function):
        work.remark(by_position(work.given.model, work.given.inputs, columns.names))
    noisy = ", ".join(np.array(columns.names)[moves])
    work.remark(f"{work.mixed}: the model gets a DataFrame, and only {noisy} get noise")
