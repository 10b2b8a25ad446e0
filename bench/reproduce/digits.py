"""Handwritten digits: 100 test images of MNIST or drawn ones, always the same, turned by the same
angles."""

from __future__ import annotations

import ctypes
import dataclasses
import gzip
import math
import os
import pathlib
import struct
from typing import Optional

import numpy as np

from .settings import SEED, SettingsError

SIDE, PIXELS, CLASSES = 28, 784, 10
MOST_ITEMS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Digits:
    """upright, turned: (n, 784) of float32 in [0, 1]; label: (n,); degrees: (n,) by which each
    image was turned, in [-180, 180), counter-clockwise on the screen."""

    upright: np.ndarray
    turned: np.ndarray
    label: np.ndarray
    degrees: np.ndarray
    source: str


class _Uniform:
    """SplitMix64 as uniform numbers in [0, 1)."""

    def __init__(self, state: int) -> None:
        self.state = state

    def __call__(self) -> float:
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        v = self.state
        v = ((v ^ (v >> 30)) * 0xBF58476D1CE4E5B9) & mask
        v = ((v ^ (v >> 27)) * 0x94D049BB133111EB) & mask
        return float((v ^ (v >> 31)) >> 11) * 2.0**-53


def turned(image: np.ndarray, angle: float) -> np.ndarray:
    """An image, (784,), turned about its centre by an angle in radians; bilinear, black outside."""
    padded = np.pad(image.reshape(SIDE, SIDE), SIDE)  # whatever is read lies inside
    middle, cos, sin = 0.5 * (SIDE - 1), math.cos(angle), math.sin(angle)
    dy, dx = np.mgrid[0:SIDE, 0:SIDE] - middle
    x, y = middle + cos * dx - sin * dy, middle + sin * dx + cos * dy
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = (x - left).astype(np.float32), (y - top).astype(np.float32)
    left, top = left + SIDE, top + SIDE
    above = (1 - u) * padded[top, left] + u * padded[top, left + 1]
    below = (1 - u) * padded[top + 1, left] + u * padded[top + 1, left + 1]
    return ((1 - v) * above + v * below).astype(np.float32).ravel()


# ---- MNIST
def _bytes_of(folder: pathlib.Path, name: str) -> bytes:
    for path, opened in ((folder / name, open), (folder / (name + ".gz"), gzip.open)):
        if path.exists():
            try:
                with opened(path, "rb") as file:
                    return file.read()
            except (OSError, EOFError) as error:
                raise SettingsError(f"{path} is damaged: {error}") from None
    raise SettingsError(f"there is no {name} or {name}.gz in {folder} (CERTREG_MNIST)")


def _idx(folder: pathlib.Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An IDX file of bytes whose items have this shape."""
    data, head = _bytes_of(folder, name), 4 * (len(shape) + 2)
    rank = len(shape) + 1
    if len(data) < head or struct.unpack(">I", data[:4])[0] != 0x800 + rank:
        raise SettingsError(f"{folder / name} is not an IDX file of bytes with {rank} dimensions")
    items, *rest = struct.unpack(f">{rank}I", data[4:head])
    if tuple(rest) != shape or not 0 < items <= MOST_ITEMS:
        raise SettingsError(f"{folder / name} has items of shape {tuple(rest)}, not {shape}")
    if len(data) != head + items * math.prod(shape):
        raise SettingsError(f"{folder / name} is truncated or too long for its {items} items")
    return np.frombuffer(data, np.uint8, offset=head).reshape(items, -1)


def test_images(folder: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """The test images, (n, 784) of bytes, and their labels, (n,)."""
    pixels = _idx(folder, "t10k-images-idx3-ubyte", (SIDE, SIDE))
    labels = _idx(folder, "t10k-labels-idx1-ubyte", ()).ravel()
    if len(pixels) != len(labels):
        raise SettingsError(f"{folder}: the numbers of images and labels differ")
    return pixels, labels


class _FromFiles:
    """Images of each class at random, none of them twice."""

    source = "MNIST test images"

    def __init__(self, folder: pathlib.Path) -> None:
        self.pixels, labels = test_images(folder)
        self.left = [np.flatnonzero(labels == label).tolist() for label in range(CLASSES)]

    def __call__(self, index: int, uniform: _Uniform) -> np.ndarray:
        left = self.left[index % CLASSES]
        if not left:
            raise SettingsError(f"there are too few images of digit {index % CLASSES}")
        item = left.pop(int(uniform() * len(left)))
        return self.pixels[item].astype(np.float32) / np.float32(255)


# ---- drawn digits
class _Drawn:
    """The demo's drawings, by its own code."""

    source = "drawn digits"

    def __init__(self) -> None:
        path = os.environ.get("REPRODUCE_DIGITS", "")
        try:
            self.draw = ctypes.CDLL(path).digits_draw if path else None
        except OSError as error:
            raise SettingsError(f"{path} cannot be opened: {error}") from None
        if self.draw is None:
            raise SettingsError("without CERTREG_MNIST the digits are drawn: run make reproduce")
        self.draw.argtypes = (ctypes.c_int, ctypes.c_uint64, ctypes.c_void_p)
        self.draw.restype = None

    def __call__(self, index: int, _: _Uniform) -> np.ndarray:
        image = np.zeros(PIXELS, np.float32)
        self.draw(index % CLASSES, SEED + index, image.ctypes.data)  # type: ignore[misc]
        return image


def load(folder: Optional[pathlib.Path], count: int) -> Digits:
    """`count` digits, class after class. Raises SettingsError where the files are missing,
    truncated or of other shapes."""
    upright_of = _FromFiles(folder) if folder else _Drawn()
    uniform, upright, degrees = _Uniform(SEED), [], []
    for index in range(count):
        upright.append(upright_of(index, uniform))
        degrees.append(-180.0 + 360.0 * uniform())
    turns = [turned(image, math.radians(angle)) for image, angle in zip(upright, degrees)]
    labels = np.arange(count) % CLASSES
    return Digits(np.array(upright), np.array(turns), labels, np.array(degrees), upright_of.source)


BEYOND = 1_000_000  # drawn digits from this number on are in no certificate


def unlabelled(folder: Optional[pathlib.Path], count: int, turn: bool) -> np.ndarray:
    """Images that no certificate is about, (count, 784), upright or turned: the first training
    images of MNIST, or drawn ones."""
    if folder:
        pixels = _idx(folder, "train-images-idx3-ubyte", (SIDE, SIDE))[:count]
        images = pixels.astype(np.float32) / np.float32(255)
    else:
        drawn, uniform = _Drawn(), _Uniform(SEED)
        images = np.array([drawn(BEYOND + index, uniform) for index in range(count)])
    if not turn:
        return images
    angle = _Uniform(SEED + 1)
    return np.array([turned(image, 2 * math.pi * angle()) for image in images])
