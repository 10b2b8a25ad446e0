"""Handles that are used wrongly, by callbacks, threads, forks and signals, and exceptions of
callbacks: every error reaches the caller, and an answer is about the input that was asked about."""

import contextlib
import copy
import functools
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
from unittest import mock

import numpy as np
import pytest

import certreg
from kit import SAMPLES, X, Z, estimator, model, on_a_thread, parametrize, raising, refused, same
from certreg import Bisection, Bounds, Calibrated, CertregError, Estimator, Outcome, Question
from certreg import Side, Solver, Status, Stop
from certreg.library import Handle

HALF_SPACE = Bounds(1, variance_hi=1)


def fails_in_a_process(sigma):
    """In a process of a pool."""
    with estimator() as e:
        e.certify(Z, sigma, SAMPLES, 0.5, Question(-1))


def busy(call, *arguments):
    with refused(Status.BUSY) as caught:
        call(*arguments)
    for c in caught.value.certificates:  # which claim nothing
        assert (c.status, c.outcome, c.radius) == (Status.BUSY, Outcome.ABSTAINED, 0)
        assert (c.output_lo, c.output_hi) == (-math.inf, math.inf)
        numbers = (c.prediction, c.estimate, c.sigma, c.tolerance, c.alpha)
        assert all(map(math.isnan, numbers))


# ---- calls during a call
@parametrize("on_a_thread_of_its_own", False, True)
@parametrize(
    "ask",
    lambda e: e.close(),
    lambda e: e.certify(Z, 0.25, SAMPLES, 0.5),
    lambda e: e.begin(Z, 0.25),
    lambda e: e.certify(0, 0.5),
    lambda e: e.certify_sigmas(Z, [0.25], SAMPLES, 0.5),
    lambda e: e.output_bounds(0, 0.1, 0.5),
    lambda e: e.info(),
    lambda e: e.export(),
    lambda e: e.draw(0, 1),
    lambda e: e.set_deadline(1),
    lambda e: e.bounds(0.5, Side.UPPER),
    lambda e: e.attack(0.5, 500),
)
def test_calls_during_a_call_are_refused(ask, on_a_thread_of_its_own):
    """The certificate is the same as without this call, and an attack is one too."""
    with estimator() as e:
        wanted = e.certify(Z, 0.25, SAMPLES, 0.5)
    told = []

    def once():
        busy(ask, e)
        told.append("busy")

    def disturbed(x):
        if not told:
            on_a_thread(once) if on_a_thread_of_its_own else once()
        return model(x)

    with estimator(disturbed) as e:
        for _ in range(2):
            assert same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=0))
        assert told == ["busy"]
        told.clear()
        e.attack(0.5, 500)
        assert told == ["busy"]


# ---- pickle, pools, forks
def pickled(protocol, error):
    return pickle.loads(pickle.dumps(error, protocol))


@parametrize("method", "fork", "spawn")
def test_errors_come_back_from_a_pool(method):
    with pytest.raises(CertregError) as caught:
        fails_in_a_process(0.25)
    for copied in (copy.copy, *(functools.partial(pickled, p) for p in range(6))):
        error, again = caught.value, copied(caught.value)
        assert type(again) is CertregError and len(error.certificates) == 2
        assert (str(again), again.args) == (str(error), error.args)
        for field in ("status", "sample", "row", "output", "code"):
            assert getattr(again, field) == getattr(error, field), field
        assert repr(again.certificates) == repr(error.certificates)
    with multiprocessing.get_context(method).Pool(1) as pool, refused(Status.INVALID):
        pool.apply_async(fails_in_a_process, (0.25,)).get()


@parametrize("make", estimator, Solver, Bisection)
def test_handles_say_that_they_cannot_be_pickled_and_that_they_are_closed(make):
    handle = make()
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            call(handle)
    handle.close()
    handle.close()
    ask = {
        estimator: (lambda: handle.cancel(), lambda: handle.begin(Z, 0.25)),
        Solver: (lambda: handle.worst_case(HALF_SPACE, 1),),
        Bisection: (lambda: handle.within(HALF_SPACE, 1),),
    }
    for call in ask[make]:
        with pytest.raises(ValueError, match="closed"):
            call()


# ---- exceptions and signals
def control_c():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)  # interrupted at once
    os._exit(1)


@parametrize("error, kind", (lambda: 1 // 0, ZeroDivisionError), (sys.exit, SystemExit),
             (control_c, KeyboardInterrupt))
def test_exceptions_of_the_model_arrive_as_they_are(error, kind):
    """The third call of the model raises; afterwards the estimator works as before."""
    calls = []

    def fails(x):
        calls.append(len(x))
        if len(calls) == 3:
            error()
        return model(x)

    with estimator() as e:
        wanted = e.certify(Z, 0.25, SAMPLES, 0.5)
    with estimator(fails) as e:
        with pytest.raises(kind) as caught:
            e.certify(Z, 0.25, SAMPLES, 0.5)
        assert "in fails" in "".join(traceback.format_tb(caught.value.__traceback__))
        assert len(calls) == 3
        assert same(wanted, e.certify(SAMPLES, 0.5)), "what was recorded stays"
        assert same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=0))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_exceptions_of_progress_and_during_an_attack_arrive():
    with estimator(progress=lambda done, total: 1 // 0) as e:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                e.certify(Z, 0.25, SAMPLES, 0.5)
    attacked = []
    with estimator(lambda x: (model(x), 1 // (not attacked))[0]) as e:
        e.certify(Z, 0.25, SAMPLES, 0.5)
        attacked.append(True)
        with pytest.raises(ZeroDivisionError):
            e.attack(0.5, 500)
        attacks = e._attacks
        assert attacks._handle
    assert not attacks._handle  # it is freed with the estimator


def test_an_array_that_the_model_keeps_outlives_the_estimator():
    kept, copies = [], []
    with estimator(lambda x: (kept.append(x), copies.append(x.copy()), model(x))[2]) as e:
        e.certify(Z, 0.25, SAMPLES, 0.5)
    del e
    gc.collect()
    owner = kept[-1]
    while owner.base is not None:
        owner = owner.base
    assert isinstance(owner, np.ndarray) and owner.flags.owndata
    np.testing.assert_array_equal(kept[-1], copies[-1])


PACKAGE = os.path.dirname(certreg.__file__)


def interrupted_at(at, call, *errors):
    """Ctrl-C comes at line number `at` of the package, in a call that raises one of these errors.
    Returns the lines."""
    lines, before = [], sys.gettrace()

    def line(frame, event, _):
        if event == "line":
            lines.append((frame.f_code.co_filename, frame.f_lineno))
            if len(lines) == at + 1:
                signal.raise_signal(signal.SIGINT)
        return line

    gc.disable()  # an exception in __del__ would be lost
    sys.settrace(lambda frame, *_: line if frame.f_code.co_filename.startswith(PACKAGE) else None)
    try:
        with pytest.raises(errors) if errors else contextlib.nullcontext():
            call()
    finally:
        sys.settrace(before)
        gc.enable()
    return lines


def interruptions(call, *errors):
    """Numbers of lines: each line when it is run first, and when it is run last."""
    numbered = [*enumerate(interrupted_at(-1, call, *errors))]
    first, last = ({line: at for at, line in order} for order in (numbered[::-1], numbered))
    return sorted({*first.values(), *last.values()})


@parametrize(
    "make, ask",
    (lambda: estimator(max_samples=300), lambda e: e.certify(Z, 0.25, 300, 0.5, noise_id=0)),
    (lambda: Calibrated(model, X, model(X), sigma=0.25, samples=32, seed=1, inputs_seed=2),
     lambda c: c.intervals(X[:2], 0.05, 0.2) and c.interval(X[0], 0.05, 0.2, noise_id=77)),
)
def test_control_c_at_any_line_leaves_an_object_that_works_on_any_thread(make, ask):
    with make() as handle:
        wanted = repr(ask(handle))
        for at in interruptions(lambda: ask(handle)):
            interrupted_at(at, lambda: ask(handle), KeyboardInterrupt)
            got = []
            on_a_thread(lambda: got.append(repr(ask(handle))))
            assert got == [wanted], at


def test_control_c_is_never_lost_after_an_exception_of_the_model():
    """Python loses exceptions that leave a callback."""

    def ask():
        e._model_functions[0] = raising(3, LookupError)
        e.certify(Z, 0.25, SAMPLES, 0.5)

    with estimator() as e, mock.patch("sys.unraisablehook"):
        e.certify(Z, 0.25, SAMPLES, 0.5)
        for at in interruptions(ask, LookupError):
            interrupted_at(at, ask, LookupError, KeyboardInterrupt)


def test_handlers_of_others_are_called_and_do_not_stop_the_run():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *what: seen.append(what[0]))
    try:
        killed = lambda x: (os.kill(os.getpid(), signal.SIGINT), model(x))[1]  # noqa: E731
        with estimator(killed, check=False) as e:
            assert e.certify(Z, 0.25, SAMPLES, 0.5).stop == Stop.ALL
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] * -(-SAMPLES // 256)


# ---- two threads on one handle
MINE, OTHERS = 0.0, 100.0  # inputs, which the model returns
SIGMA, FEW = 0.25, 10


def itself(x):
    return x[:, 0]


def small(samples=FEW):
    return Estimator(itself, 1, samples, seed=42)


def certified():
    e = small(600)
    e.certify([MINE], SIGMA, 600, 0.5)
    return e


def recorded():
    e = small()
    e.begin([MINE], SIGMA)
    e.sample(0, FEW)
    return e


def calibrated():
    points = np.linspace(-1, 1, 40, dtype=np.float32)[:, None]
    seeds = dict(seed=1, inputs_seed=2)
    return Calibrated(itself, points, points[:, 0], SIGMA, samples=11, **seeds)


@parametrize(
    "make, ask",
    (small, lambda e: e.certify([MINE], SIGMA, FEW, 0.5)),
    (small, lambda e: e.certify([MINE], SIGMA, FEW, 0.5, 0.7)),
    (certified, lambda e: e.attack(0.5)),
    (certified, lambda e: e.gradient(0.5, "upper").tolist()),
    (recorded, lambda e: e.export()),
    (calibrated, lambda c: c.interval([MINE], 0.05, 0.2)),
    (calibrated, lambda c: c.covers([MINE], 0.1, 0.05, 0.2)),
)
def test_no_input_of_another_thread_comes_between_the_calls_of_one_answer(make, ask):
    """Another thread begins another input after every call of the library."""
    plain, told = Handle._call, []

    def begin(handle):
        try:
            handle._begin(np.float32([OTHERS]), SIGMA, 7, 0)
            told.append(None)
        except CertregError as error:
            told.append(error.status)

    def called(handle, *arguments, **more):
        plain(handle, *arguments, **more)
        if threading.current_thread() is threading.main_thread():
            on_a_thread(begin, getattr(one, "_estimator", one))

    with make() as one:
        wanted = ask(one)
    with make() as one, mock.patch.object(Handle, "_call", called):
        found = ask(one)
    assert same(wanted, found)
    assert set(told) == {Status.BUSY}
