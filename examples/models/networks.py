"""The networks, in PyTorch. Each reads images [N, 1, 28, 28]."""

import math

import torch
from torch import nn
from torch.nn import functional as F

# (output channels, kernel, stride) of each convolution, then the widths of the dense layers.
ROTATION = (((32, 5, 2), (32, 3, 1), (48, 3, 2), (48, 3, 1)), (24, 2))
SLANT = (((24, 5, 2), (32, 3, 2), (32, 3, 1)), (14, 1))
# (output channels of each orientation, kernel, stride, padding). A convolution of stride 2 keeps
# the symmetry of an even side under quarter turns only if its kernel is even. The last kernel
# covers the 7x7 pixels that are left.
EQUIVARIANT = ((8, 6, 2, 2), (12, 3, 1, 1), (20, 4, 2, 1), (16, 3, 1, 1), (6, 7, 1, 0))
LAST_SLOPE = 0.1  # of the leaky ReLU before the head; the others are plain


def chain(convolutions, dense):
    """Convolutions, each with batch normalisation, then dense layers; ReLU between."""
    layers, channels, side = [], 1, 28
    for out, kernel, stride in convolutions:
        layers += [
            nn.Conv2d(channels, out, kernel, stride, kernel // 2, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(),
        ]
        channels, side = out, (side + 2 * (kernel // 2) - kernel) // stride + 1
    layers.append(nn.Flatten())
    width = channels * side * side
    for out in dense:
        layers += [nn.Linear(width, out), nn.ReLU()]
        width = out
    return nn.Sequential(*layers[:-1])


class GroupConvolution(nn.Module):
    """A convolution over shifts and quarter turns, batch normalisation and ReLU.

    With a slope, the ReLU is leaky.

    Channels are sorted by orientation: those of 0 degrees, then of 90, 180 and 270 degrees. The
    weights of 0 degrees are stored. Those of the next orientation are the same, turned by 90
    degrees, and read the orientations of the input one further on.
    """

    def __init__(self, channels, out, kernel, stride, padding, lifting, slope):
        super().__init__()
        self.stride, self.padding = stride, padding
        # A lifting layer reads an image, which has no orientations.
        self.step = 0 if lifting else channels
        inputs = channels if lifting else 4 * channels
        self.weight = nn.Parameter(torch.empty(out, inputs, kernel, kernel))
        nn.init.kaiming_normal_(self.weight)
        # The orientations share the statistics; otherwise the layer would not be equivariant.
        self.norm = nn.BatchNorm2d(out)
        self.rectify = nn.LeakyReLU(slope) if slope else nn.ReLU()

    def filters(self):
        """The weights of all orientations."""
        turned = [self.weight]
        for _ in range(3):
            turned.append(torch.rot90(turned[-1], 1, (2, 3)).roll(self.step, 1))
        return torch.cat(turned)

    def forward(self, x):
        x = F.conv2d(x, self.filters(), stride=self.stride, padding=self.padding)
        x = self.norm(x.unflatten(1, (4, -1)).flatten(0, 1))
        return self.rectify(x.unflatten(0, (-1, 4)).flatten(1, 2))


class Head(nn.Module):
    """The vector that turns with the input: sum over c and r of a[r, c] R^r u[c].

    a is the activation of channel c at the orientation r, R a quarter turn, and u[c] is learned.
    """

    def __init__(self, channels):
        super().__init__()
        self.direction = nn.Parameter(torch.randn(channels, 2) / math.sqrt(channels))

    def matrix(self):
        """The linear map from the activations to the vector, [2, 4 channels]."""
        turned = [self.direction.T]
        for _ in range(3):
            turned.append(torch.stack((-turned[-1][1], turned[-1][0])))
        return torch.cat(turned, 1)

    def forward(self, x):
        return F.linear(x.flatten(1), self.matrix())


def equivariant(layers):
    """A network f with f(x turned by 90 degrees) = f(x) turned by 90 degrees."""
    parts, channels = [], 1
    for out, kernel, stride, padding in layers:
        # The head cannot have a bias. After a ReLU that is 0 everywhere, as under noise that was
        # not seen in training, the answer would be (0, 0).
        slope = LAST_SLOPE if len(parts) == len(layers) - 1 else 0.0
        parts.append(GroupConvolution(channels, out, kernel, stride, padding, not parts, slope))
        channels = out
    return nn.Sequential(*parts, Head(channels))
