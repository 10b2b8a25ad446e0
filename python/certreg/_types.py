"""Types that several modules share. Objects of optional packages have no types here, only names for
Any."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike

Axes: TypeAlias = Any  # of matplotlib
Figure: TypeAlias = Any  # of matplotlib
Frame: TypeAlias = Any  # a DataFrame of pandas
Series: TypeAlias = Any  # of pandas, with a value for each column or row
Package: TypeAlias = Any  # an optional package that has been imported
Session: TypeAlias = Any  # an InferenceSession of ONNX Runtime, or one of its tensors
Tensor: TypeAlias = Any  # of torch, or a name of ONNX
Executor: TypeAlias = Any  # like a concurrent.futures.Executor
DType: TypeAlias = Any  # what numpy takes as a dtype

Shape: TypeAlias = tuple[int, ...]
Turns: TypeAlias = "list[tuple[int, float, float]]"  # of angles: their column, lo and hi
Path: TypeAlias = Union[str, "os.PathLike[str]"]
Inputs: TypeAlias = ArrayLike | Frame  # rows of features
Scale: TypeAlias = ArrayLike | Mapping[str, float] | Series | str | None
Line: TypeAlias = "dict[str, Any]"  # of a table, by the names of its columns
Table: TypeAlias = "list[dict[str, Any]]"

Model: TypeAlias = object  # see models.as_model
Function: TypeAlias = Callable[..., ArrayLike]  # a model as a function of arrays or DataFrames
Progress: TypeAlias = bool | Callable[[int, int], object]
Names: TypeAlias = Sequence[str] | None  # of features, in order; None: they have no names
