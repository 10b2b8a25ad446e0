"""Write the small models that the tests of engines open, into this folder.

    python3 -m pip install numpy onnx && python3 make_models.py

dense.onnx and its relatives compute y = W2 relu(W1 x + b1) + b2 from 6 numbers to 2, with weights
that are multiples of 1/8, so that models.h can compute them too. trees.json holds two trees of
XGBoost, in the format of its version 1.6; Debian's libxgboost0 writes them as trees.ubj, too.
"""

import ctypes
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
INPUTS, HIDDEN, COLUMNS = 6, 5, 2
FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE


def weight(rows, columns, start):
    """Multiples of 1/8 in [-1, 1]; models.h has the same formula."""
    index = np.arange(rows * columns)
    return (((index * 7 + start) % 17 - 8) / 8).astype(np.float32).reshape(rows, columns)


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs, constants=(), check=True, version=8):
    graph = helper.make_graph(nodes, "test", inputs, outputs, list(constants))
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=version)
    if check:
        onnx.checker.check_model(model)
    (HERE / f"{name}.onnx").write_bytes(model.SerializeToString())


def constants(kind=np.float32):
    """Weights for Gemm with transB."""
    parts = {
        "w1": weight(HIDDEN, INPUTS, 3),
        "b1": weight(1, HIDDEN, 1)[0],
        "w2": weight(COLUMNS, HIDDEN, 5),
        "b2": weight(1, COLUMNS, 2)[0],
    }
    return [numpy_helper.from_array(part.astype(kind), name) for name, part in parts.items()]


def layers(source="x", result="y"):
    return [
        helper.make_node("Gemm", [source, "w1", "b1"], ["h"], transB=1),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], [result], transB=1),
    ]


def dense():
    x, y = value("x", ["N", INPUTS]), value("y", ["N", COLUMNS])
    save("dense", layers(), [x], [y], constants())
    listed = [value(c.name, list(c.dims)) for c in constants()]  # as older files do
    save("older", layers(), [x, *listed], [y], constants(), version=3)
    save("fixed", layers(), [value("x", [4, INPUTS])], [value("y", [4, COLUMNS])], constants())
    flat = [helper.make_node("Flatten", ["image"], ["x"], axis=1)]
    save("image", flat + layers(), [value("image", ["N", 1, 2, 3])], [y], constants())
    save("open", flat + layers(), [value("image", ["N", 1, "H", "W"])], [y], constants())
    save("untold", layers(), [x], [value("y", None)], constants(), check=False)
    save("two_outputs", layers(), [x], [value("r", ["N", HIDDEN]), y], constants())
    save("float64", layers(), [value("x", ["N", INPUTS], DOUBLE)],
         [value("y", ["N", COLUMNS], DOUBLE)], constants(np.float64))


def others():
    x, y = value("x", ["N", 3]), value("y", ["N", 3])
    add = [helper.make_node("Add", ["x", "mask"], ["y"])]
    save("two_inputs", add, [x, value("mask", ["N", 3])], [y])
    save("no_batch", [helper.make_node("Relu", ["x"], ["y"])], [value("x", [])], [value("y", [])])
    save("sum", [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], [x], [value("y", [])])
    save("row", [helper.make_node("ReduceMean", ["x"], ["y"], axes=[0], keepdims=1)], [x],
         [value("y", [1, 3])])
    save("whole", [helper.make_node("Cast", ["x"], ["y"], to=FLOAT)],
         [value("x", ["N", INPUTS], TensorProto.INT64)], [value("y", ["N", INPUTS])])
    save("nan", [helper.make_node("Sqrt", ["x"], ["y"])], [x], [y])  # of negative numbers
    save("large", [helper.make_node("Relu", ["x"], ["y"])], [value("x", [1 << 30, 3])],
         [value("y", [1 << 30, 3])])
    save("no_output", [helper.make_node("Relu", ["x"], ["y"])], [x], [], check=False)
    size = numpy_helper.from_array(np.array([1, 3]), "size")
    save("one_row", [helper.make_node("Reshape", ["x", "size"], ["y"])], [x], [y], [size])


def as_they_come():
    """Further inputs of all types that can be fed, outputs in double, and a batch of 1."""
    kinds = {"gain": FLOAT, "offset": DOUBLE, "count": TensorProto.INT32, "many": TensorProto.INT64,
             "flag": TensorProto.BOOL}
    shapes = {"offset": [1], "many": [1, 3]}
    inputs = [value(name, shapes.get(name, []), kind) for name, kind in kinds.items()]
    casts = [helper.make_node("Cast", [name], [f"{name}_float"], to=FLOAT) for name in kinds]
    sums = [helper.make_node("Add", [before, f"{name}_float"], [after]) for before, name, after in
            (("m", "offset", "a"), ("a", "count", "b"), ("b", "many", "c"), ("c", "flag", "y"))]
    last = helper.make_node("Cast", ["y"], ["wide"], to=DOUBLE)
    product = helper.make_node("Mul", ["x", "gain_float"], ["m"])
    save("fed", [*casts, product, *sums, last], [value("x", ["N", 3]), *inputs],
         [value("y", ["N", 3]), value("wide", ["N", 3], DOUBLE)])
    pairs = numpy_helper.from_array(np.array([-1, 2]), "pairs")
    reshape = [helper.make_node("Reshape", ["x", "pairs"], ["y"])]
    save("pairs", reshape, [value("x", [1, "n"], DOUBLE)], [value("y", ["m", 2], DOUBLE)], [pairs])
    save("pairs_fixed", reshape, [value("x", [1, 6])], [value("y", [3, 2])], [pairs])
    save("sum_of_one", [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
         [value("x", [1, 3])], [value("y", [])])
    large = numpy_helper.from_array(np.array(1e300), "large")
    save("beyond", [helper.make_node("Cast", ["x"], ["d"], to=DOUBLE),
                    helper.make_node("Mul", ["d", "large"], ["y"])],
         [value("x", ["N", 3])], [value("y", ["N", 3], DOUBLE)], [large])


def mixed():
    """Outputs of a row that change with the other rows, or from run to run; and constants that are
    in a file beside the model, for tests/python/test_denoiser.py."""
    x, y = value("x", ["N", INPUTS]), value("y", ["N", COLUMNS])
    turn = [helper.make_node("Transpose", ["t"], ["y"], perm=[1, 0])]
    save("turned", layers(result="t") + turn, [x], [value("y", ["M", "K"])], constants())
    save("turned_fixed", layers(result="t") + turn, [value("x", [2, INPUTS])],
         [value("y", [2, COLUMNS])], constants())
    mean = [helper.make_node("ReduceMean", ["t"], ["mean"], axes=[0], keepdims=1),
            helper.make_node("Sub", ["t", "mean"], ["y"])]
    save("centred", layers(result="t") + mean, [x], [y], constants())
    noise = [helper.make_node("RandomNormalLike", ["t"], ["noise"]),
             helper.make_node("Add", ["t", "noise"], ["y"])]
    save("random", layers(result="t") + noise, [x], [y], constants())
    outside = constants()
    for part in outside:
        part.ClearField("raw_data")
        part.data_location = TensorProto.EXTERNAL
        entry = part.external_data.add()
        entry.key, entry.value = "location", "no_such_file"
    save("external", layers(), [x], [y], outside, check=False)


def tree(number, splits, leaves):
    """A tree of depth 2: splits are (feature, threshold) of the root and its two children; leaves
    from left to right. x goes left where x < threshold."""
    feature = [s[0] for s in splits] + [0] * 4
    condition = [float(s[1]) for s in splits] + [float(leaf) for leaf in leaves]
    parents = [2147483647, 0, 0, 1, 1, 2, 2]
    return {
        "base_weights": condition, "categories": [], "categories_nodes": [],
        "categories_segments": [], "categories_sizes": [], "default_left": [1] * 3 + [0] * 4,
        "id": number, "left_children": [1, 3, 5, -1, -1, -1, -1],
        "loss_changes": [1.0] * 3 + [0.0] * 4, "parents": parents,
        "right_children": [2, 4, 6, -1, -1, -1, -1], "split_conditions": condition,
        "split_indices": feature, "split_type": [0] * 7, "sum_hessian": [1.0] * 7,
        "tree_param": {"num_deleted": "0", "num_feature": "3", "num_nodes": "7",
                       "size_leaf_vector": "0"},
    }


def trees():
    grown = [
        tree(0, [(0, 0.5), (1, -0.25), (2, 1.0)], [1.0, 2.0, 4.0, 8.0]),
        tree(1, [(2, 0.0), (0, 0.75), (1, 0.5)], [-0.5, 0.25, 0.125, 16.0]),
    ]
    learner = {
        "attributes": {}, "feature_names": [], "feature_types": [],
        "gradient_booster": {
            "model": {
                "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2",
                                       "size_leaf_vector": "0"},
                "tree_info": [0, 0], "trees": grown,
            },
            "name": "gbtree",
        },
        "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "3",
                                "num_target": "1"},
        "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
    }
    text = json.dumps({"learner": learner, "version": [1, 6, 0]}, separators=(",", ":"))
    (HERE / "trees.json").write_text(text)
    (HERE / "newer.json").write_text(text.replace("[1,6,0]", "[99,0,0]"))
    xgboost, booster = ctypes.CDLL("libxgboost.so.0"), ctypes.c_void_p()
    assert xgboost.XGBoosterCreate(None, ctypes.c_uint64(0), ctypes.byref(booster)) == 0
    assert xgboost.XGBoosterLoadModel(booster, bytes(HERE / "trees.json")) == 0
    assert xgboost.XGBoosterSaveModel(booster, bytes(HERE / "trees.ubj")) == 0
    head, version = (HERE / "trees.ubj").read_bytes().rsplit(b"i\x01i", 1)  # 1, then the rest
    (HERE / "newer.ubj").write_bytes(head + b"i\x63i" + version)


if __name__ == "__main__":
    dense()
    others()
    as_they_come()
    mixed()
    trees()
