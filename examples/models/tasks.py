"""What the networks learn: the batches, the loss and the error in degrees of each task."""

import math

import torch
from torch.nn import functional as F

from data import images_of, slant, turn

EPS = 1e-4


class Rotation:
    """The angle of a digit that was turned about its center, as (cos, sin) up to a factor."""

    def __init__(self, folder, split, limit=180.0):
        self.images = torch.from_numpy(images_of(folder, split)).unsqueeze(1)
        self.limit = math.radians(limit)

    def batch(self, pick, generator=None):
        """The images at the indices, each turned by a uniform angle, and its (cos, sin)."""
        angle = (torch.rand(len(pick), generator=generator) * 2.0 - 1.0) * self.limit
        return turn(self.images[pick], angle), torch.stack((torch.cos(angle), torch.sin(angle)), 1)

    @staticmethod
    def answer(y):
        return F.normalize(y, dim=1, eps=EPS)

    @classmethod
    def loss(cls, y, target, delta=0.02):
        """sqrt(sin^2(e/2) + delta^2) between the direction of y and the unit vectors of target."""
        cosine = (cls.answer(y) * target).sum(1)
        return torch.sqrt((1.0 - cosine).clamp_min(0.0) / 2.0 + delta * delta).mean()

    @staticmethod
    def error(y, target):
        angle, true = (torch.atan2(v[:, 1], v[:, 0]) for v in (y, target))
        return torch.rad2deg(torch.atan2(torch.sin(angle - true), torch.cos(angle - true)).abs())


class Slant:
    """The slant of an upright digit (data.slant). Networks learn it in units of ten degrees."""

    UNIT = 10.0

    def __init__(self, folder, split):
        images = images_of(folder, split)
        self.images = torch.from_numpy(images).unsqueeze(1)
        self.degrees = torch.from_numpy(slant(images)).float().unsqueeze(1)

    def batch(self, pick, generator=None):
        return self.images[pick], self.degrees[pick] / self.UNIT

    @staticmethod
    def answer(y):
        return y

    @staticmethod
    def loss(y, target):
        """The Huber loss, quadratic up to one degree."""
        return F.huber_loss(y, target, delta=0.1)

    @classmethod
    def error(cls, degrees, target):
        return (degrees - cls.UNIT * target).abs().squeeze(1)
