"""make_models.py FOLDER: write the small ONNX files that the tests of engines open, and put the
files of other formats beside them. It needs nothing but Python.

dense.onnx and its relatives compute y = W2 relu(W1 x + b1) + b2 from 6 numbers to 2, with weights
that are multiples of 1/8, so that models.h can compute them too. trees.json holds two trees in the
format of XGBoost 1.6; Debian's libxgboost0 wrote trees.ubj of them. make_torch.cpp wrote dense.pt.
"""

import pathlib
import shutil
import struct
import sys
import zipfile

HERE, FOLDER = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])
INPUTS, HIDDEN, COLUMNS = 6, 5, 2
FLOAT, INT32, INT64, BOOL, DOUBLE = 1, 6, 7, 9, 11
FORMATS = {FLOAT: "f", INT64: "q", DOUBLE: "d"}


# ---- the format: onnx.proto3 has the numbers of the fields
def varint(number):
    low, rest = number & 127, (number & (1 << 64) - 1) >> 7
    return bytes([low]) if not rest else bytes([low | 128]) + varint(rest)


def message(**fields):
    """Fields are named _NUMBER; lists are repeated, text and messages are bytes."""
    out = b""
    for name, values in fields.items():
        key = int(name[1:]) << 3
        for v in values if isinstance(values, list) else [values]:
            v = v.encode() if isinstance(v, str) else v
            out += varint(key) + varint(v) if isinstance(v, int) else (
                varint(key | 2) + varint(len(v)) + v)
    return out


def value(name, shape, kind=FLOAT):
    """An input or an output; the names in a shape are free dimensions. None: no shape."""
    dims = [message(_2=d) if isinstance(d, str) else message(_1=d) for d in shape or []]
    tensor = message(_1=kind, **({} if shape is None else {"_2": message(_1=dims)}))
    return message(_1=name, _2=message(_1=tensor))


def tensor(name, numbers, dims, kind=FLOAT):
    data = struct.pack(f"<{len(numbers)}{FORMATS[kind]}", *numbers)
    return message(_1=dims, _2=kind, _8=name, _9=data)


def elsewhere(name, dims):
    """A constant whose numbers are in another file."""
    entry = message(_1="location", _2="no_such_file")
    return message(_1=dims, _2=FLOAT, _8=name, _13=entry, _14=1)


def node(kind, inputs, outputs, **attributes):
    """Attributes are whole numbers or lists of them."""
    given = [message(_1=name, _8=v, _20=7) if isinstance(v, list) else message(_1=name, _3=v, _20=2)
             for name, v in attributes.items()]
    return message(_1=inputs, _2=outputs, _4=kind, _5=given)


def save(name, nodes, inputs, outputs, constants=(), version=8):
    graph = message(_1=nodes, _2="test", _5=list(constants), _11=inputs, _12=outputs)
    model = message(_1=version, _7=graph, _8=message(_1="", _2=13))
    (FOLDER / f"{name}.onnx").write_bytes(model)


# ---- the network of models.h
SHAPES = {"w1": ([HIDDEN, INPUTS], 3), "b1": ([HIDDEN], 1),
          "w2": ([COLUMNS, HIDDEN], 5), "b2": ([COLUMNS], 2)}


def weight(count, start):
    """Multiples of 1/8 in [-1, 1]; models.h has the same formula."""
    return [((i * 7 + start) % 17 - 8) / 8 for i in range(count)]


def constants(kind=FLOAT):
    """Weights for Gemm with transB."""
    return [tensor(name, weight(dims[0] * (dims + [1])[1], start), dims, kind)
            for name, (dims, start) in SHAPES.items()]


def layers(source="x", result="y"):
    return [node("Gemm", [source, "w1", "b1"], ["h"], transB=1), node("Relu", ["h"], ["r"]),
            node("Gemm", ["r", "w2", "b2"], [result], transB=1)]


def dense():
    x, y = value("x", ["N", INPUTS]), value("y", ["N", COLUMNS])
    save("dense", layers(), [x], [y], constants())
    listed = [value(name, dims) for name, (dims, _) in SHAPES.items()]  # as older files do
    save("older", layers(), [x, *listed], [y], constants(), version=3)
    save("fixed", layers(), [value("x", [4, INPUTS])], [value("y", [4, COLUMNS])], constants())
    flat = [node("Flatten", ["image"], ["x"], axis=1)]
    save("image", flat + layers(), [value("image", ["N", 1, 2, 3])], [y], constants())
    save("open", flat + layers(), [value("image", ["N", 1, "H", "W"])], [y], constants())
    save("untold", layers(), [x], [value("y", None)], constants())
    save("two_outputs", layers(), [x], [value("r", ["N", HIDDEN]), y], constants())
    save("float64", layers(), [value("x", ["N", INPUTS], DOUBLE)],
         [value("y", ["N", COLUMNS], DOUBLE)], constants(DOUBLE))
    # Constants in a file beside the model, for tests/python/test_denoiser.py.
    save("external", layers(), [x], [y],
         [elsewhere(name, dims) for name, (dims, _) in SHAPES.items()])


def others():
    x, y = value("x", ["N", 3]), value("y", ["N", 3])
    relu = [node("Relu", ["x"], ["y"])]
    save("two_inputs", [node("Add", ["x", "mask"], ["y"])], [x, value("mask", ["N", 3])], [y])
    save("no_batch", relu, [value("x", [])], [value("y", [])])
    save("sum", [node("ReduceSum", ["x"], ["y"], keepdims=0)], [x], [value("y", [])])
    save("row", [node("ReduceMean", ["x"], ["y"], axes=[0], keepdims=1)], [x],
         [value("y", [1, 3])])
    save("whole", [node("Cast", ["x"], ["y"], to=FLOAT)], [value("x", ["N", INPUTS], INT64)],
         [value("y", ["N", INPUTS])])
    save("nan", [node("Sqrt", ["x"], ["y"])], [x], [y])  # of negative numbers
    save("large", relu, [value("x", [1 << 30, 3])], [value("y", [1 << 30, 3])])
    save("no_output", relu, [x], [])
    save("one_row", [node("Reshape", ["x", "size"], ["y"])], [x], [y],
         [tensor("size", [1, 3], [2], INT64)])


def as_they_come():
    """Further inputs of all types that can be fed, outputs in double, and a batch of 1."""
    kinds = {"gain": FLOAT, "offset": DOUBLE, "count": INT32, "many": INT64, "flag": BOOL}
    shapes = {"offset": [1], "many": [1, 3]}
    inputs = [value(name, shapes.get(name, []), kind) for name, kind in kinds.items()]
    casts = [node("Cast", [name], [f"{name}_float"], to=FLOAT) for name in kinds]
    sums = [node("Add", [before, f"{name}_float"], [after]) for before, name, after in
            (("m", "offset", "a"), ("a", "count", "b"), ("b", "many", "c"), ("c", "flag", "y"))]
    last = node("Cast", ["y"], ["wide"], to=DOUBLE)
    product = node("Mul", ["x", "gain_float"], ["m"])
    save("fed", [*casts, product, *sums, last], [value("x", ["N", 3]), *inputs],
         [value("y", ["N", 3]), value("wide", ["N", 3], DOUBLE)])
    pairs, reshape = tensor("pairs", [-1, 2], [2], INT64), node("Reshape", ["x", "pairs"], ["y"])
    save("pairs", [reshape], [value("x", [1, "n"], DOUBLE)], [value("y", ["m", 2], DOUBLE)],
         [pairs])
    save("pairs_fixed", [reshape], [value("x", [1, 6])], [value("y", [3, 2])], [pairs])
    save("sum_of_one", [node("ReduceSum", ["x"], ["y"], keepdims=0)], [value("x", [1, 3])],
         [value("y", [])])
    save("beyond", [node("Cast", ["x"], ["d"], to=DOUBLE), node("Mul", ["d", "large"], ["y"])],
         [value("x", ["N", 3])], [value("y", ["N", 3], DOUBLE)],
         [tensor("large", [1e300], [], DOUBLE)])


def mixed():
    """Outputs of a row that change with the other rows, or from run to run."""
    x, y, t = value("x", ["N", INPUTS]), value("y", ["N", COLUMNS]), layers(result="t")
    turn = [node("Transpose", ["t"], ["y"], perm=[1, 0])]
    save("turned", t + turn, [x], [value("y", ["M", "K"])], constants())
    save("turned_fixed", t + turn, [value("x", [2, INPUTS])], [value("y", [2, COLUMNS])],
         constants())
    mean = [node("ReduceMean", ["t"], ["mean"], axes=[0], keepdims=1),
            node("Sub", ["t", "mean"], ["y"])]
    save("centred", t + mean, [x], [y], constants())
    noise = [node("RandomNormalLike", ["t"], ["noise"]), node("Add", ["t", "noise"], ["y"])]
    save("random", t + noise, [x], [y], constants())


def torch():
    """Scripts that differ from dense.pt in what they return of the hidden row and the output."""
    results = {"tuple": ("Tuple[Tensor, Tensor]", "(r, y)"), "list": ("List[Tensor]", "[r, y]"),
               "float64": ("Tensor", "torch.to(y, 7)"), "turned": ("Tensor", "torch.t(y)"),
               "centred": ("Tensor", "torch.sub(y, torch.mean(y, [0]))"),
               "random": ("Tensor", "torch.add(y, torch.randn_like(y))")}
    for name, (kind, result) in results.items():
        with zipfile.ZipFile(HERE / "dense.pt") as dense, \
                zipfile.ZipFile(FOLDER / f"{name}.pt", "w") as out:
            for item in dense.namelist():
                data = dense.read(item)
                if item.endswith(".py"):
                    data = data.replace(b"-> Tensor:", f"-> {kind}:".encode()).replace(
                        b"return torch.add(_1, b2)",
                        f"y = torch.add(_1, b2)\n    return {result}".encode())
                if not item.endswith(".debug_pkl"):  # lines of the source
                    out.writestr(item, data)


def of_others():
    """Files as others wrote them; and some of a later XGBoost, whose version alone differs."""
    for name in ("dense.pt", "trees.json", "trees.ubj"):
        shutil.copy(HERE / name, FOLDER)
    text = (HERE / "trees.json").read_text()
    (FOLDER / "newer.json").write_text(text.replace("[1,6,0]", "[99,0,0]"))
    head, version = (HERE / "trees.ubj").read_bytes().rsplit(b"i\x01i", 1)  # 1, then the rest
    (FOLDER / "newer.ubj").write_bytes(head + b"i\x63i" + version)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    dense()
    others()
    as_they_come()
    mixed()
    torch()
    of_others()
