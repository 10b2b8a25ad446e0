"""Writes regressor.onnx, a regressor as users of scikit-learn have them: y = 3 a - b + c / 2, by
skl2onnx; tests/python/test_onnx.py certifies it."""

import pathlib

import numpy as np
from skl2onnx import to_onnx
from sklearn.linear_model import LinearRegression

X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
fitted = LinearRegression().fit(X, X @ [3, -1, 0.5])
model = to_onnx(fitted, X[:1], target_opset=15)
pathlib.Path(__file__).with_name("regressor.onnx").write_bytes(model.SerializeToString())
