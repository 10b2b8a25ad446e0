"""The features of a command's files, in the order in which the model gets them."""

from __future__ import annotations

from typing import Callable

from ..arguments import Frame, Names
from ..frames import by_position, is_frame, order
from .failure import Failure


class Features:
    """Names of features: the names of the model; if it has none, the names of the first file with
    names.

    owner   the file with the names, or the model
    names   None: there are no names so far
    remark  is called with a text if columns have to be taken by their positions"""

    def __init__(self, owner: str, names: Names, remark: Callable[[str], object]) -> None:
        self.owner, self.names, self.remark = owner, names, remark

    def ordered(self, values: Frame, names: Names, path: str) -> Frame:
        """The columns of a file, with these names, in the order of the features. Raises Failure if
        names differ."""
        if names is None or self.names is None:
            self._by_position(values, names, path)
            return values
        try:
            return values.take(order(names, self.names, path, self.owner), axis=1)
        except ValueError as error:
            raise Failure(error) from None

    def _by_position(self, values: Frame, names: Names, path: str) -> None:
        if names is not None:
            if not is_frame(values):  # a DataFrame passes its names to the model
                self.remark(by_position(self.owner, path, names))
            self.owner, self.names = path, names
        elif self.names is not None and values[:1].size == len(self.names):
            if sorted(map(str, self.names)) == sorted(f"{value:.9g}" for value in values[0].flat):
                raise Failure(
                    f"{path} begins with the names of {self.owner}, which are numbers: leave out "
                    "this header, and give the columns in the order of the names"
                )
            self.remark(by_position(path, self.owner, self.names))
