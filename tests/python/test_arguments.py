"""Arguments, models and results used in ways that are natural but wrong: each is answered by a
sentence that names the remedy."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from support import estimator, model, package, root, run, Z
from certreg import Question, ResumeError, RowsError, certify_rows, check_model, library_path

X = np.random.default_rng(5).normal(size=(6, 3)).astype(np.float32)


def rows_of(f=model, x=X, questions=0.5, **more):
    return certify_rows(f, x, 0.25, questions, samples=100, seed=42, progress=False, **more)


class Sparse:
    """Like a matrix of scipy.sparse."""

    def toarray(self):
        return X


class Inputs(unittest.TestCase):
    def refused(self, error, sentence, x):
        for call in (rows_of, lambda x: check_model(model, x)):
            with self.assertRaisesRegex(error, sentence):
                call(x=x)

    def test_arrays_that_are_not_what_they_seem(self):
        self.refused(TypeError, r"X is sparse: give X.toarray\(\)", Sparse())
        self.refused(TypeError, "X holds complex numbers", X + 1j)
        self.refused(TypeError, "rows of the same length", [[1, 2], [3]])
        self.refused(ValueError, "must have at least one row", X[:0])
        self.refused(ValueError, "masked values: fill them", np.ma.masked_greater(X, 0))

    def test_an_array_whose_mask_hides_nothing(self):
        self.assertEqual(rows_of(x=np.ma.masked_greater(X, 99))["radius"].shape, (6, 1, 1))

    def test_columns_without_noise(self):
        pandas = package("pandas")
        frame = pandas.DataFrame({"n": [1, 2, 3]})
        with self.assertRaisesRegex(ValueError, "no column gets noise: .* scale"):
            rows_of(lambda x: x["n"], frame)
        self.assertEqual(len(rows_of(lambda x: x["n"], frame, scale={"n": 1})), 3)

    def test_a_scale_by_the_names_of_columns_is_in_any_order(self):
        pandas = package("pandas")
        frame = pandas.DataFrame(X, columns=list("abc"))
        scale = pandas.Series({"c": 3.0, "a": 1.0})
        self.assertEqual(rows_of(lambda x: x["a"], frame, scale=scale).sampling.scale[2], 3)
        with self.assertRaisesRegex(ValueError, "'d', which is no column"):
            rows_of(lambda x: x["a"], frame, scale=pandas.Series({"d": 1.0}))

    def test_numbers_in_calls_of_an_estimator(self):
        with estimator() as e:
            for call, name in (
                (lambda: e.begin(Z, [0.25, 0.5]), "sigma"),
                (lambda: e.output_bounds(100, "wide", 0.5), "radius"),
                (lambda: e.set_deadline("soon"), "seconds"),
                (lambda: e.certify(Z, 0.25, 100, Question(0.5, prediction="one")), "prediction"),
            ):
                with self.assertRaisesRegex(TypeError, f"^{name} must be a number, not"):
                    call()
            with self.assertRaisesRegex(TypeError, "^z must hold numbers, not [^\n]*$"):
                e.begin(np.array([1.5, "house", None] * 9, object).reshape(3, 9), 0.25)

    def test_executors(self):
        class Client:
            submit = get_executor = print

        for executor, sentence in ((3, "executor is int; it must be"), (Client(), "get_executor")):
            with self.assertRaisesRegex(TypeError, sentence):
                rows_of(executor=executor)

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, sentence in (
                (folder, "is a folder: give the path of a file"),
                (os.path.join(folder, "none", "r"), "there is no folder"),
            ):
                with self.assertRaisesRegex(ResumeError, sentence):
                    rows_of(resume=path)
        with self.assertRaisesRegex(TypeError, "resume must be the path of a file, not True"):
            rows_of(resume=True)


class Outputs(unittest.TestCase):
    def test_that_are_no_real_numbers(self):
        for f in (lambda x: ["a"] * len(x), lambda x: model(x) + 1j):
            with self.assertRaisesRegex(RowsError, "returned .*; it must return real numbers"):
                rows_of(f)

    def test_of_another_number(self):
        with self.assertRaisesRegex(RowsError, "as the arguments outputs and kind say"):
            rows_of(lambda x: x[:, :2])
        self.assertEqual(len(rows_of(lambda x: x[:, :2], outputs=2)), 6)


class Results(unittest.TestCase):
    def test_certificates_by_indices(self):
        rows = rows_of(questions=[0.5, 0.1])
        self.assertEqual(rows.certificate(-1).noise_id, 5)
        for wrong, sentence in (
            ((6,), "row is 6; it must be an index from 0 to 5"),
            ((0, 2), "question is 2; .* 0 to 1"),
            ((0, 0, 0.25), "sigma is 0.25; .* 0 to 0"),
        ):
            with self.assertRaisesRegex(IndexError, sentence):
                rows.certificate(*wrong)

    def test_fields_and_rows(self):
        rows = rows_of()
        for field in (3, "radii"):
            with self.assertRaisesRegex(KeyError, r"no field .*certificate\(row\)"):
                rows[field]
        with self.assertRaisesRegex(TypeError, "not iterable"):
            iter(rows)

    def test_a_prompt_shows_the_table(self):
        rows = rows_of()
        self.assertEqual(repr(rows), str(rows))

    def test_answers_that_are_not_one_for_each_row(self):
        package("matplotlib")
        for correct in ("radii.png", [True] * 5):
            with self.assertRaisesRegex(ValueError, r"correct has shape .*\(6,\).* path="):
                rows_of().plot(correct)


PROGRAM = """
import numpy as np
import certreg
from models import f
print(certreg.certify_rows(f, np.ones((4, 3)), 0.25, 0.5, samples=50, jobs=2))
"""


class Programs(unittest.TestCase):
    def test_a_program_that_starts_processes_at_its_top(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "models.py"), "w", encoding="utf-8") as file:
                file.write("def f(x): return x[:, 0]\n")
            with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            here = dict(CERTREG_LIB=os.path.abspath(library_path), PYTHONPATH=str(root / "python"))
            ran = subprocess.run(
                [sys.executable, "program.py"],
                cwd=folder,
                env={**os.environ, **here},
                capture_output=True,
                text=True,
            )
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        said = [line for line in ran.stderr.splitlines() if re.match(r"\S*RowsError: ", line)]
        self.assertEqual(said, ran.stderr.splitlines()[-1:])
        self.assertIn("if __name__ == '__main__'", said[0])
        self.assertIn("0 of 4 rows are done", said[0])


if __name__ == "__main__":
    run()
