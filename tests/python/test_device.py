"""Models and noise on a CUDA device that is emulated on the host (tests/emulated), and its arrays
as DLPack capsules. The same function exports memory of the host, which NumPy can read."""

import contextlib
import ctypes
import gc
import os
import pathlib
import sys
import types

import numpy as np
import pytest

from kit import ORIGIN, certreg, parametrize, refused
from certreg import DeviceArray, arrays, models

FOLDER = pathlib.Path(os.environ.get("CERTREG_LIB", "")).parent / "tests"
MODULE = FOLDER / "emulated_module.so"
needs_module = pytest.mark.skipif(not MODULE.exists(), reason=f"{MODULE} has not been built")
cuda = ctypes.CDLL(str(FOLDER / "libemulated_cuda.so")) if MODULE.exists() else None


def copied(to, source, array, kind):
    stream, size = ctypes.c_void_p(array.stream), ctypes.c_size_t(4 * int(np.prod(array.shape)))
    there = (ctypes.c_void_p(to), ctypes.c_void_p(source), size, kind, stream)
    assert cuda.cudaMemcpyAsync(*there) == 0
    assert cuda.cudaStreamSynchronize(stream) == 0


def fetched(array):
    host = np.empty(array.shape, np.float32)
    copied(host.ctypes.data, array.__cuda_array_interface__["data"][0], array, 2)
    return host


def first_of(x, y):
    """A model on the device: its output is the first feature."""
    host = np.ascontiguousarray(fetched(x)[:, :1], np.float32)
    assert host.shape == y.shape
    copied(y.__cuda_array_interface__["data"][0], host.ctypes.data, y, 1)


def new_stream():
    stream = ctypes.c_void_p()
    assert cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
    return stream.value


def on_device(model, samples=300, **more):
    return certreg.Estimator(model, 3, samples, seed=5, **{"device": 0, "module": MODULE, **more})


@needs_module
def test_models_on_a_device_fill_y_in_place():
    streams, stream = [], new_stream()

    def model(x, y):
        streams.append((x.stream, x.device, y.__cuda_array_interface__["typestr"]))
        first_of(x, y)

    with on_device(model, 1000, stream=stream) as e:
        there = e.certify(ORIGIN, 0.25, 1000, 0.5)
    with certreg.Estimator(lambda x: x[:, 0], 3, 1000, seed=5) as e:
        here = e.certify(ORIGIN, 0.25, 1000, 0.5)
    assert (there.radius, there.prediction) == (here.radius, here.prediction)
    assert set(streams) == {(stream, 0, "<f4")}
    moved = certreg.Listed([[0.25, 0, 0], [0, 0.5, 0]])
    asked = ORIGIN, 0.25, 600, 0.5
    with on_device(first_of, 600, stream=new_stream()) as e:
        there = e.certify(*asked, alternatives=moved)
    with certreg.Estimator(lambda x: x[:, 0], 3, 600, seed=5) as e:
        here = e.certify(*asked, alternatives=moved)
    assert here.radius > 0 and there == here


@needs_module
def test_noise_is_drawn_into_arrays_of_the_device():
    memory = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4 * 5 * 3)) == 0

    class Out:
        __cuda_array_interface__ = dict(version=3, shape=(5, 3), typestr="<f4",
                                        data=(memory.value, False), strides=None)
        shape, stream = (5, 3), new_stream()

    with certreg.Estimator(None, 3, 1000, seed=5) as e:
        e.begin(ORIGIN, 0.25)
        here = e.draw(2, 5)
    with on_device(None, 1000, stream=Out.stream) as e:
        e.begin(ORIGIN, 0.25)
        np.testing.assert_array_equal(fetched(e.draw(2, 5, out=Out())), here)
        with pytest.raises(ValueError, match="shape"):
            e.draw(2, 4, out=Out())
        with pytest.raises(certreg.CertregError, match="not memory of device"):
            e.draw(2, 5)


@needs_module
def test_outputs_are_recorded_from_arrays_of_the_device():
    memory, stream = ctypes.c_void_p(), new_stream()
    assert cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4 * 100)) == 0
    there = dict(version=3, typestr="<f4", data=(memory.value, False), strides=None)
    y = types.SimpleNamespace(__cuda_array_interface__={**there, "shape": (100, 1)})
    y.shape, y.stream = (100, 1), stream
    with on_device(None, 300, stream=stream) as e, certreg.Estimator(None, 3, 300, seed=5) as here:
        for one in (here, e):
            one.begin(ORIGIN, 0.25)
        for first in range(0, 300, 100):
            outputs = np.ascontiguousarray(here.draw(first, 100)[:, :1])
            copied(memory.value, outputs.ctypes.data, y, 1)
            e.record(first, y)
            here.record(first, outputs)
        assert e.certify(0, 0.5) == here.certify(0, 0.5)
        y.__cuda_array_interface__["shape"] = (50, 2)
        with pytest.raises(ValueError, match=r"y is <f4 of shape \(50, 2\); it must be float32 of"):
            e.record(0, y)
    with on_device(None, 300) as e, pytest.raises(ValueError, match="nothing orders .*give stream"):
        e.begin(ORIGIN, 0.25)
        e.record(0, y)


@parametrize(
    "device, dtype, text",
    (1, "torch.float32", "the module is on cuda:1, and the noise on cuda:0: give device=1, or"),
    (0, "torch.float16", r"the module returns torch.float16, with 3 digits"),
    (0, "torch.float64", None),
)
def test_modules_keep_their_device_and_their_precision(device, dtype, text, monkeypatch):
    """With the parts of torch that a module on a device needs, and no torch."""
    seen = []

    class Place(types.SimpleNamespace):
        def __init__(self, index):
            self.type, self.index = "cuda", index

        def __str__(self):
            return f"cuda:{self.index}"

    class Tensor:
        def __init__(self, dtype):
            self.dtype, self.shape = dtype, (5, 1)

        def to(self, dtype):
            return Tensor(dtype)

        def reshape(self, shape):
            return self

        def copy_(self, other):
            seen.append((self.dtype, other.dtype))

    class Module:
        training = False

        def __call__(self, x):
            return Tensor(x.dtype)

        def parameters(self):
            place = Place(device)
            yield types.SimpleNamespace(device=place, dtype=dtype, is_floating_point=lambda: True)

        def modules(self):
            return [self]

    same = contextlib.nullcontext
    Tensor.__module__ = Module.__module__ = "torch"
    torch = types.SimpleNamespace(
        Tensor=Tensor, nn=types.SimpleNamespace(Module=Module), inference_mode=same,
        as_tensor=lambda x, device: Tensor("torch.float32"),
        cuda=types.SimpleNamespace(
            synchronize=lambda place: None, stream=same,
            ExternalStream=lambda stream, device: seen.append((stream, device)),
        ),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "torch", torch)
    call = models.torch_on_device(Module())
    x = y = types.SimpleNamespace(device=0, stream=77, shape=(5, 1))
    said = pytest.raises(ValueError, match=text) if device else pytest.warns(match=text)
    with contextlib.nullcontext() if text is None else said:
        call(x, y)
    assert device or seen == [(77, "cuda:0"), ("torch.float32", dtype)]


@needs_module
def test_device_arrays_are_capsules_and_end_with_the_call_of_the_model():
    seen, kept = [], []

    def model(x, y):
        for array in (x, y):
            made = array.__dlpack__(stream=array.stream)
            lent = arrays._Managed.from_address(arrays._pointer(made, b"dltensor")).tensor
            address, _ = array.__cuda_array_interface__["data"]
            seen.append((lent.data == address, lent.device_type, lent.device_id, lent.ndim))
            kept.append((array, made))
        first_of(x, y)

    with on_device(model) as e:
        assert e.certify(ORIGIN, 0.25, 300, 0.5).certified
    assert (set(seen), len(seen)) == ({(True, 2, 0, 2)}, 16)  # 1, 4 of the check, 3 again
    for array, made in kept:
        assert not arrays._is_valid(made, b"dltensor")
        with pytest.raises(AttributeError):
            array.__cuda_array_interface__
        with pytest.raises(BufferError, match="valid only during the call"):
            array.__dlpack__(stream=array.stream)


@needs_module
def test_what_goes_wrong_on_a_device_is_told():
    nothing = lambda x, y: None  # noqa: E731
    with on_device(lambda x, y: x) as e, pytest.raises(ValueError, match="returns None"):
        e.certify(ORIGIN, 0.25, 300, 0.5)
    with on_device(nothing) as e, pytest.raises(certreg.CertregError, match="unwritten"):
        e.certify(ORIGIN, 0.25, 300, 0.5)
    with refused(certreg.Status.NO_DEVICE):
        on_device(nothing, device=99)
    with pytest.raises(ValueError, match="threads or device"):
        on_device(nothing, threads=1)


# ---- capsules
class Lent:
    """An array of the host, lent like one of a device."""

    def __init__(self, array, device=(arrays.CPU, 0)):
        self.array, self.device, self.made = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **how):
        self.made.append(arrays.capsule(self.array.ctypes.data, self.array.shape, self.device))
        return self.made[-1]

    def end(self):
        while self.made:
            arrays.withdraw(self.made.pop())


def resident():
    """Bytes of memory that the process occupies."""
    return 4096 * int(pathlib.Path("/proc/self/statm").read_text().split()[1])


def test_what_a_consumer_holds_outlasts_the_lender():
    a = np.arange(6, dtype=np.float32)
    lent = Lent(a)
    held = [np.from_dlpack(lent) for _ in range(100)]
    lent.end()
    del lent
    gc.collect()
    a[0] = 9
    for b in held:
        np.testing.assert_array_equal(b, [9, 1, 2, 3, 4, 5])


def test_a_withdrawn_capsule_is_refused():
    lent = Lent(np.zeros(3, np.float32))
    made = lent.__dlpack__()
    lent.end()
    arrays.withdraw(made)  # twice does no harm
    again = type("Again", (Lent,), {"__dlpack__": lambda self, **how: made})(lent.array)
    with pytest.raises(ValueError, match="name"):
        np.from_dlpack(again)


@parametrize("consumed", False, True)
def test_nothing_leaks(consumed):
    lent = Lent(np.zeros(4, np.float32))
    for count in (1000, 50_000):
        before = resident()
        for _ in range(count):
            np.from_dlpack(lent) if consumed else lent.__dlpack__()
            lent.end()
    assert resident() - before < 3 << 19  # of 5 MB in structs


@pytest.fixture
def lent():
    """An array of device 3 and stream 7, and where it is."""
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    batch = types.SimpleNamespace(device=3, stream=7)
    x = DeviceArray(a.ctypes.data, a.shape, batch)
    yield x, a.ctypes.data
    with contextlib.suppress(AttributeError):  # a test has ended it
        x._end()


def test_the_capsule_is_of_cuda_float32_and_row_major(lent):
    x, address = lent
    assert x.__dlpack_device__() == (2, 3)
    made = x.__dlpack__(stream=7)
    at = arrays._Managed.from_address(arrays._pointer(made, b"dltensor")).tensor
    assert (at.device_type, at.device_id, at.data) == (2, 3, address)
    assert (at.code, at.bits, at.lanes, at.byte_offset) == (2, 32, 1, 0)
    two = arrays.C.c_int64 * 2
    assert [list(two.from_address(p)) for p in (at.shape, at.strides)] == [[2, 3], [3, 1]]


def test_what_a_consumer_may_ask(lent):
    for how in (dict(stream=-1), dict(stream=7, max_version=(1, 0), dl_device=(2, 3))):
        lent[0].__dlpack__(**how)
    for more in (dict(stream=8), dict(copy=True), dict(dl_device=(1, 0))):
        with pytest.raises(BufferError):
            lent[0].__dlpack__(**{"stream": 7, **more})
    with pytest.raises(BufferError):
        lent[0].__dlpack__()
