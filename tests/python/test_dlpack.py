"""Arrays of a device as DLPack capsules. The same function exports memory of the host, which NumPy
can read."""

import gc
import pathlib
import types
import unittest

import numpy as np

from support import run
from certreg import DeviceArray, _dlpack


class Lent:
    """An array of the host, lent like one of a device."""

    def __init__(self, array, device=(_dlpack.CPU, 0)):
        self.array, self.device, self.made = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **how):
        self.made.append(_dlpack.capsule(self.array.ctypes.data, self.array.shape, self.device))
        return self.made[-1]

    def end(self):
        while self.made:
            _dlpack.withdraw(self.made.pop())


def resident():
    """Bytes of memory that the process occupies."""
    return 4096 * int(pathlib.Path("/proc/self/statm").read_text().split()[1])


class Capsules(unittest.TestCase):
    def test_numpy_reads_the_same_memory(self):
        for shape in ((5,), (2, 3), (2, 3, 4), (1, 1)):
            a = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
            lent = Lent(a)
            b = np.from_dlpack(lent)
            self.assertEqual((b.shape, b.dtype, b.strides), (a.shape, a.dtype, a.strides))
            np.testing.assert_array_equal(a, b)
            self.assertEqual(a.ctypes.data, b.ctypes.data)
            lent.end()

    def test_what_a_consumer_holds_outlasts_the_lender(self):
        a = np.arange(6, dtype=np.float32)
        lent = Lent(a)
        held = [np.from_dlpack(lent) for _ in range(100)]
        lent.end()
        del lent
        gc.collect()
        a[0] = 9
        for b in held:
            np.testing.assert_array_equal(b, [9, 1, 2, 3, 4, 5])

    def test_a_withdrawn_capsule_is_refused(self):
        lent = Lent(np.zeros(3, np.float32))
        made = lent.__dlpack__()
        lent.end()
        _dlpack.withdraw(made)  # twice does no harm

        class Again(Lent):
            def __dlpack__(self, **how):
                return made

        with self.assertRaisesRegex(ValueError, "name"):
            np.from_dlpack(Again(lent.array))

    def test_nothing_leaks(self):
        a = np.zeros(4, np.float32)
        for consumed in (False, True):
            lent = Lent(a)
            for count in (1000, 100_000):
                before = resident()
                for _ in range(count):
                    np.from_dlpack(lent) if consumed else lent.__dlpack__()
                    lent.end()
            self.assertLess(resident() - before, 3 << 20)  # of 10 MB in structs

    def test_an_error_of_the_consumer_stays_what_it_is(self):
        lent = Lent(np.zeros(3, np.float32), (_dlpack.CUDA, 0))
        with self.assertRaisesRegex((RuntimeError, BufferError), "device"):
            np.from_dlpack(lent)
        lent.end()


class Arrays(unittest.TestCase):
    def setUp(self):
        self.a = np.arange(6, dtype=np.float32).reshape(2, 3)
        batch = types.SimpleNamespace(device=3, stream=7)
        self.x = DeviceArray(self.a.ctypes.data, self.a.shape, batch)

    def test_the_capsule_is_of_cuda_float32_and_row_major(self):
        self.assertEqual(self.x.__dlpack_device__(), (2, 3))
        made = self.x.__dlpack__(stream=7)
        at = _dlpack._Managed.from_address(_dlpack._pointer(made, b"dltensor")).tensor
        self.assertEqual((at.device_type, at.device_id, at.data), (2, 3, self.a.ctypes.data))
        self.assertEqual((at.code, at.bits, at.lanes, at.byte_offset), (2, 32, 1, 0))
        lengths = np.ctypeslib.as_array((_dlpack.C.c_int64 * 2).from_address(at.shape))
        strides = np.ctypeslib.as_array((_dlpack.C.c_int64 * 2).from_address(at.strides))
        self.assertEqual((lengths.tolist(), strides.tolist()), ([2, 3], [3, 1]))
        self.x._end()

    def test_other_streams_copies_and_devices_are_refused(self):
        for how in (
            dict(),
            dict(stream=8),
            dict(stream=7, copy=True),
            dict(stream=7, dl_device=(1, 0)),
        ):
            with self.assertRaises(BufferError, msg=str(how)):
                self.x.__dlpack__(**how)
        for how in (dict(stream=-1), dict(stream=7, max_version=(1, 0), dl_device=(2, 3))):
            self.x.__dlpack__(**how)
        self.x._end()

    def test_it_ends_with_the_call_of_the_model(self):
        made = self.x.__dlpack__(stream=7)
        self.assertTrue(_dlpack._is_valid(made, b"dltensor"))
        self.x._end()
        self.assertFalse(_dlpack._is_valid(made, b"dltensor"))
        with self.assertRaisesRegex(BufferError, "only during the call"):
            self.x.__dlpack__(stream=7)


if __name__ == "__main__":
    run()
