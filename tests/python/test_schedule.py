"""What executors may be, what they are sent, and what happens if their processes end."""

import concurrent.futures
import contextlib
import functools
import itertools
import os
import signal
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np

from support import model, run
from certreg import Outcome, RowsError, Status, _worker, certify_rows

X = np.random.default_rng(5).normal(size=(40, 3)).astype(np.float32)
MB = np.zeros(2**17)


def rows_of(f=model, x=X, questions=0.5, **more):
    more = dict(dict(samples=50, seed=7, progress=False), **more)
    return certify_rows(f, x, 0.25, questions, **more)


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


class Awaited(concurrent.futures.Future):
    """Tells its executor when it is read."""

    def __init__(self, executor):
        super().__init__()
        self.executor = executor

    def result(self, timeout=None):
        self.executor.waiting -= 1
        return super().result(timeout)


class Large:
    """A model of 1 MB."""

    def __init__(self):
        self.weights = MB.copy()

    def __call__(self, x):
        return model(x)


class Sent(unittest.TestCase):
    """What travels to the processes of an executor, and how much at a time."""

    def test_a_large_model_travels_once_to_each_process(self):
        executor, wanted = Inline(), rows_of()
        rows = rows_of(Large(), executor=executor)
        sizes = [len(part) for task in executor.tasks for part in task if isinstance(part, bytes)]
        self.assertEqual(sum(size > MB.nbytes for size in sizes), 1)
        self.assertEqual(rows.certificates.tobytes(), wanted.certificates.tobytes())

    def test_a_process_that_has_lost_the_model_gets_it_again(self):
        executor = Inline()

        @contextlib.contextmanager
        def forgets():
            if len(executor.tasks) == 60:
                _worker._jobs.clear()
                _worker._here.job = None
            yield

        executor.around = forgets
        rows = rows_of(Large(), executor=executor)
        self.assertEqual(rows.certificates.tobytes(), rows_of().certificates.tobytes())
        self.assertGreater(len(executor.tasks), 60)

    def test_processes_that_take_turns_go_on(self):
        """Each task goes to the next process, so the first one's model goes to the second one."""
        processes = itertools.cycle([("first", {}), ("second", {})])

        @contextlib.contextmanager
        def next_process():
            name, jobs = next(processes)
            _worker._here.job = None
            with mock.patch("socket.gethostname", lambda: name):
                with mock.patch.object(_worker, "_jobs", jobs):
                    yield

        with tempfile.TemporaryDirectory() as folder:  # with a file there are single tasks, too
            path = os.path.join(folder, "rows.sqlite")
            rows = rows_of(x=X[:3], executor=Inline(next_process), resume=path)
        self.assertEqual(rows.certificates.tobytes(), rows_of(x=X[:3]).certificates.tobytes())

    def test_more_tasks_are_sent_to_more_workers(self):
        numbers = itertools.count()

        def elsewhere():
            return mock.patch("socket.gethostname", lambda: f"node{next(numbers) % 100}")

        few, many = Inline(), Inline(elsewhere)
        for executor in (few, many):
            rows = rows_of(x=np.repeat(X, 20, axis=0), samples=20, executor=executor)
            self.assertTrue(rows.done.all())
        self.assertLess(few.most, 5 * 16)
        self.assertGreater(many.most, 2 * 100)

    def test_workers_of_another_version_are_refused_by_name(self):
        def other():
            return mock.patch.object(_worker, "__version__", "0.0.9", create=True)

        @contextlib.contextmanager
        def silent():
            with other(), mock.patch.object(_worker, "check_versions", print, create=True):
                yield

        for around in (other, silent):  # refused by the worker, and by the sender
            with self.assertRaisesRegex(
                RowsError, r"a worker has certreg 0\.0\.9 with library \S+, but its work was sent"
            ):
                with contextlib.redirect_stdout(None):
                    rows_of(executor=Inline(around))


class Refused(unittest.TestCase):
    """What is refused before the model is called."""

    @staticmethod
    def never(x):
        raise AssertionError("the model was called")

    def test_an_executor_whose_tasks_cannot_be_cancelled(self):
        class Thread:
            def __init__(self, *task):
                self.result = functools.partial(*task)

        executor = types.SimpleNamespace(submit=Thread)
        with self.assertRaisesRegex(TypeError, "executor.submit returned Thread; .* `cancel`"):
            rows_of(self.never, executor=executor)

    def test_processes_beside_an_executor(self):
        for jobs in (0, 2):
            with self.assertRaisesRegex(ValueError, f"jobs is {jobs}, and an executor is given"):
                rows_of(self.never, executor=Inline(), jobs=jobs)

    def test_another_word_for_on_crash(self):
        with self.assertRaisesRegex(ValueError, "on_crash is 'go'; it must be 'stop' or 'skip'"):
            rows_of(self.never, on_crash="go")


def near(x, row):
    return np.allclose(x.mean(axis=0), X[row], atol=0.2)


def ends_at_row_7(x):
    if near(x, 7):
        os.kill(os.getpid(), signal.SIGKILL)
    return model(x)


def ends_at_once():
    os.kill(os.getpid(), signal.SIGKILL)


class KilledWorker(Exception):
    """As in dask, which calls it so after some processes have ended in a task."""


class Dask(Inline):
    """An executor that replaces processes. Those that compute row 7 end, and task number `also` is
    lost by this error."""

    def __init__(self, also=-1, error=KilledWorker):
        super().__init__()
        self.also, self.error = also, error

    def ends(self, method, *task):
        if method == "probe":
            return (task[0][0] == X[7]).all()
        rows, _, known = task if len(task) == 3 else (*task, [])
        return 7 in rows and not known

    def submit(self, function, *task):
        return super().submit(self.run, function, *task)

    def run(self, function, *task):
        if len(self.tasks) == self.also:
            raise self.error
        reply = function(*task)
        if reply.value is not None and self.ends(*task[3:]):
            raise KilledWorker
        return reply


class Deaths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        name = "distributed.scheduler"  # which nothing imports here
        sys.modules[name] = sys.modules[__name__]
        cls.addClassCleanup(sys.modules.pop, name)

    def skipped(self, rows, whole, failed=(7,)):
        """Whether these rows failed and the others are as in `whole`."""
        others = np.setdiff1d(np.arange(len(rows)), failed)
        self.assertTrue(rows.done.all())
        kept, wanted = rows.certificates[others], whole.certificates[others]
        self.assertEqual(kept.tobytes(), wanted.tobytes())
        self.assertEqual({row for row, _ in rows.errors}, set(failed))
        for row in failed:
            c = rows.certificate(row)
            self.assertEqual((c.status, c.outcome), (Status.MODEL_FAILED, Outcome.ABSTAINED))
            self.assertFalse(c.radius > 0)
            self.assertIn("two processes ended while they computed it", rows.errors[row, 0])

    def test_the_row_is_named(self):
        for how in (dict(jobs=2), dict(executor=Dask())):
            with self.assertRaisesRegex(
                RowsError, "row 7: two processes ended .*on_crash='skip' .* of 40 rows are done"
            ) as caught:
                rows_of(ends_at_row_7 if "jobs" in how else model, **how)
            error = caught.exception
            self.assertEqual((error.row, error.__cause__.status), (7, Status.MODEL_FAILED))
            self.assertTrue(error.rows.done[:7].all())
            self.assertFalse(error.rows.done[7])

    def test_the_row_is_skipped(self):
        whole = rows_of()
        for how in (dict(jobs=1), dict(executor=Dask())):
            rows = rows_of(
                ends_at_row_7 if "jobs" in how else model, on_crash="skip", keep_records=True, **how
            )
            self.skipped(rows, whole)
            self.assertEqual([r.status for r in rows.records if r.row == 7], [Status.MODEL_FAILED])

    def test_rows_that_were_near_a_death_are_computed(self):
        for error in (KilledWorker, LookupError):  # dask also loses results with their process
            executor = Dask(70, error)
            rows = rows_of(executor=executor, on_crash="skip")
            self.skipped(rows, rows_of())
            self.assertGreater(len(executor.tasks), 70)

    def test_a_resume_file_keeps_the_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            more = dict(x=X[:10], resume=os.path.join(folder, "rows.sqlite"))
            first = rows_of(executor=Dask(), on_crash="skip", keep_records=True, **more)
            self.skipped(first, rows_of(x=X[:10]))
            again = rows_of(keep_records=True, **more)  # this process does not end
            self.assertEqual(again.certificates.tobytes(), first.certificates.tobytes())
            self.assertEqual(again.errors, first.errors)
            other = rows_of(None, questions=0.3, **more)
            self.assertEqual({row for row, _ in other.errors}, {7})

    def test_a_row_of_the_probe_is_skipped_too(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("1.sqlite", "1.sqlite", "2.sqlite"):
                more = dict(executor=Dask(), x=X[:8], resume=os.path.join(folder, name))
                if name == "1.sqlite":
                    self.skipped(rows_of(on_crash="skip", **more), rows_of(x=X[:8]))
                else:
                    with self.assertRaisesRegex(RowsError, "row 7: two processes ended"):
                        rows_of(**more)

    def test_a_broken_executor_is_told_with_the_rows_it_computed(self):
        with concurrent.futures.ProcessPoolExecutor(1) as executor:
            with self.assertRaisesRegex(
                RowsError,
                "has ended while it computed one of the rows (.*, )?7.* of 10 rows.* jobs= instead",
            ) as caught:
                rows_of(ends_at_row_7, x=X[:10], executor=executor, on_crash="skip")
        self.assertFalse(caught.exception.rows.done[7])

    def test_processes_that_end_before_any_row_blame_none(self):
        with self.assertRaisesRegex(RowsError, "a process that ran the model has ended.*__main__"):
            rows_of(ends_at_once, jobs=2, on_crash="skip")


if __name__ == "__main__":
    run()
