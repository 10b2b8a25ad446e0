"""Two threads on one handle: an answer is about the input that was asked about, or the call is
refused."""

import sys
import threading
import unittest
from unittest import mock

import numpy as np

from support import run, same
from certreg import Calibrated, CertregError, Estimator, Status
from certreg._calls import Handle

MINE, OTHERS = 0.0, 100.0  # inputs, which the model returns
SIGMA, SAMPLES, CALLS = 0.25, 10, 800


def model(x):
    return x[:, 0]


def estimator():
    return Estimator(model, 1, SAMPLES, seed=42)


def calibrated():
    X = np.linspace(-1, 1, 40, dtype=np.float32)[:, None]
    return Calibrated(model, X, X[:, 0], SIGMA, samples=11, seed=1, inputs_seed=2)


class Between:
    """A context in which another thread begins another input after every call of the library."""

    def __init__(self, handle):
        self.handle, self.told = handle, []
        self.plain = Handle._called

    def begin(self):
        try:
            self.handle._begin(np.float32([OTHERS]).ctypes.data, SIGMA, 7, 0)
            self.told.append(None)
        except CertregError as error:
            self.told.append(error.status)

    def called(self, handle, *arguments, **more):
        self.plain(handle, *arguments, **more)
        if threading.current_thread() is threading.main_thread():
            thread = threading.Thread(target=self.begin)
            thread.start()
            thread.join()

    def __enter__(self):
        told = lambda *arguments, **more: self.called(*arguments, **more)  # noqa: E731
        self.patch = mock.patch.object(Handle, "_called", told)
        self.patch.start()
        return self

    def __exit__(self, *_):
        self.patch.stop()


class Threads(unittest.TestCase):
    def undisturbed(self, make, handle_of, ask):
        """Asks alone, and then with another thread between the calls of the library."""
        with make() as one:
            wanted = ask(one)
        with make() as one, Between(handle_of(one)) as between:
            found = ask(one)
        self.assertTrue(same(wanted, found), f"{wanted} and {found}")
        self.assertEqual(set(between.told), {Status.BUSY})

    def test_no_input_of_another_thread_comes_between_a_begin_and_its_answer(self):
        for ask in (
            lambda e: e.certify([MINE], SIGMA, SAMPLES, 0.5),
            lambda e: e.certify([MINE], SIGMA, SAMPLES, 0.5, 0.7),
        ):
            self.undisturbed(estimator, lambda e: e, ask)

    def test_an_attack_and_its_certificate_are_about_one_input(self):
        def certified():
            e = Estimator(model, 1, 600, seed=42)
            e.certify([MINE], SIGMA, 600, 0.5)
            return e

        self.undisturbed(certified, lambda e: e, lambda e: e.attack(0.5))
        self.undisturbed(certified, lambda e: e, lambda e: e.gradient(0.5, "upper").tolist())

    def test_a_record_is_exported_as_it_was_measured(self):
        def recorded():
            e = estimator()
            e.begin([MINE], SIGMA)
            e.sample(0, SAMPLES)
            return e

        self.undisturbed(recorded, lambda e: e, lambda e: e.export())

    def test_an_interval_is_about_its_own_input(self):
        for ask in (
            lambda c: c.interval([MINE], 0.05, 0.2),
            lambda c: c.covers([MINE], 0.1, 0.05, 0.2),
        ):
            self.undisturbed(calibrated, lambda c: c._estimator, ask)

    def hammered(self, ask):
        """Two threads ask about inputs of their own. Returns their answers and refusals."""
        answers, told, both = {MINE: [], OTHERS: []}, [], threading.Barrier(2)

        def work(z):
            both.wait()
            for _ in range(CALLS):
                try:
                    answers[z].append(ask([z]))
                except Exception as error:
                    told.append(getattr(error, "status", error))

        threads = [threading.Thread(target=work, args=(z,)) for z in answers]
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)
        self.assertLessEqual(set(told), {Status.BUSY})
        self.assertEqual(len(told) + sum(map(len, answers.values())), 2 * CALLS)
        self.assertTrue(answers[MINE] or answers[OTHERS])
        return answers

    def test_idle_handles_that_are_hammered_mix_no_certificates(self):
        with estimator() as e:
            answers = self.hammered(lambda z: e.certify(z, SIGMA, SAMPLES, 0.5))
        for z, certificates in answers.items():
            self.assertEqual([c for c in certificates if abs(c.prediction - z) > 1], [])

    def test_idle_handles_that_are_hammered_mix_no_intervals(self):
        with calibrated() as c:
            answers = self.hammered(lambda z: c.interval(z, 0.05, 0.2))
        for z, intervals in answers.items():
            self.assertEqual([i for i in intervals if not i.lo - 1 < z < i.hi + 1], [])


if __name__ == "__main__":
    run()
