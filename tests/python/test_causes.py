"""A refusal names what the model does, and a model that is mended as it says is certified."""

import functools

import numpy as np
import pytest

from kit import ASKED, X, Z, certreg, command_refused, estimator, model, no_warnings
from kit import node, onnx_file, package, parametrize, rows_of, said
from certreg import ModelWarning, OnnxModel, RowsError, check_model
from certreg.causes import cause

Scaler = type("Scaler", (), {"fit_transform": lambda self, x: x - x.mean(0)})
DICE, LIKELY = np.random.default_rng(1), "the likely cause is "


def layer(kind, forward, **state):  # a function that uses an object like a module of torch
    made = type(kind, (), {"forward": forward})()
    vars(made).update({"hidden": 0, "training": False, "batch_first": True, **state})
    return functools.partial(lambda made, x: made.forward(x)[:, 0], made)


def mix(self, x):
    return x - x.mean(0) * (self.training or not self.batch_first)


def drop(self, x):
    return x * (DICE.random(x.shape) > 0.5) if self.training else x


def keep(self, x):
    self.hidden = x.mean() + self.hidden * self.keeps
    return x + self.hidden * self.keeps


def seeded(x):
    return model(x) + np.random.default_rng(7).normal(size=len(x))


def half(weights, x):
    return x @ weights + np.finfo(weights.dtype).eps * len(x)  # rounds by the number of rows


def refusal(f, *more, **others):
    with pytest.raises(RowsError, match=LIKELY) as caught:
        rows_of(f, *more, **others)
    return str(caught.value).split(LIKELY, 1)[1]


def certifies(f, *more, **others):
    with no_warnings():
        return rows_of(f, *more, **others).done.all()


@parametrize(
    "words, wrong, right",
    ("BatchNorm: call", *(layer("BatchNorm1d", mix, training=on) for on in (True, False))),
    ("a layer whose first", *(layer("LSTM", mix, batch_first=on) for on in (False, True))),
    ("dropout or other randomness with a seed set in forward (default_rng)", seeded, model),
    ("low precision (float16)", *(functools.partial(half, np.ones(3, k)) for k in ("f2", "f4"))),
    ("fit_transform(): fit before", lambda x: Scaler().fit_transform(x)[:, 0], model),
)
def test_rows_that_see_each_other(words, wrong, right):
    assert refusal(wrong).startswith(words)
    assert words in check_model(wrong, X)[0].text
    with estimator(wrong) as e, pytest.raises(certreg.CertregError, match=LIKELY):
        e.begin(Z, 0.25)
    assert certifies(right)


@parametrize(
    "words, wrong, right",
    ("dropout: call", *(layer("Dropout", drop, training=on) for on in (True, False))),
    ("the state that is kept in hidden", *(layer("A", keep, keeps=on) for on in (True, False))),
)
def test_outputs_that_change_with_time(words, wrong, right):
    with pytest.warns(ModelWarning, match=LIKELY + words):
        rows_of(wrong)
    assert certifies(right)


def test_one_row_without_its_dimension():
    words = "squeeze() of one row: write squeeze(-1), or reshape(len(x), -1)"
    assert refusal(lambda: lambda x: x[:, :1].squeeze(), X[:1], jobs=2).startswith(words)
    assert refusal(lambda x: x[:, :2].squeeze(), outputs=2).startswith(words)
    assert words in str(check_model(lambda x: x[:, :1].squeeze(), X))
    assert certifies(lambda x: x[:, :1].squeeze(-1).reshape(len(x), -1), X[:1])


def test_dynamic_quantisation(folder):
    package("onnxruntime")
    first = node("DynamicQuantizeLinear", ["x"], "q", "s", "z")
    nodes = [first, node("DequantizeLinear", ["q", "s", "z"], "y")]
    f = OnnxModel(onnx_file("q.onnx", nodes, [("x", ["N", 3])], [("y", ["N", 3])]))
    assert refusal(f.session, outputs=3).startswith("dynamic quantisation: give batch=1")
    assert certifies(f, outputs=3, batch=1)
    np.save("x.npy", X)
    command = "certify", "q.onnx", "x.npy", *ASKED, "--columns", "0:1"
    command_refused(3, "dynamic quantisation: give --batch 1", *command)
    said(*command, "--batch", "1")


def test_modules_of_torch():
    torch = package("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 1))
    f = lambda x: net(torch.tensor(x)).detach()  # noqa: E731
    assert refusal(lambda x: f(x).bfloat16()).endswith("y.float(); 0 of 40 rows are done")
    assert certifies(lambda x: f(x).bfloat16().float())
    quantised = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear})
    assert refusal(quantised).startswith("dynamic quantisation") and certifies(quantised, batch=1)
    net.append(torch.nn.BatchNorm1d(1))
    assert refusal(f).startswith("BatchNorm") and certifies(net) and certifies(net.eval() and f)


def test_nothing_is_said_without_evidence():
    hostile = type("Hostile", (), dict.fromkeys(("__dict__", "dtype"), property(lambda _: 1 / 0)))
    seen = "an output changes by 1 if other rows are beside it"
    assert cause(hostile(), seen) == cause(lambda x: x - x.mean(), seen) == cause(seeded, "") == ""
