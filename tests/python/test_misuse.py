"""Handles that are used wrongly, and exceptions of callbacks: every error reaches the caller."""

import copy
import gc
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import unittest

import numpy as np

from support import estimator, model, run, same, SAMPLES, Z
from certreg import Bisection, Bounds, CertregError, Outcome, Question, Side, Solver, Status, Stop


def fails_in_a_process(sigma):
    """In a process of a pool."""
    with estimator() as e:
        e.certify(Z, sigma, SAMPLES, 0.5, Question(-1))


class Misuse(unittest.TestCase):
    def busy(self, call, *arguments):
        with self.assertRaises(CertregError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.status, Status.BUSY)
        for c in caught.exception.certificates:  # which claim nothing
            self.assertEqual((c.status, c.outcome, c.radius), (Status.BUSY, Outcome.ABSTAINED, 0))
            self.assertEqual((c.output_lo, c.output_hi), (-math.inf, math.inf))
            numbers = (c.prediction, c.estimate, c.sigma, c.tolerance, c.alpha)
            self.assertTrue(all(map(math.isnan, numbers)))

    def ask_meanwhile(self, ask, on_a_thread):
        """Calls `ask` once while certify runs, from its model or another thread. The certificate
        must be the same as without this call."""
        with estimator() as e:
            wanted = e.certify(Z, 0.25, SAMPLES, 0.5)
        errors = []

        def once(e):
            try:
                ask(e)
            except BaseException as error:
                errors.append(error)

        def disturbed(x):
            if not asked:
                asked.append(True)
                if on_a_thread:
                    thread = threading.Thread(target=once, args=(e,))
                    thread.start()
                    thread.join()
                else:
                    once(e)
            return model(x)

        asked = []
        with estimator(disturbed) as e:
            self.assertTrue(same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=0)))
            self.assertTrue(same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=0)))
        self.assertTrue(asked)
        if errors:
            raise errors[0]

    def test_closing_during_a_call_is_refused(self):
        for on_a_thread in (False, True):
            self.ask_meanwhile(lambda e: self.busy(e.close), on_a_thread)

    def test_calls_during_a_call_are_refused(self):
        for on_a_thread in (False, True):
            for ask in (
                lambda e: e.certify(Z, 0.25, SAMPLES, 0.5),
                lambda e: e.begin(Z, 0.25),
                lambda e: e.certify(0, 0.5),
                lambda e: e.certify_sigmas(Z, [0.25], SAMPLES, 0.5),
                lambda e: e.output_bounds(0, 0.1, 0.5),
                lambda e: e.run(),
                lambda e: e.export(),
                lambda e: e.draw(0, 1),
                lambda e: e.set_deadline(1),
                lambda e: e.bounds(0.5, Side.UPPER),
            ):
                self.ask_meanwhile(lambda e, ask=ask: self.busy(ask, e), on_a_thread)

    def test_cancel_may_come_at_any_time(self):
        with estimator(lambda x: (e.cancel(), model(x))[1]) as e:
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.CANCELLED)
        with self.assertRaisesRegex(ValueError, "closed"):
            e.cancel()

    def test_memory_of_a_device_is_refused_by_the_cpu(self):
        class Out:
            __cuda_array_interface__ = dict(
                version=3, shape=(5, 3), typestr="<f4", data=(64, False), strides=None
            )

        with estimator() as e:
            e.begin(Z, 0.25)
            with self.assertRaisesRegex(ValueError, "device="):
                e.draw(0, 5, out=Out())

    def test_an_array_that_the_model_keeps_outlives_the_estimator(self):
        kept, copies = [], []
        with estimator(lambda x: (kept.append(x), copies.append(x.copy()), model(x))[2]) as e:
            e.certify(Z, 0.25, SAMPLES, 0.5)
        del e
        gc.collect()
        owner = kept[-1]
        while owner.base is not None:
            owner = owner.base
        self.assertTrue(isinstance(owner, np.ndarray) and owner.flags.owndata)
        np.testing.assert_array_equal(kept[-1], copies[-1])

    def test_errors_survive_pickle(self):
        with self.assertRaises(CertregError) as caught:
            fails_in_a_process(0.25)
        error = caught.exception
        self.assertEqual(len(error.certificates), 2)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(error, protocol))
            self.assertIs(type(again), CertregError)
            self.assertEqual((str(again), again.args), (str(error), error.args))
            for field in ("status", "sample", "row", "output", "model_code"):
                self.assertEqual(getattr(again, field), getattr(error, field), field)
            self.assertEqual(repr(again.certificates), repr(error.certificates))
        self.assertEqual(copy.copy(error).status, error.status)

    def test_errors_come_back_from_a_pool(self):
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                with self.assertRaises(CertregError) as caught:
                    pool.apply_async(fails_in_a_process, (0.25,)).get()
            self.assertEqual(caught.exception.status, Status.INVALID)

    def test_handles_say_that_they_cannot_be_pickled(self):
        for make in (estimator, Solver, Bisection):
            with make() as handle:
                for call in (pickle.dumps, copy.copy, copy.deepcopy):
                    with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                        call(handle)

    def test_a_forked_child_is_told(self):
        with estimator() as e, Solver() as s:
            e.begin(Z, 0.25)
            told, tell = os.pipe()
            child = os.fork()
            if child == 0:
                said = []
                for call in (
                    lambda: e.certify(SAMPLES, 0.5),
                    lambda: e.export(),
                    lambda: s.worst_case(Bounds(1, variance_hi=1), 1),
                ):
                    try:
                        call()
                    except CertregError as error:
                        said.append(error.status == Status.WRONG_STATE and "fork" in str(error))
                e.close(), s.close()
                os.write(tell, b"y" if said == [True] * 3 else b"n")
                os._exit(0)
            os.waitpid(child, 0)
            self.assertEqual(os.read(told, 1), b"y")
            self.assertTrue(e.certify(SAMPLES, 0.5).certified)
            os.close(told), os.close(tell)


class Exceptions(unittest.TestCase):
    def interrupted(self, error, **more):
        """The third call of the model raises; afterwards the estimator works as before."""
        calls = []

        def fails(x):
            calls.append(len(x))
            if len(calls) == 3:
                error()
            return model(x)

        with estimator() as e:
            wanted = e.certify(Z, 0.25, SAMPLES, 0.5)
        with estimator(fails, **more) as e:
            with self.assertRaises((KeyboardInterrupt, SystemExit, ZeroDivisionError)) as caught:
                e.certify(Z, 0.25, SAMPLES, 0.5)
            self.assertEqual(len(calls), 3)
            self.assertTrue(same(wanted, e.certify(SAMPLES, 0.5)), "what was recorded stays")
            self.assertTrue(same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=0)))
        return caught.exception

    def test_exceptions_of_the_model_arrive_as_they_are(self):
        self.assertIsInstance(self.interrupted(lambda: 1 // 0), ZeroDivisionError)

        def this_one_fails(x):
            raise LookupError("here")

        with estimator(this_one_fails) as e:
            try:
                e.certify(Z, 0.25, SAMPLES, 0.5)
            except LookupError:
                self.assertIn("this_one_fails", traceback.format_exc())
            else:
                self.fail("no exception")

    def test_system_exit_is_carried_too(self):
        self.assertIsInstance(self.interrupted(sys.exit), SystemExit)

    def test_control_c_interrupts_the_model(self):
        went_on = []

        def control_c():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)  # interrupted at once
            went_on.append(True)

        self.assertIsInstance(self.interrupted(control_c), KeyboardInterrupt)
        self.assertFalse(went_on)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_exceptions_of_progress_arrive(self):
        with estimator(progress=lambda done, total: 1 // 0) as e:
            for _ in range(2):
                with self.assertRaises(ZeroDivisionError):
                    e.certify(Z, 0.25, SAMPLES, 0.5)

    def test_control_c_is_never_lost_wherever_it_hits(self):
        delays = np.random.default_rng(1).uniform(0, 0.004, 60)
        with estimator() as e:
            for delay in delays:
                timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
                with self.assertRaises(KeyboardInterrupt):
                    timer.start()
                    while True:
                        e.certify(Z, 0.25, SAMPLES, 0.5)
                timer.join()
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.ALL)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_handlers_of_others_are_called_and_do_not_stop_the_run(self):
        seen = []
        before = signal.signal(signal.SIGINT, lambda *what: seen.append(what[0]))
        try:
            with estimator(lambda x: (os.kill(os.getpid(), signal.SIGINT), model(x))[1]) as e:
                self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.ALL)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual(seen, [signal.SIGINT] * -(-SAMPLES // 256))


if __name__ == "__main__":
    run()
