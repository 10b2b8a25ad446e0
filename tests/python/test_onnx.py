"""Models in ONNX files: their rows and outputs, further inputs, other types, a fixed batch of 1,
columns; and the networks of examples/models."""

import itertools
import pickle
import re
import sys

import numpy as np
import pytest

import certreg
from certreg import OnnxModel, as_model
from certreg.frames import names_of
from kit import ASKED, X, certify_refused, no_warnings, node, onnx_file, package, parametrize
from kit import read, root, rows_of, said
from test_models import agrees, read_only

FOLDER, REGRESSOR = root / "examples/models", root / "tests/data/regressor.onnx"

FLOAT, INT64, STRING, FLOAT16, DOUBLE = 1, 7, 8, 10, 11
numbers = itertools.count()


@pytest.fixture
def runtime(folder):
    return package("onnxruntime")


@pytest.fixture
def means(runtime, folder):
    """Makes the path of a model that returns the mean of a row, and minus that."""

    def made(batch, shape=(3,), kind=FLOAT, outputs=("y",)):
        axes = list(range(1, len(shape) + 1))
        whole = node("Identity", ["x"], "y")
        nodes = [
            node("ReduceMean", ["x"], "y", axes=axes, keepdims=0) if axes else whole,
            node("Neg", ["y"], "z"),
            node("Concat", ["y", "y"], "twice", axis=0),
            node("Cast", ["y"], "n", to=INT64),
        ]
        got = [(name, [batch], INT64 if name == "n" else kind) for name in outputs]
        return onnx_file(f"{next(numbers)}.onnx", nodes, [("x", [batch, *shape], kind)], got)

    return made


def test_a_network_with_a_free_batch(runtime):
    path = FOLDER / "rotation.onnx"
    f = OnnxModel(path)
    assert (f.shape, f.columns, f.batch) == ((784,), 2, None)
    assert (f.input, f.output, f.path) == ("x", "y", str(path))
    x = np.random.default_rng(2).random((5, 784), dtype=np.float32)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"x": x})[0]
    for found in (f(x), f(x.reshape(5, 28, 28)), as_model(session)(x)):
        np.testing.assert_array_equal(found, wanted)
    agrees(f, lambda x: session.run(None, {"x": x})[0], 784, outputs=1, kind="angle_pair")


def test_features_are_named_in_the_metadata(runtime, folder):
    path, names = folder / "named.onnx", ["a", "b", "c"]
    others = (("a,b,c", None), ("[1, 2, 3]", None), ("", None))
    for value, wanted in (('["a", "b", "c"]', names), *others):
        pairs = ((0x0A, "feature_names"), (0x12, value))
        entry = b"".join(bytes([tag, len(text)]) + text.encode() for tag, text in pairs)
        entry = bytes([0x72, len(entry)]) + entry if value else b""  # ModelProto, field 14
        path.write_bytes(REGRESSOR.read_bytes() + entry)
        assert OnnxModel(path).feature_names_in_ == names_of(as_model(OnnxModel(path))) == wanted


@parametrize("batch", 1, 16, 256)
def test_a_fixed_batch_is_filled(means, batch):
    f, free, x = OnnxModel(means(batch)), OnnxModel(means("N")), read_only()
    assert (f.batch, f.columns) == (batch, 1)
    for rows in (1, 15, 16, 17, 200):
        np.testing.assert_array_equal(f(x[:rows]), free(x[:rows]))
    if batch == 16:  # filled, the first outputs of another file would be there and be wrong
        agrees(f, free)
        twice = OnnxModel(means(batch, outputs=("twice",)))
        with pytest.raises(ValueError, match=r"'twice' .* shape \(32,\) for 16 rows"):
            twice(x[:16])


def test_rows_have_the_shape_of_the_model(means):
    f, x = OnnxModel(means("", (1, 3, 2))), np.arange(24, dtype=np.float32)
    wanted = x.reshape(4, 6).mean(1)
    for shape in ((4, 6), (4, 1, 3, 2), (4, 3, 2)):
        np.testing.assert_array_equal(f(x.reshape(shape)), wanted)
    with pytest.raises(ValueError, match=r"rows of shape \(1, 3, 2\), not \(8,\)"):
        f(x.reshape(3, 8))
    with pytest.raises(ValueError, match=r"takes rows of shape \(1, 3, 2\), not \(1, 2, 3\)"):
        f(x.reshape(4, 1, 2, 3))  # with other axes numbers would get another meaning
    free = OnnxModel(means("N", ("H", "W")))
    assert free.shape == (None, None)
    np.testing.assert_array_equal(free(x.reshape(4, 3, 2)), wanted)


@parametrize("kind, dtype, within", (DOUBLE, np.float64, 1e-12), (FLOAT16, np.float16, 4e-3))
def test_other_precisions(means, kind, dtype, within):
    f, x = OnnxModel(means("N", kind=kind)), read_only()
    assert f(x).dtype == dtype
    wanted = x.astype(dtype).mean(1, dtype=np.float64)
    np.testing.assert_allclose(f(x), wanted, rtol=within, atol=within**2)
    agrees(f, lambda x: f(x))


def test_outputs_have_names(means):
    path, x = means("N", outputs=("y", "z")), read_only()
    assert OnnxModel(path).output == "y"
    np.testing.assert_array_equal(OnnxModel(path, output="z")(x), -OnnxModel(path)(x))
    with pytest.raises(ValueError, match="no output 'q'; it has y, z"):
        OnnxModel(path, output="q")
    with pytest.raises(ValueError, match="'n' of the model is tensor.int64.*: choose y"):
        OnnxModel(means("N", outputs=("n", "y")))


@parametrize(
    "wrong, error, text",
    ("none.onnx", FileNotFoundError, "there is no file .*none.onnx"),
    ("damaged.onnx", ValueError, "damaged.onnx cannot be opened as an ONNX model"),
    (dict(kind=INT64), ValueError, "x' of the model is tensor.int64.*: export it with such an in"),
    (dict(shape=()), ValueError, "first dimension must be the rows"),
)
def test_what_is_no_model_is_refused(means, folder, monkeypatch, wrong, error, text):
    (folder / "damaged.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(error, match=text) as caught:
        OnnxModel(wrong if isinstance(wrong, str) else means("N", **wrong))
    assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match="pip install onnxruntime"):
        OnnxModel("model.onnx")


# ---- further inputs
KINDS = "float32 uint8 int8 uint16 int16 int32 int64 text bool float16 float64 uint32 uint64"
TYPES = {name: 1 + k for k, name in enumerate(KINDS.split()) if name != "text"}
ENDS = [("x", ["N", 3])], [("y", ["N", 3])]


@pytest.fixture
def shifted(folder):
    """Makes a file of y = x * gain + shift, as float and as double."""
    package("onnxruntime")

    def made(shift=(), kind="float32", batch="N", length=3):
        nodes = [node("Mul", ["x", "gain"], "m"), node("Cast", ["shift"], "s", to=FLOAT),
                 node("Add", ["m", "s"], "y"), node("Cast", ["y"], "twofold", to=DOUBLE)]
        inputs = [("x", [batch, length]), ("gain", []), ("shift", shift, TYPES[kind])]
        outputs = [("y", [batch, length]), ("twofold", [batch, length], DOUBLE)]
        return onnx_file("shifted.onnx", nodes, inputs, outputs)

    return made


CONSTANTS = {"gain": 2, "shift": 3}


# ---- constants
@parametrize("kind", *TYPES)
def test_constants_have_the_type_of_their_input(shifted, kind):
    path = shifted(kind=kind)
    for value in (1.0, True, np.array([1]), np.array(1, "u1")):
        f = OnnxModel(path, constants={"gain": 2, "shift": value}, output="y")
        np.testing.assert_array_equal(f(X), 2 * X + 1)
    assert (f.input, f.shape, f.columns, f.batch) == ("x", (3,), 3, None)


@parametrize(
    "kind, value",
    *(("uint8", 256), ("int8", -129), ("uint32", -1), ("int64", 0.5), ("int64", float("nan"))),
    *(("bool", 2), ("float32", 1e300), ("float16", 70000), ("int32", 2**31), ("uint64", 2**64)),
    *(("float32", np.nan), ("float64", [np.nan]), ("float16", [1, np.inf, np.nan])),
    *(("float32", "3"), ("float32", None), ("float32", [[1], [2, 3]]), ("float32", 1j)),
)
def test_constants_that_no_input_can_hold_are_refused(shifted, kind, value):
    path = shifted(kind=kind)
    with pytest.raises((TypeError, ValueError), match=rf"constant for input shift \w+ \(\) "):
        OnnxModel(path, constants={"gain": 2, "shift": value})


def test_constants_have_the_shape_of_their_input(shifted):
    row = np.array([1, 2, 3], np.float32)
    for shape, values in (([3], row), ([1, 3], row[None]), (["n"], row), (["N", 3], row)):
        f = OnnxModel(shifted(shape), constants={"gain": 1, "shift": values})
        np.testing.assert_array_equal(f(X), X + row)
    for shape in ([3], [1, 3], ["N", 3]):  # a number in all places
        f = OnnxModel(shifted(shape), constants={"gain": 1, "shift": 7})
        np.testing.assert_array_equal(f(X), X + np.float32(7))
    for shape, values in (([3], row[:2]), (["n"], 7), ([1, 3], row), ([], row), (["N", 3], X)):
        with pytest.raises(ValueError, match="it must have shape"):
            OnnxModel(shifted(shape), constants={"gain": 1, "shift": values})


@parametrize(
    "given, sentence",
    ({}, r"no value: x float \(N, 3\), gain float \(\), shift int64 \(3\);.* all but one of them"),
    ({"input": "x"}, r"no value: gain float \(\), shift int64 \(3\);.* so give them a constant"),
    ({"constants": {"gain": 1}}, r"no value: x float \(N, 3\), shift"),
    ({"constants": {"gain": 1, "shift": 1, "x": 1}}, "left to vary"),
    ({"constants": {"gain": 1, "shift": 1, "q": 1}}, "no input 'q'; it has x, gain, shift"),
    ({"constants": {"gain": 1, "shift": 1}, "input": "shift"}, "'shift' is to vary, and has"),
    ({"constants": {"gain": 1, "shift": 1}, "input": "q"}, "no input 'q'"),
    ({"constants": {"gain": 1, "x": 1}}, r"'shift' of the model is tensor\(int64\)"),
)
def test_one_input_varies(shifted, given, sentence):
    path = shifted([3], "int64")
    with pytest.raises(ValueError, match=sentence):
        OnnxModel(path, **given)


def test_any_input_may_vary(shifted):
    f = OnnxModel(shifted(["N", 3]), input="shift", constants={"gain": 2, "x": [1, 2, 3]})
    np.testing.assert_array_equal(f(X), X + np.float32([2, 4, 6]))
    with pytest.raises(ValueError, match=r"gain float.* OnnxModel\(path, constants="):
        certreg.as_model(f.session)


def test_a_state_is_given_for_one_row(folder):
    """Whatever the dimension that counts the rows."""
    package("onnxruntime")
    state = np.arange(6, dtype=np.float32).reshape(2, 3)
    for axis, order in enumerate(([0, 1, 2], [1, 0, 2], [2, 0, 1])):
        shape = [2, 3]
        shape.insert(axis, "N")
        nodes = [
            node("Transpose", ["state"], "rows", perm=order),  # (N, 2, 3)
            node("ReduceSum", ["rows", "axes"], "total", keepdims=0),
            node("Add", ["x", "total"], "y"),
        ]
        inputs, outputs = [("x", ["N", 3]), ("state", shape)], [("y", ["N", 3])]
        path = onnx_file("state.onnx", nodes, inputs, outputs, {"axes": [1]})
        for value in (state, np.expand_dims(state, axis)):
            f = OnnxModel(path, constants={"state": value})
            for rows in (1, 2, 5):
                np.testing.assert_allclose(f(X[:rows]), X[:rows] + state.sum(0), rtol=1e-6)
        np.testing.assert_array_equal(OnnxModel(path, constants={"state": 0})(X), X)
        for wrong in (state[0], np.stack([state] * 4, axis)):
            with pytest.raises(ValueError, match=r"it must have shape \(2, 3\)"):
                OnnxModel(path, constants={"state": wrong})


# ---- an input for each column of a table
TABLE = {"size": [50.5, 80, 95], "rooms": [2, 3, 4], "town": ["a", "b", "a"]}
PRICES = np.array([50.5 + 2, 80 + 3 - 1, 95 + 4])


@pytest.fixture
def columns(folder):
    """Makes a file whose output is size + rooms, less 1 in the town b."""
    package("onnxruntime")

    def made(batch="N", town=True, last=(1,)):
        total = node("Add", ["size", "r"], "price" if not town else "both")
        nodes, kinds = [node("Cast", ["rooms"], "r", to=FLOAT), total], {"size": 1, "rooms": 7}
        if town:
            kinds["town"] = STRING
            nodes += [node("Equal", ["town", "b"], "e"), node("Cast", ["e"], "l", to=FLOAT)]
            nodes += [node("Sub", ["both", "l"], "price")]
        inputs = [(name, [batch, *last], kind) for name, kind in kinds.items()]
        constants = {"b": np.array("b", object)} if town else {}
        outputs = [("price", [batch, *last])]
        return onnx_file("columns.onnx", nodes, inputs, outputs, constants, opset=19)

    return made


@parametrize("batch, last", ("N", (1,)), ("N", ()), (1, (1,)), (2, (1,)))
def test_columns_go_to_the_inputs_of_their_names(columns, batch, last):
    frame = package("pandas").DataFrame(TABLE)
    f = OnnxModel(columns(batch, last=last))
    assert (f.input, f.shape, f.batch) == ([*TABLE], (3,), None if batch == "N" else batch)
    assert f.feature_names_in_ == f.input
    np.testing.assert_array_equal(f(frame).ravel(), PRICES)
    for turned in (frame, frame[["town", "size", "rooms"]], frame.astype({"town": "category"})):
        with pytest.warns(UserWarning, match="'rooms': they get no noise"):
            rows = rows_of(pickle.loads(pickle.dumps(f)), turned, 0.1, 5)
        np.testing.assert_allclose(rows["prediction"].ravel(), PRICES, atol=0.1)
    assert "noise on size; none on rooms, town" in str(rows)


def test_columns_of_other_kinds_are_refused(columns):
    frame = package("pandas").DataFrame(TABLE)
    f, numeric = OnnxModel(columns()), OnnxModel(columns(town=False))
    of_integers = "column 'rooms' holds values of type int64 by the model.* give it scale 0"
    for model, given, more, sentence in (
        (f, frame, dict(scale={"size": 1, "rooms": 1}), of_integers),
        (f, frame.astype({"rooms": float}), dict(scale={"rooms": 1}), of_integers),
        (numeric, X[:, :2], dict(scale=[1, 1]), "feature 1 of .* holds values of type int64"),
        (numeric, X[:, :2], dict(scale=[1, 0]), "column 'rooms' holds numbers that are no int64"),
        (numeric, X, dict(scale=[1, 0, 0]), "rows of the columns size, rooms, not"),
        (f, frame.drop(columns="town"), {}, "X has no feature named 'town'"),
        (f, frame.assign(town=["a", None, "b"]), {}, "'town' holds .*; the model takes texts"),
    ):
        with pytest.raises((ValueError, certreg.RowsError), match=sentence):
            rows_of(model, given, 0.1, 5, **more)
    whole = np.c_[X[:5, 0], np.arange(5)]
    np.testing.assert_allclose(numeric(whole).ravel(), whole.sum(1), rtol=1e-6)


def test_the_command_takes_such_tables(columns):
    package("pandas").DataFrame(TABLE)[["town", "rooms", "size"]].to_csv("t.csv", index=False)
    columns()
    words = ("columns.onnx", "t.csv", *ASKED, "--tolerance", "5")
    out, err = said("certify", *words, "-o", "r.csv")
    assert re.search(r"(?m)^certreg: t.csv has 'a' in .* and only size get noise$", err), err
    assert "'rooms': they get no noise" in err
    found = [float(line["prediction"]) for line in read("r.csv")]
    np.testing.assert_allclose(found, PRICES, atol=0.2)
    assert re.search(r"(?m)^column +town string \(N, 1\)$", said("info", "columns.onnx")[0])
    columns(town=False)
    package("pandas").DataFrame(TABLE)[["rooms", "size"]].to_csv("t.csv", index=False)
    _, err = said("certify", *words)
    assert "columns.onnx has an input for each column: the model gets a DataFrame, and only" in err


# ---- what is refused
@parametrize("kind", "int64", "uint8", "bool", "text")
def test_info_lists_what_cannot_be_certified(folder, kind):
    package("onnxruntime")
    number = TYPES.get(kind, STRING)
    ends = [("x", ["N", 3], number)], [("y", ["N", 3], number)]
    path = onnx_file("whole.onnx", [node("Identity", ["x"], "y")], *ends)
    with pytest.raises(ValueError, match="'x' of the model .*: export it with .* cast behind it"):
        OnnxModel(path)
    told = said("info", path)[0]
    assert re.search(r"(?m)^input +x \w+ \(N, 3\)\n(.*\n)+refused +input 'x' of the model", told)


def test_files_of_later_versions_are_refused_once(folder, capfd):
    """ONNX Runtime prints nothing beside the exception."""
    package("onnxruntime")
    for what, versions in (("opset", dict(opset=99)), ("IR version", dict(ir=99))):
        path = onnx_file("later.onnx", [node("Neg", ["x"], "y")], *ENDS, **versions)
        sentence = f"it has {what} 99, and ONNX Runtime .* up to .*: export it with {what}"
        with pytest.raises(ValueError, match=sentence) as caught:
            OnnxModel(path)
        assert "\n" not in str(caught.value)
    fails = [node("Reshape", ["x", "sizes"], "y")]
    f = OnnxModel(onnx_file("fails.onnx", fails, *ENDS, {"sizes": [7, 3]}))
    with pytest.raises(Exception, match="Reshape"):
        f(X[:2])
    assert capfd.readouterr() == ("", "")


# ---- outputs
def test_the_first_of_several_outputs_is_told_of(shifted):
    path = shifted()
    said = "has the outputs y, twofold, and only the first is used; OnnxModel.path, output="
    with pytest.warns(UserWarning, match=said):
        f = OnnxModel(path, constants=CONSTANTS)
    with no_warnings():
        again = pickle.loads(pickle.dumps(f))  # in another process
        OnnxModel(path, output="y", constants=CONSTANTS)
    assert (again.output, again._told()) == ("y", f._told())


@parametrize("shape", [3], [1, 3], [3, 1], [1, 3, 1], [])
def test_all_outputs_of_a_fixed_batch_of_one_are_one_row(folder, shape):
    package("onnxruntime")
    total = node("ReduceSum", ["x"], "y", keepdims=0)
    made = node("Reshape", ["x", "sizes"], "y") if shape else total
    constants = {"sizes": np.array(shape, np.int64)}
    f = OnnxModel(onnx_file("one.onnx", [made], [("x", [1, 3])], [("y", shape)], constants))
    assert f.batch == 1 and f.columns == (3 if shape else None)
    wanted = X if shape else X.sum(1)
    np.testing.assert_allclose(f(X).reshape(wanted.shape), wanted, rtol=1e-6)


@parametrize("length", 5, "samples")
def test_columns_are_chosen(shifted, length):
    f = OnnxModel(shifted(length=length), constants=CONSTANTS, columns=range(1, 4))
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    assert f.columns == 3
    np.testing.assert_array_equal(f(x), 2 * x[:, 1:4] + 3)
    late = dict(constants=CONSTANTS, columns=range(4, 6))
    with pytest.raises(ValueError, match="columns 4:6 of output 'y' are not there: it has 5"):
        OnnxModel(shifted(length=length), **late)(x)
    for wrong in ((1, 2), "1:2", range(2, 2), range(-1, 2), range(0, 4, 2), range(3, 1, -1)):
        with pytest.raises((TypeError, ValueError), match="it must be a range, such as range"):
            OnnxModel(shifted(), constants=CONSTANTS, columns=wrong)


def test_doubles_beyond_float_are_not_finite(folder):
    package("onnxruntime")
    nodes = [node("Cast", ["x"], "d", to=DOUBLE), node("Mul", ["d", "large"], "y")]
    ends = [("x", ["N", 3]), ("large", [], DOUBLE)], [("y", ["N", 3], DOUBLE)]
    f = OnnxModel(onnx_file("large.onnx", nodes, *ends), constants={"large": 1e300})
    assert np.isfinite(f(X)).all()
    with pytest.warns(RuntimeWarning, match="overflow"):
        rows = rows_of(f, outputs=3)
    assert len(rows.errors) == len(X)


# ---- the same model again
def test_it_travels_by_pickle(shifted):
    row = np.arange(3.0)
    given = {"gain": 2, "shift": row}
    f = OnnxModel(shifted(["N", 3]), output="twofold", constants=given, columns=range(1, 3))
    row += 1  # which changes no model
    again = pickle.loads(pickle.dumps(f))
    assert again.session is not f.session and again.path == f.path
    np.testing.assert_array_equal(again(X), f(X))
    assert (again._told(), again.columns) == (f._told(), 2)


def test_texts_differ_where_models_do(shifted):
    row = np.arange(3.0)
    path = shifted([3])
    settings = [
        dict(constants={"gain": 2, "shift": row}),
        dict(constants={"gain": 2.5, "shift": row}),
        dict(constants={"gain": 2, "shift": row + 1}),
        dict(constants={"gain": 2, "shift": row}, output="twofold"),
        dict(constants={"gain": 2, "shift": row}, columns=range(1, 2)),
    ]
    assert len({OnnxModel(path, **given)._told() for given in settings}) == len(settings)
    same = [{"gain": 2, "shift": row.astype("f4")}, {"shift": row.tolist(), "gain": np.ones(1) * 2}]
    assert len({OnnxModel(path, constants=given)._told() for given in same}) == 1


# ---- the command
GIVEN = ("--constant", "gain=2", "--constant", "shift=shift.npy")
SHIFT = np.arange(1, 4.0)
COMMAND = ("shifted.onnx", "x.npy", *GIVEN, "--output", "twofold", "--columns", "1:3")


@pytest.fixture
def command(shifted):
    shifted([3])
    np.save("shift.npy", SHIFT)
    np.save("x.npy", X[:6])


def test_the_command_takes_constants_and_columns(command):
    with no_warnings():
        said("certify", *COMMAND, *ASKED, "-o", "r.json")
        document = read("r.json")
        f = OnnxModel("shifted.onnx", output="y", constants={"gain": 2, "shift": SHIFT})
        rows = rows_of(f, X[:6], samples=200, seed=7, outputs=3,
                       questions=certreg.Question(0.5, 1))
    radii = [row["radius"] for row in document["rows"]]
    assert radii == rows.certificates["radius"].ravel().tolist()
    plan = document["plan"]
    assert (plan["columns"], plan["tensor"]) == ([1, 3], "twofold")
    assert plan["constant"] == [*GIVEN[1::2]]
    assert plan["model_settings"].startswith("output=twofold columns=1:3 gain=2.0 shift=")
    assert "Nothing was found" in said("check", *COMMAND, "--sigma", ".25")[0]


@parametrize(
    "words, sentence",
    ("", "returns 3 columns, and only the first is used; --output K takes another"),
    ("--columns 1:3", "returns 2 columns, and only the first is used; --output K"),
    ("--output twofold", "3 columns, and only the first is used; --columns A:B takes others"),
    ("--pair --tolerance 170", "returns 3 columns, and only the first two are used; --out"),
    *((words, "") for words in ("--output 0", "--columns 1:2", "-q")),
    ("--pair --tolerance 170 --columns 0:2", ""),
)
def test_a_line_says_that_only_the_first_column_counts(command, words, sentence):
    """And another one that only the first output does, unless it is named."""
    out, err = said("certify", "shifted.onnx", "x.npy", *GIVEN, *ASKED, *words.split())
    assert "certified" in out
    wanted = rf"certreg: shifted.onnx .*{sentence}.*\n" if sentence else ""
    if not {"-q", "twofold"} & {*words.split()}:
        wanted = "certreg: .* outputs y, twofold, .*first is used; --output NAME .*\n" + wanted
    assert re.fullmatch(wanted + "(certreg: .* rows abstained .*\n)?", err), err


LEFT_OPEN = (
    "inputs of the model have no value: x float (N, 3), gain float (), shift float (3); only one "
    "input can vary, so give all but one of them a constant, --constant NAME=VALUE"
)


def test_info_tells_all_inputs(command):
    lines = [line.split(None, 1) for line in said("info", "shifted.onnx")[0].splitlines()]
    assert [line for line in lines if line[0] in ("input", "output", "refused")] == [
        *(["input", t] for t in ("x float (N, 3)", "gain float ()", "shift float (3)")),
        *(["output", t] for t in ("y float (N, 3)", "twofold double (N, 3)")),
        ["refused", LEFT_OPEN],
    ]
    told = said("info", COMMAND[0], *COMMAND[2:])[0]
    for line in (r"input +x \(rows, 3\)", r"output +twofold \(rows, 2\)", "settings.* columns=1:3"):
        assert re.search(f"(?m)^{line}", told), line


@parametrize(
    "words, sentence",
    ("", r"no value: x float \(N, 3\), .*, --constant NAME=VALUE"),
    ("--constant gain", "NAME=VALUE"),
    ("--constant =3", "NAME=VALUE"),
    ("--constant gain=three", "a number or a .npy file"),
    ("--constant gain=1 --constant gain=1", "twice"),
    ("--constant gain=1 --constant shift=none.npy", "none.npy cannot be read"),
    ("--columns 2:2", "--columns is '2:2'; it must be a range"),
    ("--columns 2", "--columns is '2'"),
)
def test_the_command_refuses(command, words, sentence):
    certify_refused(sentence, *words.split(), model="shifted.onnx")


def test_constants_and_columns_are_for_onnx_files(models):
    for words in (("--constant", "a=1"), ("--columns", "0:1")):
        certify_refused("is for .onnx files; in file.py:name a function can supply", *words)


# ---- the networks of examples/models
def images(count=20):
    return np.random.default_rng(3).normal(0.2, 0.5, (count, 28, 28)).astype(np.float32)


def test_the_equivariant_answer_turns_with_the_image(runtime):
    f, x = OnnxModel(FOLDER / "rotation_equivariant.onnx"), images()
    y = f(x)
    for turns in range(1, 4):
        y = np.stack((-y[:, 1], y[:, 0]), 1)
        got = f(np.rot90(x, turns, (1, 2)))
        assert abs(got - y).max() < 1e-4 * abs(y).max()
