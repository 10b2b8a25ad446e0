"""What executors may be, what they are sent, and what happens if their processes end."""

import concurrent.futures
import contextlib
import functools
import itertools
import os
import signal
import subprocess
import sys
import time
import types
from unittest import mock

import numpy as np
import pytest

import kit
from kit import X, bits, model, never, parametrize
from certreg import Outcome, RowsError, Status, workers

MB = np.zeros(2**17)
rows_of = functools.partial(kit.rows_of, samples=50, seed=7)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(workers, "PAUSE_SECONDS", 0)


class Awaited(concurrent.futures.Future):
    """Tells its executor when it is read."""

    def __init__(self, executor):
        super().__init__()
        self.executor = executor

    def result(self, timeout=None):
        self.executor.waiting -= 1
        return super().result(timeout)


class Inline(concurrent.futures.Executor):
    """Runs a task when it is submitted, and notes it. `around` is entered for each task."""

    def __init__(self, around=contextlib.nullcontext):
        self.around, self.tasks, self.waiting, self.most = around, [], 0, 0

    def submit(self, function, *task):
        self.tasks.append(task)
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        future = Awaited(self)
        try:
            with self.around():
                future.set_result(function(*task))
        except Exception as error:
            future.set_exception(error)
        return future


class Large:
    """A model of 1 MB."""

    def __init__(self):
        self.weights = MB.copy()

    def __call__(self, x):
        return model(x)


@parametrize("lost", False, True)
def test_a_large_model_travels_once_to_each_process(lost):
    """And again to one that has lost it."""
    executor = Inline()

    @contextlib.contextmanager
    def forgets():
        if lost and len(executor.tasks) == 20:
            workers._jobs.clear()
            workers._thread_worker.job = None
        yield

    executor.around = forgets
    assert bits(rows_of(Large(), jobs=executor)) == bits(rows_of())
    sizes = [len(part) for task in executor.tasks for part in task if isinstance(part, bytes)]
    assert len(executor.tasks) > 20 and (lost or sum(size > MB.nbytes for size in sizes) == 1)


def test_processes_that_take_turns_go_on(folder):
    """Each task goes to the next process, so the first one's model goes to the second one."""
    processes = itertools.cycle([("first", {}), ("second", {})])

    @contextlib.contextmanager
    def next_process():
        name, jobs = next(processes)
        workers._thread_worker.job = None
        with mock.patch("socket.gethostname", lambda: name):
            with mock.patch.object(workers, "_jobs", jobs):
                yield

    more = dict(
        jobs=Inline(next_process), resume="r"
    )  # with a file there are single tasks, too
    assert bits(rows_of(x=X[:3], **more)) == bits(rows_of(x=X[:3]))


def test_more_tasks_are_sent_to_more_workers():
    numbers = itertools.count()
    elsewhere = lambda: mock.patch(
        "socket.gethostname", lambda: f"{next(numbers) % 100}"
    )  # noqa: E731
    few, many = Inline(), Inline(elsewhere)
    for executor in (few, many):
        rows = rows_of(x=np.repeat(X, 20, axis=0), samples=20, jobs=executor)
        assert rows.done.all()
    assert few.most < 5 * 16
    assert many.most > 2 * 100


def of_another_version():
    return mock.patch.object(workers, "__version__", "0.0.9")


def test_workers_of_another_version_are_refused_by_name():
    said = r"a worker has certreg 0\.0\.9 with library \S+, but its work was sent"
    with pytest.raises(RowsError, match=said):
        rows_of(jobs=Inline(of_another_version))


# ---- processes that end
def ends_at_row_7(x):
    if np.allclose(x.mean(axis=0), X[7], atol=0.2):
        os.kill(os.getpid(), signal.SIGKILL)
    return model(x)


def ends_at_once():
    os.kill(os.getpid(), signal.SIGKILL)


class KilledWorker(Exception):
    """As in dask, which calls it so after some processes have ended in a task."""


class Dask(Inline):
    """An executor that replaces processes. Those that compute row 7 `end` so many times (None: the
    result is None), and task number `also` is lost by this error."""

    def __init__(self, also=-1, error=KilledWorker, times=10**6, end=KilledWorker):
        super().__init__()
        self.also, self.error, self.times, self.end = also, error, times, end

    def ends(self, method, *task):
        rows, _, known, *done = task if len(task) > 2 else (*task, [])
        return 7 in rows and (not known or bool(done))

    def submit(self, function, *task):
        return super().submit(self.run, function, *task)

    def run(self, function, *task):
        if len(self.tasks) == self.also:
            raise self.error
        reply = function(*task)
        if reply.value is None or not self.times or not self.ends(*task[3:]):
            return reply
        self.times -= 1
        if self.end:
            raise self.end


@pytest.fixture
def dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed.scheduler", sys.modules[__name__])


ENDING = [(ends_at_row_7, lambda jobs: dict(jobs=jobs)), (model, lambda _: dict(jobs=Dask()))]


def skipped(rows, whole):
    """Whether row 7 failed and the others are as in `whole`."""
    others = np.setdiff1d(np.arange(len(rows)), 7)
    assert rows.done.all()
    assert bits(rows[others]) == bits(whole[others])
    assert {row for row, _ in rows.errors} == {7}
    c = rows.certificate(7)
    assert (c.status, c.outcome, c.radius) == (Status.MODEL_FAILED, Outcome.ABSTAINED, 0)
    assert "3 processes ended while each computed it alone" in rows.errors[7, 0]


@parametrize("f, how", *ENDING)
def test_a_row_that_ends_processes_is_named_or_skipped(dask, f, how):
    rows = rows_of(f, on_crash="skip", keep_records=True, **how(1))
    skipped(rows, rows_of())
    sets = kit.certreg.Replaced({2: 0.0})
    if f is model:
        rows = rows_of(f, on_crash="skip", alternatives=sets, keep_records=True, **how(1))
        skipped(rows, rows_of(alternatives=sets))
    assert [r.status for r in rows.records if r.row == 7] == [Status.MODEL_FAILED]
    said = "row 7: 3 processes ended .*on_crash='skip' .* of 40 rows are done"
    with pytest.raises(RowsError, match=said) as caught:
        rows_of(f, **how(2))
    error = caught.value
    assert (error.row, error.__cause__.status) == (7, Status.MODEL_FAILED)
    assert error.rows.done[:7].all()
    assert not error.rows.done[7]


@parametrize("error", KilledWorker, LookupError)  # dask also loses results with their process
def test_rows_that_were_near_a_death_are_computed(dask, error):
    executor = Dask(30, error)
    skipped(rows_of(jobs=executor, on_crash="skip"), rows_of())
    assert len(executor.tasks) > 30


def test_a_resume_file_keeps_the_failure(dask, folder):
    more = dict(x=X[:10], resume="rows.sqlite")
    first = rows_of(jobs=Dask(), on_crash="skip", keep_records=True, **more)
    skipped(first, rows_of(x=X[:10]))
    again = rows_of(keep_records=True, **more)  # this process does not end
    assert (bits(again), again.errors) == (bits(first), first.errors)
    assert {row for row, _ in rows_of(None, questions=0.3, **more).errors} == {7}


def test_rows_that_are_asked_again_may_end_processes(dask, folder):
    more = dict(x=X[:8], resume="1.sqlite")
    whole = rows_of(**more)
    assert bits(rows_of(jobs=Dask(times=2), **more)) == bits(whole)
    with pytest.raises(RowsError, match="row 0: 3 processes ended"):
        rows_of(jobs=Dask(), **more)


def test_a_broken_executor_is_told_with_the_rows_it_computed():
    said = "while it computed one of the rows (.*, )?7.* .jobs=2 in place.* 7 of 10 rows are done"
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        with pytest.raises(RowsError, match=said) as caught:
            rows_of(ends_at_row_7, x=X[:10], jobs=executor, on_crash="skip")
    assert not caught.value.rows.done[7]


def test_processes_that_end_before_any_row_blame_none():
    with pytest.raises(RowsError, match="^each process ended while it made the model: try jobs=1"):
        rows_of(ends_at_once, jobs=2, on_crash="skip")


# ---- tasks that are lost
@parametrize("error", KilledWorker, concurrent.futures.CancelledError, None)
def test_a_row_that_is_lost_by_chance_is_computed(dask, error):
    rows = rows_of(jobs=Dask(times=3, end=error), on_crash="skip")
    assert (bits(rows), rows.errors) == (bits(rows_of()), {})


def test_a_row_that_is_always_lost_is_no_row_that_ends_processes():
    said = "runs no more tasks .the result of a task is None.* 39 of 40"
    with pytest.raises(RowsError, match=said) as caught:
        rows_of(jobs=Dask(end=None), on_crash="skip")
    assert np.flatnonzero(~caught.value.rows.done).tolist() == [7]


@parametrize("cancels", False, True)
def test_an_executor_that_is_shut_down_ends_the_run_with_the_finished_rows(cancels):
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        shut_down = lambda *_: executor.shutdown(False, cancel_futures=cancels)  # noqa: E731
        with pytest.raises(RowsError, match="runs no more tasks .cannot schedule.*keep") as caught:
            rows_of(x=np.repeat(X, 5, axis=0), jobs=executor, progress=shut_down)
    done, whole = caught.value.rows.done, rows_of(x=np.repeat(X, 5, axis=0))
    assert done.any() and not done.all()
    assert bits(caught.value.rows[done]) == bits(whole[done])


@parametrize("sign", "warning", "running", "workers of dask", "their calls")
def test_only_workers_without_a_sign_of_life_are_told(monkeypatch, sign):
    """The executor runs its tasks when it is asked for this sign."""
    kept, said = [], []

    def go(asked):
        while asked == sign and kept:
            future, task = kept.pop()
            future.set_result(task())
        return asked == sign

    def submit(*task):
        future = concurrent.futures.Future()
        future.running = lambda: go("running")
        kept.append((future, functools.partial(*task)))
        return future

    object_of = types.SimpleNamespace
    of_dask = dict(submit=lambda f, job, pure: job, call_stack=lambda: go("their calls"))
    of_dask["nthreads"] = lambda: go("workers of dask") or sign == "their calls"
    executor = object_of(submit=submit, _client=object_of(**of_dask))
    monkeypatch.setitem(sys.modules, "distributed", mock.Mock(Client=object_of))
    monkeypatch.setattr(workers, "QUIET_SECONDS", 0)
    monkeypatch.setattr(workers, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr("certreg.workers.warn", lambda text: said.append(text) or go("warning"))
    assert bits(rows_of(jobs=executor)) == bits(rows_of())
    assert bool(said) == (sign == "warning")
    assert all("no worker of the executor has begun or finished a task" in text for text in said)


# ---- processes of loky
PROGRAM = """
import os, sys, time
import numpy as np
import certreg

def model(x):
    if sys.argv[1] == "hangs" and x[:, 0].mean() > 7:
        print(os.getpid(), flush=True)
        while True: pass
    return x[:, 0]

X = np.arange(24.0).reshape(12, 2) / 2
rows = certreg.certify_rows(model, X, 0.25, 0.5, seed=7, samples=50, batch=50, jobs=2,
    resume="r.sqlite")
print(rows.done.all(), "loky" in str(sys.modules))
"""


def test_a_program_may_start_processes_at_its_top(folder):
    """Also for a model of its own: no process imports the program."""
    kit.write("program.py", PROGRAM)
    more = dict(env=kit.environment(), capture_output=True, text=True)
    ran = subprocess.run([sys.executable, "program.py", "ends"], **more)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True True\n", "")


def is_there(process):
    """Whether a process runs, also as the child of another one."""
    with contextlib.suppress(OSError):
        return kit.pathlib.Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    return False


@parametrize("number", signal.SIGINT, signal.SIGKILL)
def test_a_model_that_hangs_ends_with_the_program(folder, number):
    """Within 5 s, with the rows that are done."""
    kit.write("program.py", PROGRAM)
    more = dict(env=kit.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    command = [sys.executable, "program.py", "hangs"]
    with subprocess.Popen(command, start_new_session=True, **more) as process:
        hanging = [int(process.stdout.readline())]
        # A terminal sends Ctrl-C to all processes.
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        process.wait(5)
        hanging += [int(line) for line in process.stdout.read().split()]
        end = time.monotonic() + 5
        while any(map(is_there, hanging)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(map(is_there, hanging))
    done = rows_of(lambda x: x[:, 0], np.arange(24.0).reshape(12, 2) / 2, resume="r.sqlite")
    assert done.done.all()


def test_without_loky_it_is_named_before_the_model_is_called():
    with mock.patch("certreg.workers.installed", lambda *names: None):
        for more in dict(jobs=2), dict(on_crash="skip"):
            with pytest.raises(ImportError, match="need loky: pip install loky"):
                rows_of(never, **more)
        assert rows_of(x=X[:2]).done.all()  # this process needs none


def threads(x):
    return np.full(len(x), float(os.environ["OMP_NUM_THREADS"]))


@parametrize("given", None, "3")  # by the user
def test_processes_share_the_processors(monkeypatch, given):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    seen = rows_of(threads, x=X[:4], jobs=2)["prediction"]
    np.testing.assert_allclose(seen, float(given or max(1, workers.cores() // 2)))
