#!/usr/bin/env python3
"""Write the inputs on which denoiser.onnx was trained: the first 8,000 training images of MNIST,
each upright and turned by a random angle.

    python3 unlabelled.py MNIST_DIR X.npy

X.npy is [16000, 28, 28]. Needs torch and numpy.
"""

import math
import sys

import numpy as np
import torch

from data import images_of, turn

ROWS, SEED = 8000, 1


def main():
    folder, path = sys.argv[1:]
    upright = torch.from_numpy(images_of(folder, "train")[:ROWS])
    angle = torch.rand(ROWS, generator=torch.Generator().manual_seed(SEED)) * 2.0 - 1.0
    turned = turn(upright.unsqueeze(1), angle * math.pi).squeeze(1)
    np.save(path, torch.stack((upright, turned), 1).flatten(0, 1).numpy())


if __name__ == "__main__":
    main()
