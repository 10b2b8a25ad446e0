"""Images of MNIST, turned digits, and the slant of a digit. Needs numpy; turning needs torch."""

import gzip
import pathlib
import struct

import numpy as np

# Degrees. All but 0.02% of the training digits and all test digits lie within.
SLANT_RANGE = (-45.0, 60.0)


def read_idx(folder, name):
    """One IDX file of unsigned bytes, plain or gzipped."""
    plain = pathlib.Path(folder) / name
    packed = pathlib.Path(folder) / (name + ".gz")
    data = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    zero, kind, rank = struct.unpack(">HBB", data[:4])
    if zero != 0 or kind != 8:
        raise ValueError(f"{name}: not an IDX file of bytes")
    shape = struct.unpack(f">{rank}I", data[4 : 4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def images_of(folder, split):
    """The images of "train" or "t10k" as floats [N, 28, 28] in [0, 1]."""
    return read_idx(folder, f"{split}-images-idx3-ubyte").astype(np.float32) / np.float32(255.0)


def slant(images):
    """The slant of each image [N, side, side] in degrees, clipped to SLANT_RANGE.

    With the pixels as weights and y upwards, it is atan(mu11 / mu02), where mu11 is the central
    moment of x y and mu02 that of y y. A digit that leans to the right has a positive slant.
    """
    images = np.asarray(images, np.float64)
    place = np.arange(images.shape[-1])
    mass = images.sum((1, 2))
    x = place - (images.sum(1) @ place / mass)[:, None]
    y = (images.sum(2) @ place / mass)[:, None] - place
    mu11 = np.einsum("nij,ni,nj->n", images, y, x)
    mu02 = np.einsum("nij,ni->n", images, y * y)
    return np.clip(np.degrees(np.arctan(mu11 / mu02)), *SLANT_RANGE)


def turn(images, angle):
    """Turn each image [N, 1, 28, 28] about its center by its angle.

    Angles are in radians, counter-clockwise on the screen. Bilinear, black outside.
    """
    import torch
    from torch.nn import functional as F

    cos, sin, zero = torch.cos(angle), torch.sin(angle), torch.zeros_like(angle)
    theta = torch.stack((torch.stack((cos, -sin, zero), 1), torch.stack((sin, cos, zero), 1)), 1)
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
