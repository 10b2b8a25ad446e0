"""Missing cells of a table: NaN in the rows of the caller, and in the rows that the model gets. The
library gets a number in place of each, and the noise that it adds there is dropped (theory 1.7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import optional_scale
from ._types import Model
from .constants import Status
from .denoised import check_whole
from .errors import CertregError

# It can carry any noise, and distinguishes inputs in records and certificates: no quantity has this
# value by chance.
PLACEHOLDER = np.uint32(0x00C0FFEE).view(np.float32)


class MissingCells:
    """The missing cells of an input.

    z      the input, float32 of shape (features,)
    noisy  True for each feature that gets noise
    some   True if the cell of such a feature is missing

    Raises ValueError if the model's denoiser needs a cell that is missing."""

    def __init__(self, z: np.ndarray, noisy: np.ndarray, model: Model = None) -> None:
        missing = np.isnan(z)
        self.at = np.flatnonzero(missing)
        self.values = z[self.at]
        self.some = bool(noisy[self.at].any())
        self._nothing_left = self.some and not (noisy & ~missing).any()
        if self.some:
            check_whole(model, z[None])

    def check(self) -> None:
        """Raises CertregError if no change of the input can be certified."""
        if self._nothing_left:
            text = "all cells that get noise are missing: no change of the input is left to certify"
            raise CertregError(Status.INVALID, text=text)

    def filled(self, z: np.ndarray) -> np.ndarray:
        """The input for the library."""
        if not self.at.size:
            return z
        z = z.copy()
        put_placeholders(z)
        return z

    def restore(self, x: np.ndarray) -> None:
        """Puts the missing cells back into noisy inputs, (rows, features)."""
        if self.at.size:
            x[:, self.at] = self.values


WHOLE = MissingCells(np.empty(0, np.float32), np.empty(0, bool))  # no cell is missing


def put_placeholders(*inputs: np.ndarray) -> None:
    """Fills the missing cells of inputs. Raises ValueError if they are not the same in all."""
    lacks = [np.isnan(each) for each in inputs]
    for each, missing in zip(inputs, lacks):
        if (missing != lacks[0]).any():
            raise ValueError("the inputs lack different cells: no radius covers their difference")
        each[missing] = PLACEHOLDER


def missing_with_noise(X: np.ndarray, scale: ArrayLike | None) -> np.ndarray | None:
    """True for each missing cell of a table, (rows, features), in a feature that gets noise; None
    if there is none."""
    missing = np.isnan(X) if X.ndim == 2 else np.zeros(0, bool)
    scales = optional_scale(scale, X.shape[1:])
    if missing.any() and scales is not None:
        missing &= scales > 0
    return missing if missing.any() else None
