"""Names the likely cause of a refusal, by what was seen and by what the model is."""

from __future__ import annotations

import contextlib
import dis
import os
import pathlib
import re
import types
from typing import Any, Iterable, Iterator

_MARK, _MOST = "; the likely cause is ", 2000  # parts of a model
_AGAIN = "same rows come again|change with time|Expected hidden"
_OTHERS = "other rows are beside|another order|has fewer rows|see each other"
_ONE_ROW = r"shape \(((\d+),)?\); it must be \(1, (?(2)\2\))|shape \(\d*,?\) for 1 rows|zero-dim"
_CHANNELS_LAST = r"expected input\[\d+, \d+, \d+, (\d+)\] to have \1 channels"
_ONE_IMAGE = r"(?i)(shape|dim|axis|axes|channel|size).*; X has shape \([134], \d+, \d+\)$"
_NO_CHANNEL = r"to have 1 channels.*; X has shape \(\d+, \d+, \d+\)$"
_NO_TENSOR = r"Tensor, not numpy|\(numpy.ndarray, (Parameter|Tensor)"
_RULES = (  # what was seen, what was found in the model, and the cause with its remedy
    (_ONE_ROW, "", "squeeze() of one row: write squeeze(-1), or reshape(len(x), -1)"),
    (_NO_TENSOR, "", "an array given to torch: give the module itself, or torch.tensor(x)"),
    ("inhomogeneous", "", "several outputs: return one array, (rows,) or (rows, columns)"),
    ("BFloat16", "", "bfloat16, which NumPy lacks: return float32, by y.float()"),
    (_CHANNELS_LAST, "", "channels at the end: give X.transpose(0, 3, 1, 2), (rows, c, h, w)"),
    (_AGAIN, "dropout", "dropout: call eval(), and in forward write dropout(x, p, self.training)"),
    (_AGAIN, "state", "the state that is kept in {}: begin each call with a new one"),
    (_OTHERS, "norm", "BatchNorm: call eval(), and train it with track_running_stats=True"),
    (_OTHERS, "dynamic", "dynamic quantisation: give batch=1, or quantise statically"),
    (_OTHERS, "seed", "dropout or other randomness with a seed set in forward ({}): leave it out"),
    (_OTHERS, "fit", "fit_transform(): fit before, and call transform()"),
    (_OTHERS, "time", "a layer whose first dimension is time: give it batch_first=True"),
    (r"to conv2d, .*: \[\d+, \d+\]", "", "flat images: give X.reshape(-1, 1, 28, 28), or c, h, w"),
    (_ONE_IMAGE, "", "one image in place of rows: give X[None]"),
    (_NO_CHANNEL, "", "images without a channel: give X[:, None], (rows, 1, h, w)"),
    (_OTHERS, "low", "low precision ({}): let the model compute in float32, by model.float()"),
)
_FOUND = {"fit_transform": "fit", "autocast": "low", "dropout": "dropout"}  # by names in code
_FOUND |= dict.fromkeys(("RandomState", "default_rng", "fork_rng", "manual_seed", "seed"), "seed")
_OPERATORS = b"DynamicQuantize|MatMulInteger|ConvInteger"  # of dynamic quantisation


def cause(model: object, text: str) -> str:
    """The end of a refusal: the likely cause and its remedy; empty if nothing is known."""
    with contextlib.suppress(Exception):
        rules = [] if _MARK in text else [rule for rule in _RULES if re.search(rule[0], text)]
        facts = dict([*(_facts(model) if any(tag for _, tag, _ in rules) else ()), ("", "")])
        for _, tag, remedy in rules:
            if tag in facts:
                return _MARK + remedy.format(facts[tag])
    return ""


def _facts(model: object) -> Iterator[tuple[str, str]]:
    """What the parts of a model do, the nearest last, with a name in it."""
    parts, known = [model], {id(model)}
    for part in parts:  # which grow
        with contextlib.suppress(Exception):
            new = [one for one in _inside(part) if id(one) not in known][: _MOST - len(parts)]
            known.update(map(id, new))
            parts += [one for one in new if not isinstance(one, (str, bytes, int, float))]
    # The library calls modules in evaluation mode.
    switched = any("certreg.models.TorchModel" in str(type(part)) for part in parts)
    switched |= "_modules" in getattr(model, "__dict__", ())
    for part in reversed(parts):
        with contextlib.suppress(Exception):
            yield from _facts_of(part, switched)


def _inside(part: Any) -> Iterable[object]:
    """What a part holds or uses."""
    if isinstance(part, (list, tuple, dict)):
        return list(part.values() if isinstance(part, dict) else part)[:_MOST]
    if isinstance(part, (type, types.ModuleType)):
        return []
    held = [getattr(part, name, None) for name in "__self__ __func__ func args keywords".split()]
    held += [part.__globals__.get(name) for name in _names(part)]
    held += [cell.cell_contents for cell in getattr(part, "__closure__", None) or ()]
    held += [f for kind in type(part).__mro__ for f in vars(kind).values() if _names(f)]
    return [*held, *getattr(part, "__dict__", {}).values()]


def _names(part: object) -> Iterable[str]:
    """The names that a function uses if the user wrote it, and a call of the model may run it."""
    if not isinstance(part, types.FunctionType) or part.__name__ in ("__init__", "fit"):
        return ()
    of_others, code = ("-packages", *map(os.path.dirname, (os.__file__, __file__))), part.__code__
    return () if any(place in code.co_filename for place in of_others) else code.co_names


def _facts_of(part: Any, switched: bool) -> Iterator[tuple[str, str]]:
    kind, state, names = str(type(part)), getattr(part, "__dict__", {}), _names(part)
    trains = not switched and state.get("training") is True
    dtype = re.search("b?float16", f"{getattr(part, 'dtype', '')} {getattr(part, 'type', '')}")
    holds = {
        "norm": "BatchNorm" in kind and (trains or state.get("track_running_stats") is False),
        "dropout": "Dropout" in kind and trains,
        "dynamic": ".quantized.dynamic." in kind,
        "time": state.get("batch_first") is False,
        "low": dtype,
    }
    yield from ((tag, dtype[0] if dtype else "") for tag, it_is in holds.items() if it_is)
    yield from ((_FOUND[name], name) for name in names if name in _FOUND)
    for step in dis.get_instructions(part) if names else ():
        if step.opname in ("STORE_ATTR", "STORE_GLOBAL"):
            yield "state", step.argval
    if "_model_path" in state:  # an onnxruntime.InferenceSession
        data = state["_model_bytes"] or pathlib.Path(state["_model_path"]).read_bytes()
        yield from (("dynamic", "") for _ in re.finditer(_OPERATORS, data))
