"""Models and noise on a CUDA device."""

import ctypes
import os
import pathlib
import unittest

import numpy as np

from support import certreg, ORIGIN, run
from certreg import _dlpack


class Device(unittest.TestCase):
    """A CUDA device that is emulated on the host (tests/emulated)."""

    folder = pathlib.Path(os.environ.get("CERTREG_LIB", "")).parent / "tests"
    module = folder / "emulated_module.so"

    def setUp(self):
        if not self.module.exists():
            self.skipTest(f"{self.module} has not been built")
        self.cuda = ctypes.CDLL(str(self.folder / "libemulated_cuda.so"))

    def copy(self, to, source, array, kind):
        stream = ctypes.c_void_p(array.stream)
        self.assertEqual(
            self.cuda.cudaMemcpyAsync(
                ctypes.c_void_p(to),
                ctypes.c_void_p(source),
                ctypes.c_size_t(4 * int(np.prod(array.shape))),
                kind,
                stream,
            ),
            0,
        )
        self.assertEqual(self.cuda.cudaStreamSynchronize(stream), 0)

    def fetch(self, array):
        host = np.empty(array.shape, np.float32)
        self.copy(host.ctypes.data, array.__cuda_array_interface__["data"][0], array, 2)
        return host

    def store(self, array, values):
        host = np.ascontiguousarray(values, np.float32)
        self.assertEqual(host.shape, array.shape)
        self.copy(array.__cuda_array_interface__["data"][0], host.ctypes.data, array, 1)

    def test_models_on_a_device_fill_y_in_place(self):
        streams, stream = [], ctypes.c_void_p()
        self.assertEqual(self.cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1), 0)

        def model(x, y):
            streams.append((x.stream, x.device, y.__cuda_array_interface__["typestr"]))
            self.store(y, self.fetch(x)[:, :1])

        with certreg.Estimator(
            model, 3, 1000, seed=5, device=0, stream=stream.value, module=self.module
        ) as e:
            there = e.certify(ORIGIN, 0.25, 1000, 0.5)
        with certreg.Estimator(lambda x: x[:, 0], 3, 1000, seed=5) as e:
            here = e.certify(ORIGIN, 0.25, 1000, 0.5)
        self.assertEqual((there.radius, there.prediction), (here.radius, here.prediction))
        self.assertEqual(set(streams), {(stream.value, 0, "<f4")})

    def test_noise_is_drawn_into_arrays_of_the_device(self):
        memory = ctypes.c_void_p()
        self.assertEqual(self.cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4 * 5 * 3)), 0)

        class Out:
            __cuda_array_interface__ = dict(
                version=3, shape=(5, 3), typestr="<f4", data=(memory.value, False), strides=None
            )
            shape, stream = (5, 3), None

        with certreg.Estimator(None, 3, 1000, seed=5) as e:
            e.begin(ORIGIN, 0.25)
            here = e.draw(2, 5)
        stream = ctypes.c_void_p()
        self.assertEqual(self.cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1), 0)
        Out.stream = stream.value
        with certreg.Estimator(
            None, 3, 1000, seed=5, device=0, stream=stream.value, module=self.module
        ) as e:
            e.begin(ORIGIN, 0.25)
            np.testing.assert_array_equal(self.fetch(e.draw(2, 5, out=Out())), here)
            with self.assertRaisesRegex(ValueError, "shape"):
                e.draw(2, 4, out=Out())
            with self.assertRaisesRegex(certreg.CertregError, "not memory of CUDA device"):
                e.draw(2, 5)

    def test_device_arrays_end_with_the_call_of_the_model(self):
        kept = []

        def model(x, y):
            kept.append(x)
            self.store(y, self.fetch(x)[:, :1])

        with certreg.Estimator(model, 3, 300, device=0, module=self.module) as e:
            self.assertTrue(e.certify(ORIGIN, 0.25, 300, 0.5).certified)
        for x in kept:
            with self.assertRaises(AttributeError):
                x.__cuda_array_interface__

    def test_device_arrays_are_capsules_of_dlpack(self):
        seen, kept = [], []

        def model(x, y):
            for array in (x, y):
                made = array.__dlpack__(stream=array.stream)
                lent = _dlpack._Managed.from_address(_dlpack._pointer(made, b"dltensor")).tensor
                address, _ = array.__cuda_array_interface__["data"]
                seen.append((lent.data == address, lent.device_type, lent.device_id, lent.ndim))
                kept.append((array, made))
            self.store(y, self.fetch(x)[:, :1])

        with certreg.Estimator(model, 3, 300, device=0, module=self.module) as e:
            e.certify(ORIGIN, 0.25, 300, 0.5)
        self.assertEqual((set(seen), len(seen)), ({(True, 2, 0, 2)}, 4))
        for array, made in kept:
            self.assertFalse(_dlpack._is_valid(made, b"dltensor"))
            with self.assertRaisesRegex(BufferError, "valid only during the call"):
                array.__dlpack__(stream=array.stream)

    def test_what_goes_wrong_on_a_device_is_told(self):
        with certreg.Estimator(lambda x, y: x, 3, 1000, device=0, module=self.module) as e:
            with self.assertRaisesRegex(ValueError, "returns None"):
                e.certify(ORIGIN, 0.25, 1000, 0.5)
        with certreg.Estimator(lambda x, y: None, 3, 1000, device=0, module=self.module) as e:
            with self.assertRaisesRegex(certreg.CertregError, "unwritten"):
                e.certify(ORIGIN, 0.25, 1000, 0.5)
        with self.assertRaises(certreg.CertregError) as refused:
            certreg.Estimator(lambda x, y: None, 3, 1000, device=99, module=self.module)
        self.assertEqual(refused.exception.status, certreg.Status.NO_DEVICE)
        with self.assertRaisesRegex(ValueError, "threads or device"):
            certreg.Estimator(lambda x, y: None, 3, 1000, device=0, threads=1, module=self.module)


if __name__ == "__main__":
    run()
