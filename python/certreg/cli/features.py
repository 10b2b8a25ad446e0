"""The features of a command's files, in the order in which the model gets them."""

from __future__ import annotations

from typing import Any, Callable

from ..frames import is_frame
from ..names import Names, by_position, order
from .failure import Failure


class Features:
    """Names of features. Those of the model count; if it has none, those of the first file that has
    some.

    owner   what has them, or the model
    names   None: there are none so far
    remark  is called with a sentence where columns have to be taken by their positions"""

    def __init__(self, owner: str, names: Names, remark: Callable[[str], Any]) -> None:
        self.owner, self.names, self.remark = owner, names, remark

    def ordered(self, values: Any, names: Names, path: str) -> Any:
        """The columns of a file, which has these names for them, in the order of the features.
        Raises Failure if their names differ."""
        if names is None or self.names is None:
            self._by_position(values, names, path)
            return values
        try:
            return values.take(order(names, self.names, path, self.owner), axis=1)
        except ValueError as error:
            raise Failure(error) from None

    def _by_position(self, values: Any, names: Names, path: str) -> None:
        if names is not None:
            if not is_frame(values):  # with which the names go in
                self.remark(by_position(self.owner, path, names))
            self.owner, self.names = path, names
        elif self.names is not None and values[:1].size == len(self.names):
            if sorted(map(str, self.names)) == sorted(f"{value:.9g}" for value in values[0].flat):
                raise Failure(
                    f"{path} begins with the names of {self.owner}, which are numbers: leave out "
                    "this header, and give the columns in the order of the names"
                )
            self.remark(by_position(path, self.owner, self.names))
