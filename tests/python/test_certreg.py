"""The Python wrapper: its structs are those of the header, its answers those of the library, and nothing that goes wrong on one
side is lost on the other. Ends with Check's line of counts."""
import copy
import ctypes
import gc
import multiprocessing
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import unittest
import weakref

import numpy as np

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "examples" / "python"))
import certreg  # noqa: E402
from certreg import (Bounds, CertregError, Estimator, Constraints, Method, Kind, Outcome, Center, Question, Statistic, Side, Solver,  # noqa: E402
                     Status, Stop)

Z, ORIGIN = [1, 0.5, -0.25], [0, 0, 0]
SAMPLES = 2000


def model(x):
    return x[:, 0] + x[:, 1] * x[:, 2]


def estimator(f=model, inputs=3, **more):
    return Estimator(f, inputs, more.pop("max_samples", SAMPLES), **more)


def same(a, b):
    """Certificates that differ in nothing but seconds."""
    strip = {"model_seconds": 0, "library_seconds": 0}
    return repr(certreg.dataclasses.replace(a, **strip)) == repr(certreg.dataclasses.replace(b, **strip))


class Header(unittest.TestCase):
    text = re.sub(r"/\*.*?\*/", "", "".join((root / "include/certreg" / name).read_text() for name in ("certreg.h", "solver.h")), flags=re.S)

    def test_structs_have_the_fields_of_the_header_in_its_order(self):
        for name in "error batch model plan question bounds mean_change radius certificate forecast".split():
            body = re.search(r"typedef struct certreg_%s \{(.*?)\} certreg_%s;" % (name, name), self.text, re.S).group(1)
            fields = [re.sub(r"\[.*", "", word.split("*")[-1].split()[-1]) for line in body.split(";")
                      for word in re.sub(r"\(\*(\w+)\)\(.*\)", r"\1", line, flags=re.S).split(",") if word.strip()]
            ours = [field[0] for field in getattr(certreg, "_" + name.title().replace("_", ""))._fields_]
            self.assertEqual(ours, fields, name)

    def test_numbers_have_the_names_of_the_header(self):
        numbers = dict(re.findall(r"CERTREG_(\w+) = (-?\d+)", self.text))
        self.assertEqual(certreg.HEADER, int(re.search(r"CERTREG_VERSION_NUMBER (\d+)", self.text).group(1)))
        self.assertEqual(certreg.COUNT_FAILURES, int(numbers["PLAN_COUNT_FAILURES"]))
        prefixes = {"Constraints": "CONSTRAINTS_", "Constraint": "CONSTRAINT_", "Statistic": "STATISTIC_",
                    "Method": "METHOD_", "Center": "CENTER_", "Side": "SIDE_", "Stop": "STOP_",
                    "Status": "E_", "Kind": "OUTPUT_", "Outcome": "OUTCOME_"}
        numbers["E_OK"] = numbers["OK"]
        for name, prefix in prefixes.items():
            members = list(getattr(certreg, name))
            for member in members:
                self.assertEqual(int(numbers[prefix + member.name]), member.value, member)
            self.assertEqual(len(members), sum(word.startswith(prefix) for word in numbers), name)

    def test_version_is_that_of_the_library(self):
        self.assertEqual(certreg.VERSION, certreg.HEADER)


class Typical(unittest.TestCase):
    def test_one_question_has_one_certificate(self):
        with estimator() as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(tolerance=0.5))
        self.assertTrue(c.certified)
        self.assertEqual((c.outcome, c.stop, c.status), (Outcome.CERTIFIED, Stop.ALL, Status.OK))
        self.assertAlmostEqual(c.prediction, 0.875, delta=0.05)
        self.assertEqual((c.samples, c.tolerance, c.alpha, c.sigma), (SAMPLES, 0.5, 0.05, 0.25))
        np.testing.assert_array_equal(c.reach([1, 0, 2]), [c.radius, 0, 2 * c.radius])

    def test_several_questions_are_answered_from_one_record(self):
        rows = []
        with estimator(lambda x: (rows.append(len(x)), model(x))[1]) as e:
            asked = [Question(0.5), Question(0.5, statistic=Statistic.MEAN, method=Method.ASYMPTOTIC),
                     Question(0.5, statistic=Statistic.HUBER, huber_width=0.25, method=Method.ASYMPTOTIC),
                     Question(0.5, statistic=Statistic.MEAN, method=Method.PAPER, center=Center.TRUE_MEAN, constraints=Constraints.CG), Question(0.1)]
            several = e.certify(Z, 0.25, SAMPLES, *asked)
            self.assertEqual(len(several), 5)
            self.assertEqual([c.statistic for c in several], [Statistic.MEDIAN, Statistic.MEAN, Statistic.HUBER, Statistic.MEAN, Statistic.MEDIAN])
            self.assertLess(several[4].radius, several[0].radius)
            self.assertTrue(same(several[0], e.answer(0.5)))  # a number is a tolerance
            self.assertEqual(sum(rows), SAMPLES)

    def test_streams_are_independent_and_repeatable(self):
        with estimator(seed=7, threads=2) as e:
            a, b, again = (e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=s) for s in (1, 2, 1))
            self.assertTrue(same(a, again))
            self.assertNotEqual(a.estimate, b.estimate)
            self.assertEqual((a.seed, b.noise_id), (7, 2))

    def test_angle_pairs_pass_the_ends_of_the_turn(self):
        def north(x):
            return np.stack([4 + x[:, 0], x[:, 1]], axis=1)

        with estimator(north, 2, kind=Kind.ANGLE_PAIR, lo=0, hi=360, scale=0.5) as e:
            c = e.certify([0, -0.01], 0.5, SAMPLES, Question(20), Question(20, statistic=Statistic.CIRCULAR_MEAN, method=Method.ASYMPTOTIC))
        for answer in c:
            self.assertTrue(answer.certified)
            self.assertLess(abs((answer.prediction + 180) % 360 - 180), 2)

    def test_several_outputs(self):
        with estimator(lambda x: np.stack([x[:, 0], 10 * x[:, 1]], axis=1), 2, outputs=2) as e:
            a, b = e.certify([1, 2], 0.25, SAMPLES, Question(0.5), Question(5, output=1))
        self.assertAlmostEqual(a.prediction, 1, delta=0.1)
        self.assertAlmostEqual(b.prediction, 20, delta=1)

    def test_a_masked_feature_never_moves(self):
        seen = []
        with estimator(lambda x: (seen.append(np.ptp(x, axis=0)), x[:, 0])[1], 2, scale=[1, 0]) as e:
            e.certify([3, 5], 0.25, SAMPLES, 1)
        self.assertTrue(all(move[0] > 0 and move[1] == 0 for move in seen if len(seen) > 1))

    def test_given_predictions(self):
        with estimator(pilot=certreg.NO_PILOT) as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=0.9))
            self.assertEqual((c.prediction, c.pilot), (0.9, 0))
            with self.assertRaises(CertregError):
                e.answer(0.5)

    def test_draw_and_record_replace_the_callback(self):
        with estimator(seed=3) as e:
            called = e.certify(Z, 0.25, SAMPLES, 0.5, noise_id=9)
        with estimator(None, seed=3) as e:
            e.begin(Z, 0.25, 9)
            for first in (1024, 0):
                x = e.draw(first, min(1024, SAMPLES - first))
                self.assertEqual((x.dtype, x.shape[1]), (np.float32, 3))
                e.record(first, model(x))
            self.assertTrue(same(called, e.answer(0.5)))

    def test_records_are_exported_merged_and_resumed(self):
        with estimator() as e, estimator(lambda x: self.fail("asked again")) as other:
            whole = e.certify(Z, 0.25, SAMPLES, 0.5)
            data = e.export()
            self.assertIsInstance(data, bytes)
            other.begin(Z, 0.25)
            other.merge(data)
            other.sample(0, SAMPLES)
            self.assertTrue(same(whole, other.answer(0.5)))
            self.assertEqual(other.export(), data)
        with estimator() as e:
            parts = []
            for first in (0, 512, 1024):
                e.begin(Z, 0.25)
                e.sample(first, min(512, SAMPLES - first) if first < 1024 else SAMPLES - first)
                parts.append(e.export())
            e.begin(Z, 0.25)
            for part in reversed(parts):
                e.merge(part)
            self.assertTrue(same(whole, e.answer(0.5)))
            self.assertEqual(e.export(), data)  # which remembers that it was asked

    def test_a_certificate_names_the_noise_of_its_level(self):
        with estimator() as e:
            levels = e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, Question(0.5), noise_id=3)
            for k, c in enumerate(levels):
                self.assertEqual((c.noise_id, c.level), (3, k + 1))
                e.begin(Z, c.sigma, c.noise_id, c.level)
                e.sample(0, SAMPLES)
                self.assertEqual(e.answer(Question(0.5, bonferroni=2)).radius, c.radius)

    def test_bounds_of_a_record_give_its_radius(self):
        q = Question(0.5, statistic=Statistic.MEAN, method=Method.ASYMPTOTIC)
        with estimator() as e, Solver() as s:
            c = e.certify(Z, 0.25, SAMPLES, q)
            sides = [e.bounds(q, side) for side in (Side.UPPER, Side.LOWER)]
            self.assertEqual(s.above(sides).radius, c.radius)
            self.assertIsNotNone(sides[0].mean)
            self.assertGreater(sides[0].gradient[1], sides[0].gradient[0])

    def test_solver_by_hand(self):
        u = Bounds(0.5, mean=(0.95, 1.05), variance=2, gradient=(0.7, 0.85), range=(-3.2, 3.2))
        with Solver() as s:
            r = s.within(u, 0.5)
            self.assertEqual((r.outcome, r.limiting_side, r.limiting), (Outcome.CERTIFIED, Side.LOWER, 0))
            self.assertLessEqual(s.shift(u, r.radius).drop, 0.5)
            self.assertGreater(s.shift(u, r.radius * 1.001).drop, 0.5)
            self.assertLess(s.within(u, 0.5, Constraints.C).radius, r.radius)
            self.assertEqual(s.above(u, 0.45).radius, s.above([u], [0.45]).radius)
            self.assertEqual(s.shift(u, 0.1, Constraints.C).constraints, certreg.Constraint.VARIANCE)

    def test_the_example_prints_what_readme_shows(self):
        source = root / "examples/python/example.py"
        said = subprocess.run([sys.executable, source], capture_output=True, text=True, check=True).stdout
        self.assertIn("garden alone: about 0.0", said)
        readme = (root / "README.md").read_text()
        self.assertTrue("```python\n" + source.read_text() + "```" in readme, "README.md shows another program")
        shown = [line[4:] for line in readme.partition("python3 examples/python/example.py")[2].splitlines()[1:6]]
        number = r"\d+(?:\.\d+)?"  # last digits may differ between versions of NumPy
        self.assertEqual([re.sub(number, "#", line) for line in shown], [re.sub(number, "#", line) for line in said.splitlines()])
        np.testing.assert_allclose([float(n) for n in re.findall(number, " ".join(shown))], [float(n) for n in re.findall(number, said)],
                                   rtol=0.05)


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
        self.assertEqual(self.cuda.cudaMemcpyAsync(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(4 * int(np.prod(array.shape))), kind, stream), 0)
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

        with certreg.Estimator(model, 3, 1000, device=0, stream=stream.value, module=self.module) as e:
            there = e.certify(ORIGIN, 0.25, 1000, 0.5)
        with certreg.Estimator(lambda x: x[:, 0], 3, 1000) as e:
            here = e.certify(ORIGIN, 0.25, 1000, 0.5)
        self.assertEqual((there.radius, there.prediction), (here.radius, here.prediction))
        self.assertEqual(set(streams), {(stream.value, 0, "<f4")})

    def test_noise_is_drawn_into_arrays_of_the_device(self):
        memory = ctypes.c_void_p()
        self.assertEqual(self.cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4 * 5 * 3)), 0)

        class Out:
            __cuda_array_interface__ = dict(version=3, shape=(5, 3), typestr="<f4", data=(memory.value, False), strides=None)
            shape, stream = (5, 3), None

        with certreg.Estimator(None, 3, 1000) as e:
            e.begin(ORIGIN, 0.25)
            here = e.draw(2, 5)
        stream = ctypes.c_void_p()
        self.assertEqual(self.cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1), 0)
        Out.stream = stream.value
        with certreg.Estimator(None, 3, 1000, device=0, stream=stream.value, module=self.module) as e:
            e.begin(ORIGIN, 0.25)
            np.testing.assert_array_equal(self.fetch(e.draw(2, 5, out=Out())), here)
            with self.assertRaisesRegex(ValueError, "shape"):
                e.draw(2, 4, out=Out())
            with self.assertRaisesRegex(certreg.CertregError, "no memory of device"):
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


class Beyond(unittest.TestCase):
    """What goes beyond one radius of one output from a fixed number of samples."""
    plain = dict(tolerance=0.5, alpha=0.1)

    def test_a_wanted_radius_stops_early_and_is_forecast(self):
        for method in (certreg.Method.FINITE, certreg.Method.ANYTIME):
            q = certreg.Question(**self.plain, wanted=0.2, method=method)
            with estimator(max_samples=4000, batch=8, pilot=16) as e:
                e.begin(ORIGIN, 0.25)
                least, expected = e.forecast(q)
                self.assertTrue(16 < least < 200 and expected == np.inf)
                c = e.answer(q, samples=4000)
                self.assertEqual(c.stop, certreg.Stop.TARGET)
                self.assertTrue(0.2 <= c.radius <= 0.5 and least <= c.samples < 500)

    def test_looks_are_the_callers(self):
        with estimator(max_samples=400, batch=1, pilot=16) as e:
            c = e.certify(ORIGIN, 0.25, 400, certreg.Question(**self.plain, wanted=0.05, looks=(100, 250, 400)))
            self.assertEqual((c.samples, c.stop), (100, certreg.Stop.TARGET))
            with self.assertRaisesRegex(certreg.CertregError, "ascend"):
                e.certify(ORIGIN, 0.25, 400, certreg.Question(**self.plain, wanted=0.05, looks=(250, 100)))

    def test_reach_and_what_is_served(self):
        with estimator(max_samples=4000) as e:
            plain = e.certify(ORIGIN, 0.25, 4000, certreg.Question(**self.plain))
            served = e.answer(certreg.Question(**self.plain, served_samples=101, served_beta=0.01))
            reach = e.answer(certreg.Question(0.0, alpha=0.1, center=certreg.Center.REACH, at_radius=0.2))
        self.assertTrue(0 < served.radius < plain.radius)
        self.assertTrue(-0.3 < reach.output_lo < -0.2 and 0.2 < reach.output_hi < 0.3, reach)

    def test_several_sigmas_share_alpha_and_one_is_chosen(self):
        with estimator(max_samples=1000) as e:
            rows = [e.certify_sigmas(ORIGIN, [0.1, 0.2, 0.4], 1000, certreg.Question(**self.plain), noise_id=10 * i) for i in range(4)]
        self.assertEqual([c.sigma for c in rows[0]], [0.1, 0.2, 0.4])
        self.assertAlmostEqual(rows[0][0].alpha, 0.1 / 3)
        level, means = certreg.choose_sigma(rows)
        self.assertEqual(level, int(np.argmax(means)))
        self.assertAlmostEqual(means[level], np.mean([row[level].radius for row in rows]))

    def test_integers_that_do_not_fit_are_refused(self):
        with estimator(max_samples=1000) as e:
            e.begin(ORIGIN, 0.25)
            for bad in (dict(bonferroni=2 ** 32), dict(output=2 ** 32), dict(served_samples=-1, served_beta=0.1), dict(wanted=0.1, looks=(-1,))):
                with self.assertRaisesRegex(ValueError, "does not fit"):
                    e.answer(certreg.Question(**self.plain, **bad), samples=1000)
            for call in (lambda: e.answer(0.5, samples=-1), lambda: e.begin(ORIGIN, 0.25, -1), lambda: e.sample(-1, 1)):
                with self.assertRaisesRegex(ValueError, "does not fit"):
                    call()
        with self.assertRaisesRegex(ValueError, "seed"):
            estimator(max_samples=1000, seed=-1)

    def test_nothing_asked_is_said_so(self):
        with estimator(max_samples=1000) as e:
            with self.assertRaisesRegex(ValueError, "nothing to ask"):
                e.certify(ORIGIN, 0.25, 1000)
            with self.assertRaisesRegex(ValueError, "nothing to ask"):
                e.certify_sigmas(ORIGIN, [], 1000, 0.5)
            looked = e.certify(ORIGIN, 0.25, 1000, certreg.Question(**self.plain, wanted=0.05, looks=np.array([400, 1000])))
            self.assertEqual(looked.samples, 400)
            with self.assertRaisesRegex(certreg.CertregError, "wanted"):
                e.forecast(0.4)

    def test_outputs_share_one_radius_and_a_norm(self):
        lo, hi = [-9.0] * 3, [9.0] * 3
        with estimator(lambda x: x, max_samples=2000, outputs=3, lo=lo, hi=hi) as e:
            e.begin(ORIGIN, 0.25)
            bonferroni, each = e.answer_outputs(*[certreg.Question(0.3 + 0.1 * k, output=k, alpha=0.1) for k in range(3)], samples=2000)
            self.assertEqual(bonferroni.radius, min(c.radius for c in each))
            self.assertEqual(bonferroni.alpha, 0.1)
            for method in (certreg.Method.ASYMPTOTIC, certreg.Method.FINITE):
                norm = e.answer(certreg.Question(0.5, output=certreg.ALL_OUTPUTS, statistic=certreg.Statistic.MEAN, method=method, center=certreg.Center.TRUE_MEAN))
                self.assertTrue(0 < norm.radius < 0.5, norm)
            with self.assertRaisesRegex(certreg.CertregError, "outputs"):
                e.answer_outputs(certreg.Question(0.3))

    def test_finite_intervals_of_every_score(self):
        with estimator(max_samples=4000, lo=-5.0, hi=5.0) as e:
            e.begin(ORIGIN, 0.25)
            for more in (dict(statistic=certreg.Statistic.HUBER, huber_width=0.25), dict(statistic=certreg.Statistic.MEAN), dict(constraints=13)):
                c = e.answer(certreg.Question(**self.plain, **more), samples=4000)
                self.assertTrue(0.1 < c.radius < 0.5, (more, c.radius))

    def test_radii_in_other_norms(self):
        with estimator(max_samples=1000, scale=[1.0, 2.0, 0.0]) as e:
            c = e.certify(ORIGIN, 0.25, 1000, 0.5)
        self.assertAlmostEqual(c.radius_l2, c.radius)
        self.assertAlmostEqual(c.radius_linf, c.radius / np.sqrt(1 + 0.25))


class Limits(unittest.TestCase):
    def test_questions_abstain_without_an_exception(self):
        with estimator() as e:
            c = e.certify(Z, 0.25, SAMPLES, Question(0.001))
        self.assertEqual((c.outcome, c.radius, c.certified), (Outcome.ABSTAINED, 0, False))

    def test_a_constant_is_certified(self):
        with estimator(lambda x: np.zeros(len(x))) as e:
            c = e.certify(Z, 0.25, SAMPLES, 100)
        self.assertTrue(c.certified)

    def test_batches_of_one_row(self):
        with estimator(batch=1, max_samples=100) as e:
            self.assertEqual(e.certify(Z, 0.25, 100, 0.5).batch, 1)

    def test_progress_counts_and_cancels(self):
        seen = []
        with estimator(progress=lambda done, total: seen.append((done, total))) as e:
            e.certify(Z, 0.25, SAMPLES, 0.5)
        self.assertEqual(seen[-1], (SAMPLES, SAMPLES))
        with estimator(progress=lambda done, total: done >= 1000) as e:
            c = e.certify(Z, 0.25, SAMPLES, 0.5)
            self.assertEqual(c.stop, Stop.CANCELLED)
            self.assertLess(c.samples, SAMPLES)

    def test_cancel_and_deadline_stop_early(self):
        with estimator() as e:
            e.cancel()
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.CANCELLED)
            e.begin(Z, 0.25)
            e.cancel()
            with self.assertRaises(CertregError) as caught:
                e.sample(0, SAMPLES)
            self.assertEqual(caught.exception.status, Status.CANCELLED)
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.ALL)
        with estimator(lambda x: (time.sleep(0.02), model(x))[1]) as e:
            e.begin(Z, 0.25)
            e.deadline(0.05)
            self.assertEqual(e.answer(0.5, samples=SAMPLES).stop, Stop.DEADLINE)

    def test_a_tick_without_samples_hands_its_prediction_on(self):
        with estimator() as e:
            e.deadline(1e-9)
            c = e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=0.75))
            self.assertEqual((c.stop, c.samples, c.estimate), (Stop.DEADLINE, 0, 0.75))
            e.deadline(0)
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, Question(0.5, prediction=c.estimate), noise_id=1).prediction, 0.75)

    def test_an_estimator_goes_with_its_last_reference(self):
        gone = weakref.ref(estimator())
        gc.disable()
        self.assertIsNone(gone())
        gc.enable()

    def test_estimators_work_in_threads(self):
        answers = []

        def work():
            with estimator() as e:
                answers.append(e.certify(Z, 0.25, SAMPLES, 0.5))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(answers), 3)
        self.assertTrue(all(same(a, answers[0]) for a in answers))

    def test_another_thread_cancels(self):
        with estimator(lambda x: (time.sleep(0.01), model(x))[1], max_samples=100000) as e:
            threading.Timer(0.05, e.cancel).start()
            self.assertEqual(e.certify(Z, 0.25, 100000, 0.5).stop, Stop.CANCELLED)


class BadInput(unittest.TestCase):
    def refused(self, status, call, *arguments, **more):
        with self.assertRaises(CertregError) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.status, status)
        self.assertTrue(str(caught.exception))
        return caught.exception

    def test_outputs_that_are_not_finite_are_named(self):
        def broken(x):
            y = model(x)
            y[17] = np.nan
            return y

        with estimator(broken) as e:
            error = self.refused(Status.NOT_FINITE, e.certify, Z, 0.25, SAMPLES, 0.5)
            self.assertEqual((error.sample, error.row, error.output), (17, 17, 0))
            self.assertNotEqual(error.value, error.value)
            self.assertEqual([c.radius for c in error.certificates], [0])
        with estimator(broken, flags=certreg.COUNT_FAILURES) as e:
            self.assertTrue(e.certify(Z, 0.25, SAMPLES, 0.5).certified)

    def test_outputs_out_of_range_are_named(self):
        with estimator(lo=-1, hi=1) as e:
            error = self.refused(Status.OUT_OF_RANGE, e.certify, Z, 0.25, SAMPLES, 0.5)
            self.assertGreater(error.value, 1)

    def test_wrong_dimensions_are_refused(self):
        with estimator() as e:
            for z in ([1, 2], np.zeros((2, 3)), 1.0, []):
                with self.assertRaises(ValueError, msg=str(z)):
                    e.begin(z, 0.25)
        for answer in (lambda x: x, lambda x: x[:-1, 0], lambda x: 1.0, lambda x: None):
            with estimator(answer) as e, self.assertRaises((ValueError, TypeError)):
                e.certify(Z, 0.25, SAMPLES, 0.5)
        for name, value in (("scale", [1, 2]), ("lo", [1, 2]), ("kind", [0, 0, 0])):
            with self.assertRaises(ValueError, msg=name):
                estimator(**{name: value})
        with estimator(None) as e:
            e.begin(Z, 0.25)
            with self.assertRaises(ValueError):
                e.record(0, np.zeros((4, 2)))

    def test_bad_settings_are_sentences(self):
        self.assertIn("max_samples", str(self.refused(Status.INVALID, estimator, max_samples=0)))
        self.assertIn("scale", str(self.refused(Status.INVALID, estimator, scale=-1)))
        with estimator() as e:
            self.assertIn("sigma", str(self.refused(Status.INVALID, e.begin, Z, -1)))
            self.refused(Status.WRONG_STATE, estimator().sample, 0, 10)
            error = self.refused(Status.INVALID, e.certify, Z, 0.25, SAMPLES, Question(-1), Question(0.5))
            self.assertIn("tolerance", str(error))
            self.assertTrue(error.certificates[0].status == Status.INVALID)
            self.refused(Status.TOO_MANY, e.sample, 0, SAMPLES + 1)
        with Solver() as s:
            self.assertIn("sigma", str(self.refused(Status.INVALID, s.within, Bounds(-1, variance=1), 0.5)))
            self.refused(Status.INVALID, s.shift, Bounds(1, variance=1), -1)

    def test_foreign_and_damaged_records_are_refused(self):
        with estimator() as e:
            e.begin(Z, 0.25)
            e.sample(0, 512)
            data = e.export()
            e.begin(Z, 0.5)
            self.assertIn("sigma", str(self.refused(Status.MISMATCH, e.merge, data)))
            e.begin(Z, 0.25)
            damaged = bytearray(data)
            damaged[-100] ^= 1
            for bad in (damaged, data[:-1], b"", b"nonsense"):
                self.refused(Status.CORRUPT, e.merge, bad)
            e.merge(data)

    def test_closed_handles_say_so(self):
        e, s = estimator(), Solver()
        for handle in (e, s):
            handle.close()
            handle.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            e.begin(Z, 0.25)
        with self.assertRaisesRegex(ValueError, "closed"):
            s.within(Bounds(1, variance=1), 1)


def fails_in_a_process(sigma):
    """In a process of a pool."""
    with estimator() as e:
        e.certify(Z, sigma, SAMPLES, 0.5, Question(-1))


class Misuse(unittest.TestCase):
    def busy(self, call, *arguments):
        with self.assertRaises(CertregError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.status, Status.BUSY)

    def ask_meanwhile(self, ask, on_a_thread):
        """Has `ask` called once while a certify runs, by its model or another thread; the
        certificate is the undisturbed one."""
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
            self.assertTrue(same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5)))
            self.assertTrue(same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5)))
        self.assertTrue(asked)
        if errors:
            raise errors[0]

    def test_closing_during_a_call_is_refused(self):
        for on_a_thread in (False, True):
            self.ask_meanwhile(lambda e: self.busy(e.close), on_a_thread)

    def test_calls_during_a_call_are_refused(self):
        for on_a_thread in (False, True):
            for ask in (lambda e: e.certify(Z, 0.25, SAMPLES, 0.5), lambda e: e.begin(Z, 0.25),
                        lambda e: e.answer(0.5), lambda e: e.export(), lambda e: e.draw(0, 1),
                        lambda e: e.deadline(1), lambda e: e.bounds(0.5)):
                self.ask_meanwhile(lambda e, ask=ask: self.busy(ask, e), on_a_thread)

    def test_cancel_may_come_at_any_time(self):
        with estimator(lambda x: (e.cancel(), model(x))[1]) as e:
            self.assertEqual(e.certify(Z, 0.25, SAMPLES, 0.5).stop, Stop.CANCELLED)
        with self.assertRaisesRegex(ValueError, "closed"):
            e.cancel()

    def test_memory_of_a_device_is_refused_by_the_cpu(self):
        class Out:
            __cuda_array_interface__ = dict(version=3, shape=(5, 3), typestr="<f4",
                                            data=(64, False), strides=None)

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
                    pool.apply_async(fails_in_a_process, (0.25,)).get(timeout=60)
            self.assertEqual(caught.exception.status, Status.INVALID)

    def test_handles_say_that_they_cannot_be_pickled(self):
        for make in (estimator, Solver):
            with make() as handle:
                for call in (pickle.dumps, copy.copy, copy.deepcopy):
                    with self.assertRaisesRegex(TypeError, "(Estimator|Solver) cannot be pickled"):
                        call(handle)

    def test_a_forked_child_is_told(self):
        with estimator() as e, Solver() as s:
            e.begin(Z, 0.25)
            told, tell = os.pipe()
            child = os.fork()
            if child == 0:
                said = []
                for call in (lambda: e.answer(0.5, samples=SAMPLES), lambda: e.export(),
                             lambda: s.shift(Bounds(1, variance=1), 1)):
                    try:
                        call()
                    except CertregError as error:
                        said.append(error.status == Status.WRONG_STATE and "fork" in str(error))
                e.close(), s.close()
                os.write(tell, b"y" if said == [True] * 3 else b"n")
                os._exit(0)
            os.waitpid(child, 0)
            self.assertEqual(os.read(told, 1), b"y")
            self.assertTrue(e.answer(0.5, samples=SAMPLES).certified)
            os.close(told), os.close(tell)


class Exceptions(unittest.TestCase):
    def interrupted(self, error, **more):
        """One estimator whose third call raises; afterwards it works as if nothing had been."""
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
            self.assertTrue(same(wanted, e.answer(0.5, samples=SAMPLES)), "what was recorded stays")
            self.assertTrue(same(wanted, e.certify(Z, 0.25, SAMPLES, 0.5)))
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
        def control_c():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)  # interrupted at once

        begun = time.monotonic()
        self.assertIsInstance(self.interrupted(control_c), KeyboardInterrupt)
        self.assertLess(time.monotonic() - begun, 4)
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
                    until = time.monotonic() + 5
                    while time.monotonic() < until:
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
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    for test, why in result.skipped:
        print(f"skip {test}: {why}")
    print(f"100%: Checks: {result.testsRun}, Failures: {len(result.failures)}, Errors: {len(result.errors)}", flush=True)
    sys.exit(not result.wasSuccessful())
