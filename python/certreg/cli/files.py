"""Reads files of numbers and of a seed, and writes files of results."""

from __future__ import annotations

import contextlib
import csv
import gzip
import importlib
import io
import os
import re
import zlib
from typing import Any, Callable, Sequence, TextIO

import numpy as np

from ..arguments import Data, Frame, Names, Package, Shape, needed, seed_or_random
from ..arrays import scale_of, unusable
from ..files import place_of, replace
from ..frames import SPREADS, by_position, feature_scale, is_frame, number_columns, order
from ..units import checked_bounds
from .streams import FILE, Failure, StandardInput, one_line

RowRange = tuple[int, int | None]  # first row, and the row after the last
ALL: RowRange = (0, None)


class Mixed(Failure):
    """A table holds texts or dates too, which a model in Python may take."""


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
        if names is not None and self.names is not None:
            try:
                return values.take(order(names, self.names, path, self.owner), axis=1)
            except ValueError as error:
                raise Failure(error) from None
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
        return values


def suffix_of(path: str) -> str:
    """What a name ends with, in lower case, such as .npy or .csv.gz."""
    name, suffix = os.path.splitext(path.lower())
    return ".csv.gz" if suffix == ".gz" and name.endswith(".csv") else suffix


# ---- reading
def opened(path: str) -> TextIO:
    """A CSV file, which may be compressed, or standard input."""
    data: Any  # bytes
    if isinstance(path, StandardInput):
        data = io.BytesIO(path.data)
    else:
        data = gzip.open(path) if suffix_of(path) == ".csv.gz" else open(path, "rb")
    return io.TextIOWrapper(data, encoding="utf-8-sig", newline="")


def read_array(path: str, name: str | None = None) -> tuple[np.ndarray, Names]:
    """The array of numbers in a file, and the names of its columns; `name` chooses an array of an
    .npz file. The array may be a memory map of the file. All functions that read files raise
    Failure for wrong files."""
    suffix = ".csv" if isinstance(path, StandardInput) else suffix_of(path)
    readers = {".npy": _numpy, ".npz": _numpy, ".csv": _csv, ".csv.gz": _csv, ".parquet": _parquet}
    if suffix not in readers:
        raise Failure(f"{path} must end with one of {', '.join(readers)}")
    if name is not None and suffix != ".npz":
        raise Failure(f"--array names an array of an .npz file; {path} has only one")
    try:
        values, names = readers[suffix](path, name)
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror or error}") from None
    if values.dtype.kind not in "buif":
        wrong = Mixed if suffix == ".parquet" else Failure
        raise wrong(f"{path} holds {values.dtype}; it must hold numbers")
    return values, names


def read_rows(
    path: str, name: str | None = None, rows: RowRange = ALL
) -> tuple[np.ndarray, Names, int]:
    """The chosen inputs, finite float32 of shape (rows, ...) with NaN for missing cells of tables,
    the names of their features, and the number of all inputs in the file."""
    values, names = read_array(path, name)
    if values.ndim > 1 and not len(values):
        raise Failure(f"{path} has no rows")
    if values.ndim < 2 or not values.size:
        raise Failure(f"{path} has shape {values.shape}; it must be (rows, features) or larger")
    count = len(values)
    values = _chosen(path, values, rows)
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(values, np.float32)
    bad = np.argwhere(unusable(values).reshape(len(values), -1))
    if len(bad):
        column = f", column {names[bad[0, 1]]!r}" if names else ""
        kinds = "infinite" if values.ndim == 2 else "NaN, infinite"
        raise Failure(
            f"{path} has a number that is {kinds} or too large for float32 in row "
            f"{bad[0, 0] + rows[0]}{column} (the first row is 0); remove or repair the row"
        )
    return values, names, count


def read_frame(path: str, rows: RowRange = ALL) -> tuple[Frame, Names, int]:
    """read_rows for a table that also holds texts or dates, as a DataFrame."""
    try:
        if path.lower().endswith(".parquet"):
            frame = pandas_for(path).read_parquet(path)
        else:
            with opened(path) as file:
                comma = _delimiter(file.readline())
            with opened(path) as file:
                frame = needed("pandas", path).read_csv(file, sep=comma)
    except ImportError as error:
        raise Failure(error) from None
    frame.columns = [str(name).strip() for name in frame.columns]
    return _chosen(path, frame, rows), list(frame.columns), len(frame)


def read_labels(path: str, count: int, rows: RowRange = ALL) -> np.ndarray:
    """The labels of the chosen rows, (rows,). The file has one for each of the `count` inputs."""
    values, _ = read_array(path)
    if values.shape not in ((count,), (count, 1)):
        one_more = values.ndim and len(values) == count + 1
        hint = " (a first line of numbers is no header)" if one_more else ""
        raise Failure(
            f"{path} has shape {values.shape}; it must have a label for each of the {count} inputs"
            f"{hint}"
        )
    values = np.asarray(_chosen(path, np.asarray(values, np.float64).reshape(count), rows))
    if not np.isfinite(values).all():
        raise Failure(f"{path} has a label that is NaN or infinite")
    return values


def read_scale(
    text: str, shape: Shape, features: Features, inputs: Callable[[str], Data] | None = None
) -> np.ndarray:
    """The noise of each feature in units of sigma, an array of this shape: from a number, a file,
    or the spread of inputs. `inputs` reads a file of inputs, or without a name the command's."""
    kind, _, path = text.partition(":")
    values: float | np.ndarray
    if inputs is not None and kind in SPREADS:
        try:
            values = np.asarray(feature_scale(inputs(path), kind))
        except ValueError as error:
            raise Failure(f"--scale {text}: {error}") from None
        if values.shape != shape:
            wrong = f"its inputs have shape {values.shape}; they must have {shape}"
            raise Failure(f"--scale {text}: {wrong}")
    else:
        expected = f"--scale is {text!r}; it must be a number, std, iqr, std:FILE or a file"
        what = "without std: before it a scale has one for"
        values = _number_or_file(text, expected, shape, features, what)
    scale = scale_of(values, shape)
    if not np.isfinite(scale).all() or (scale < 0).any() or not scale.any():
        raise Failure("--scale must hold finite numbers of at least 0, not all of them 0")
    return scale.reshape(shape)


def read_box(text: str, shape: Shape, features: Features) -> np.ndarray:
    """The bound of each feature, an array of this shape: from a number or a file."""
    expected = f"--box is {text!r}; it must be a number or a file"
    values = _number_or_file(text, expected, shape, features, "a box has a bound for")
    try:
        return checked_bounds(values, shape, "--box", features.names)
    except ValueError as error:
        raise Failure(str(error)) from None


def read_groups(path: str, shape: Shape, features: Features) -> np.ndarray:
    """The group of each feature, an array of this shape."""
    return _of_each(path, shape, features, "it must have the group of")


def _number_or_file(
    text: str, expected: str, shape: Shape, features: Features, what: str
) -> float | np.ndarray:
    with contextlib.suppress(ValueError):
        return float(text)
    if not os.path.exists(text):
        raise Failure(f"{expected} that can be read")
    return _of_each(text, shape, features, what)


def _of_each(path: str, shape: Shape, features: Features, what: str) -> np.ndarray:
    """A number for each feature, in an array of this shape. If the file has one row, its columns
    are matched with the features by their names."""
    values, names = read_array(path)
    row = values.reshape(1, -1)
    values = features.ordered(row, names if values.shape == row.shape else None, path)
    if values.size != int(np.prod(shape)):
        raise Failure(
            f"{path} has {values.size} numbers; {what} each of the {int(np.prod(shape))} features "
            "of an input"
        )
    return np.asarray(values).reshape(shape)


def _chosen(path: str, values: Frame, rows: RowRange) -> Frame:
    first, end = rows
    if first >= len(values) or (end is not None and end > len(values)):
        raise Failure(f"--rows goes beyond {path}, which has {len(values)} rows")
    return values[first:end]


def _numpy(path: str, name: str | None) -> tuple[np.ndarray, Names]:
    suffix = path[-4:].lower()
    try:
        if suffix == ".npy":
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False)), None
        with np.load(path, allow_pickle=False) as arrays:
            names = list(arrays.files)
            if name is None and len(names) == 1:
                name = names[0]
            if name not in names:
                raise Failure(f"{path} has the arrays {', '.join(names)}; choose one with --array")
            return np.asarray(arrays[name]), None
    except (OSError, Failure):
        raise
    except Exception:  # numpy and zipfile raise various classes for damaged files
        raise Failure(f"{path} is damaged, or not an {suffix} file of numbers") from None


def _csv(path: str, _: str | None) -> tuple[np.ndarray, Names]:
    with opened(path) as file:
        try:
            first = file.readline()
            file.seek(0)
            lines = list(csv.reader(file, delimiter=_delimiter(first)))
        except (UnicodeDecodeError, csv.Error, EOFError, zlib.error) as error:
            raise Failure(f"{path} is not a CSV file: {one_line(error)}") from None
    while lines and not lines[-1]:
        del lines[-1]  # empty lines at the end
    header = bool(lines) and not any(map(_is_number, lines[0]))
    _check_table(path, lines, header)
    names = [name.strip() for name in lines[0]] if header else None
    try:
        cells = [[cell.strip() or "nan" for cell in line] for line in lines[header:]]
        return np.array(cells, np.float64), names
    except ValueError:
        text = f"{path} has {_first_text(lines, header)}, which is not a number"
        if header:
            raise Mixed(text) from None
        raise Failure(f"{text}; a table with texts needs a header") from None


def _check_table(path: str, lines: Sequence[Sequence[str]], header: bool) -> None:
    if len(lines) <= header:
        raise Failure(f"{path} has no rows")
    for number, line in enumerate(lines, 1):
        if len(line) != len(lines[0]):
            raise Failure(
                f"{path} has {len(lines[0])} columns in line 1, but {len(line)} in line {number}"
            )
    for column in range(0 if header else len(lines[0])):
        if not any(line[column].strip() for line in lines):
            raise Failure(f"{path} has nothing in column {column + 1}: leave it out, or name it")
    if header and "" in lines[0]:
        raise Failure(
            f"{path} has a column without a name: name it, or leave it out if it numbers the rows "
            "(pandas: index=False)"
        )
    if len(lines[0]) > 1 and list(lines[0]) == [str(i) for i in range(len(lines[0]))]:
        raise Failure(
            f"{path} begins with {lines[0][0]}, {lines[0][1]}, ..., which may be a header or an "
            "input: give the columns other names, or no header"
        )


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _is_number(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False


def _first_text(lines: Sequence[Sequence[str]], header: bool) -> str:
    for number, line in enumerate(lines[header:], 1 + header):
        for column, text in enumerate(line):
            if text.strip() and not _is_number(text):
                name = repr(lines[0][column]) if header else column + 1
                return f"{text!r} in line {number}, column {name}"
    return "a text"


def _parquet(path: str, _: str | None) -> tuple[np.ndarray, Names]:
    pandas = pandas_for(path)
    try:
        frame = pandas.read_parquet(path)
        numbered = list(frame.columns) == list(range(frame.shape[1]))
        names = None if numbered else [str(name) for name in frame.columns]
        values = np.asarray(frame.to_numpy())
        if values.dtype == object and number_columns(frame).all():
            values = frame.to_numpy(float, na_value=np.nan)
        return values, names
    except (ImportError, OSError):
        raise
    except Exception as error:  # the engine raises various classes
        raise Failure(f"{path} is not a Parquet file: {one_line(error)}") from None


def pandas_for(path: str) -> Package:
    """pandas, with the package that reads and writes Parquet."""
    try:
        importlib.import_module("pyarrow")
        return importlib.import_module("pandas")
    except ImportError as error:
        raise Failure(f"{path} needs the packages pandas and pyarrow: {error}") from None


# ---- writing
class Destination:
    """A file of results. The constructor raises Failure if the file cannot be written, before any
    computation."""

    def __init__(self, path: str, suffixes: Sequence[str]) -> None:
        self.path = os.path.abspath(path)  # a model may change the folder
        self.name, self.suffix, self.begun = path, suffix_of(path), False
        if self.suffix not in suffixes:
            one = "one of " if len(suffixes) > 1 else ""
            raise Failure(f"{path} must end with {one}{', '.join(suffixes)}")
        if self.suffix == ".parquet":
            pandas_for(path)
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise Failure(f"{path} cannot be written: it is not a regular file", FILE)
        self.write_bytes(b"", commit=lambda made, place: None)

    def write(self, fill: Callable[[str], object]) -> None:
        """Calls `fill` with the path, which writes the file. Raises Failure after an OSError."""
        try:
            fill(self.path)
        except OSError as error:
            why = error.strerror or error
            raise Failure(f"{self.name} cannot be written: {why}", FILE) from None

    def write_bytes(self, data: bytes, **more: Any) -> None:
        """Writes bytes; `more` are arguments of replace."""
        self.write(lambda path: replace(path, data, **more))

    def write_text(self, text: str, **more: Any) -> None:
        """Writes a text in UTF-8, compressed for .csv.gz."""
        data = text.encode("utf-8", "backslashreplace")
        self.write_bytes(gzip.compress(data, mtime=0) if self.suffix == ".csv.gz" else data, **more)

    def append(self, text: str) -> None:
        """Writes whole lines at once; the first ones begin the file anew."""

        def fill(path: str) -> None:
            with open(place_of(path), "ab" if self.begun else "wb") as file:
                file.write(text.encode())

        self.write(fill)
        self.begun = True

    def write_array(self, values: np.ndarray) -> None:
        """Writes an .npy file. np.save alone does not detect every full disk."""
        data = io.BytesIO()
        np.save(data, values)
        self.write_bytes(data.getvalue())


def seed_in(path: str) -> int:
    """The seed in a file. If there is no such file, it is made with a secret seed, and only its
    owner can read it. Commands that make the file at the same time get the same seed."""
    try:
        if not os.path.exists(path):
            line = f"{seed_or_random(None)}\n".encode()
            with contextlib.suppress(FileExistsError):  # another command was faster
                replace(path, line, secret=True, commit=os.link)
        with open(place_of(path), encoding="ascii", errors="replace") as file:
            text = file.read(100)
    except OSError as error:
        why = error.strerror or error
        raise Failure(
            f"--seed-file {path} can neither be read nor made: {why}; give a file with a seed", FILE
        ) from None
    if not re.fullmatch(r"\d+\n", text, re.ASCII) or not 0 < int(text) < 2**64:
        raise Failure(
            f"--seed-file {path} holds no seed; it must be one line, with its end: an integer from "
            "1 to 2^64 - 1",
            FILE,
        )
    return int(text)
