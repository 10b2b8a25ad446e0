"""The command line as a process: signals, child processes, ONNX models, plots."""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

from support import root, run
from support_cli import InFolder, certreg, read

X = np.random.default_rng(5).normal(size=(12, 3)).astype(np.float32)
ASKED = ("--sigma", ".25", "--tolerance", ".5", "--samples", "100", "--batch", "50", "-q")
ROTATION = root / "examples" / "models" / "rotation.onnx"


def missing(*packages):
    """The packages of these that are not installed."""
    return [name for name in packages if importlib.util.find_spec(name) is None]


def needs(*packages):
    absent = ", ".join(missing(*packages))
    return unittest.skipIf(absent, f"not installed: {absent}")


class Commands(InFolder):
    def setUp(self):
        super().setUp()
        np.save("x.npy", X)

    def start(self, *words, **environment):
        path = os.pathsep.join([str(root / "python"), *os.environ.get("PYTHONPATH", "").split(":")])
        env = dict(os.environ, PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1")
        env.update(environment)
        return subprocess.Popen(
            [sys.executable, "-m", "certreg", *map(str, words)],
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def here(self, *words, status=0):
        """Standard output and standard error of a command in this process."""
        got, out, err = certreg(*words)
        self.assertEqual(got, status, err)
        return out, err

    def certreg(self, *words, status=0, **environment):
        """As `here`, but in a new process."""
        process = self.start(*words, **environment)
        out, err = process.communicate()
        self.assertEqual((process.returncode, "Traceback" in err), (status, False), err)
        return out, err


class Interrupted(Commands):
    def send(self, process, number):
        """A signal, once the model waits for the file `hold` to go."""
        while process.poll() is None:
            if os.path.exists("called") and os.path.getsize("called") > 12:
                break
            time.sleep(0.01)
        process.send_signal(number)

    def interrupted(self, number, status, *more, nap=0):
        """Sends a signal to a run that waits after some rows, and that goes on slowly where a nap
        is given. They are kept, and the repeated command gives the same table as a run without the
        signal."""
        pathlib.Path("hold").touch()
        ask = ("certify", "models.py:slow", "x.npy", *ASKED, "--resume", "r.sqlite")
        process = self.start(*ask, "--seed", "5", "-o", "r.csv", *more, NAP=str(nap))
        self.send(process, number)
        if nap:
            os.remove("hold")
        out, err = process.communicate()
        if not nap:
            os.remove("hold")
        self.assertEqual((process.returncode, out), (status, ""), err)
        self.assertRegex(
            err,
            r"\Acertreg: interrupted; \d+ of 12 rows are done and in r.csv and r.sqlite; "
            r"repeat the command to do the rest\n\Z",
        )
        part = read("r.csv")
        self.assertTrue(0 < len(part) < 12)
        self.certreg(*ask, "-o", "rest.csv")
        self.certreg(
            *("certify", "models.py:product", "x.npy", *ASKED),
            *("--seed", "5", "-o", "whole.csv"),
        )
        whole = read("whole.csv")
        self.assertEqual(read("rest.csv"), whole)
        self.assertEqual(part, [row for row in whole if row in part])

    def test_ctrl_c(self):
        self.interrupted(signal.SIGINT, 130)

    def test_ctrl_c_with_processes(self):
        self.interrupted(signal.SIGINT, 130, "--jobs", 2, nap=0.3)

    def test_sigterm(self):
        self.interrupted(signal.SIGTERM, 143)

    def test_ctrl_c_that_is_ignored_stays_so(self):
        command = (
            f"trap '' INT; exec {sys.executable} -m certreg certify models.py:slow x.npy "
            f"{' '.join(ASKED)} --seed 5 -o r.csv"
        )
        pathlib.Path("hold").touch()
        env = dict(os.environ, PYTHONPATH=str(root / "python"))
        process = subprocess.Popen(
            ["sh", "-c", command], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.send(process, signal.SIGINT)
        os.remove("hold")
        self.assertEqual(process.communicate()[1], b"")
        self.assertEqual((process.returncode, len(read("r.csv"))), (0, 12))


class Processes(Commands):
    def test_jobs_do_not_change_results(self):
        ask = ("certify", "models.py:product", "x.npy", *ASKED, "--seed", "5")
        for jobs in (1, 2):
            self.certreg(*ask, "--jobs", jobs, "-o", f"{jobs}.csv")
        self.assertEqual(read("1.csv"), read("2.csv"))

    def test_processes_make_models_that_cannot_be_sent(self):
        ask = ("certify", "models.py:Unsent.unsent", "x.npy", *ASKED)
        self.certreg(*ask, "--jobs", 2, "-o", "r.csv")
        self.assertEqual(len(read("r.csv")), 12)

    def test_a_row_that_ends_its_process_is_named_or_skipped(self):
        with open("models.py", "a", encoding="utf-8") as file:
            file.write("def ends(x): return os._exit(9) if abs(x[:, 0].mean()) > 9 else x[:, 0]\n")
        x = X.copy()
        x[5, 0] = 10
        np.save("x.npy", x)
        ask = ("certify", "models.py:ends", "x.npy", *ASKED, "--rows", "1:8", "--jobs", 2)
        self.refused(
            3,
            "the model failed in row 5: two processes ended while they computed it; --on-crash "
            "skip goes on without it; . of 7 rows are done",
            *ask,
        )
        self.here(*ask, "--on-crash", "skip", "-o", "r.csv", status=1)
        failed = [row["row"] for row in read("r.csv") if row["status"] == "model_failed"]
        self.assertEqual((len(read("r.csv")), failed), (7, ["5"]))

    def test_published_certificates(self):
        trimmed = ("trimmed-mean", "--serve", "51,.2", "--trim", ".4", "--core", ".3")
        for words in (("median",), (*trimmed, "--range", "-99,99")):
            words = (*words, "--samples", "400", "--sigma", ".05", "--tolerance", "2")
            status, _, error = certreg(
                *("certify", "models.py:product", "x.npy", "--seed", "7", "-o", "r.csv"),
                *("--method", "baseline", "--statistic", *words),
            )
            self.assertEqual((status, error), (0, ""), words)
            self.assertTrue(all(float(line["radius"]) > 0 for line in read("r.csv")), words)

    def test_without_a_seed_the_noise_is_fresh(self):
        for name in ("1.csv", "2.csv"):
            self.here("certify", "models.py:product", "x.npy", *ASKED, "-o", name)
        self.assertNotEqual(read("1.csv")[0]["estimate"], read("2.csv")[0]["estimate"])

    def test_records_answer_other_questions_without_calls(self):
        ask = ("certify", "models.py:slow", "x.npy", *ASKED, "--resume", "r", "--keep-records")
        self.here(*ask)
        calls = os.path.getsize("called")
        self.here(*ask, "--tolerance", "1,2", "-o", "r.csv")
        self.assertLess(os.path.getsize("called") - calls, 5)  # to recognize the model
        self.assertEqual({row["tolerance"] for row in read("r.csv")}, {"1.0", "2.0"})

    def test_nobody_reads(self):
        process = self.start("info")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), "")
        process.stderr.close()
        self.assertEqual(process.wait(), 4)

    def test_check(self):
        out, _ = self.here("check", "models.py:product", "x.npy")
        self.assertIn("Nothing was found", out)
        out, _ = self.here("check", "models.py:depends_on_its_batch", "x.npy", status=1)
        self.assertRegex(out, "^batch: .*")
        np.save("large.npy", X + 6)
        out, _ = self.here("check", "models.py:sometimes_nan", "large.npy", status=1)
        self.assertRegex(out, r"not finite: .*\(--count-failures\)")
        self.here("check", "models.py:slow", "x.npy", "--calls", 40)
        self.assertEqual(os.path.getsize("called"), 6)
        self.assertIn("at least 19", self.here("check", "m", "x", "--calls", 18, status=2)[1])
        np.save("same.npy", np.ones((4, 3)))
        _, err = self.here("check", "models.py:product", "same.npy", status=2)
        self.assertIn("give --sigma", err)

    def test_info(self):
        out, _ = self.here("info")
        for name in ("library", "instructions", "CUDA device 0", "onnxruntime"):
            self.assertRegex(out, f"(?m)^{name}  +[^ ]")


class Packages(Commands):
    @needs("onnxruntime")
    def test_a_regressor_of_scikit_learn(self):
        """Made by tests/data/make_regressor.py."""
        shutil.copy(root / "tests" / "data" / "regressor.onnx", "model.onnx")
        self.certifies_a_regressor()

    @needs("onnxruntime", "skl2onnx")
    def test_a_regressor_made_now(self):
        maker = shutil.copy(root / "tests" / "data" / "make_regressor.py", ".")
        subprocess.run([sys.executable, maker], check=True)
        os.rename("regressor.onnx", "model.onnx")
        self.certifies_a_regressor()

    def certifies_a_regressor(self):
        ask = ("model.onnx", "x.npy", *ASKED)
        self.here("certify", *ask, "--tolerance", "2", "--seed", "7", "-o", "r.csv")
        # The median of a linear model moves by at most its slope times the radius.
        slope = np.linalg.norm([3, -1, 0.5])
        for row in read("r.csv"):
            self.assertTrue(0.5 * 2 / slope < float(row["radius"]) < 2.3 / slope)
        self.assertIn("Nothing", self.here("check", *ask[:2], "--sigma", ".25")[0])
        self.assertRegex(self.here("info", "model.onnx")[0], r"input +X \(rows, 3\)")
        np.save("wide.npy", np.ones((2, 4)))
        _, err = self.here("certify", "model.onnx", "wide.npy", *ASKED, status=2)
        self.assertRegex(err, r"wide.npy has .*\(4\); model.onnx takes .*\(3\)")
        with open("damaged.onnx", "wb") as file:
            file.write(b"no model")
        _, err = self.here("certify", "damaged.onnx", "x.npy", *ASKED, status=2)
        self.assertEqual(err.count("\n"), 1)

    @needs("onnxruntime")
    def test_the_network_of_the_demo(self):
        """Images of strokes from the centre, which are enough for this test."""
        digits = np.zeros((3, 1, 28, 28))
        digits[0, 0, 5:23, 13:15] = digits[1, 0, 13:15, 5:23] = digits[2, 0, 5:15, 12:16] = 1
        np.save("digits.npy", digits)
        self.certreg(
            *("certify", ROTATION, "digits.npy", *ASKED, "--tolerance", 30, "--pair"),
            *("-o", "r.json", "--seed", 1),
        )
        with open("r.json", encoding="utf-8") as file:
            said = json.load(file)
        self.assertTrue(said["summary"][0]["certified"] > 0)
        for row in said["rows"]:
            self.assertTrue(-180 <= row["estimate"] < 180)
        self.assertGreater(max(abs(row["estimate"]) for row in said["rows"]), 3.2)

    @needs("pandas", "pyarrow")
    def test_parquet(self):
        import pandas

        pandas.DataFrame(X, columns=["a", "b", "c"]).to_parquet("x.parquet")
        ask = ("certify", "models.py:product", "x.parquet", *ASKED, "--seed", 5)
        self.here(*ask, "-o", "r.parquet")
        self.here(*ask, "-o", "r.csv")
        kept = pandas.read_parquet("r.parquet")
        self.assertEqual(kept["radius"].tolist(), [float(row["radius"]) for row in read("r.csv")])

    @needs("matplotlib")
    def test_plots(self):
        np.save("y.npy", X[:, 0] + X[:, 1] * X[:, 2])
        ask = ("models.py:product", "x.npy", *ASKED, "--labels", "y.npy", "--plot", "p.svg")
        for more in (
            ("certify", *ask),
            ("certify", *ask, "--plot-kind", "accuracy"),
            ("sigma", *ask, "--sigma", ".1,.2"),
        ):
            self.here(*more)
            with open("p.svg", encoding="utf-8") as file:
                self.assertIn("<svg", file.read())
            os.unlink("p.svg")

    def test_packages_that_are_missing(self):
        """Each is named before the model is called."""
        os.mkdir("empty")
        for package, more in (
            ("onnxruntime", ("--alpha", ".1")),
            ("matplotlib", ("--plot", "p.svg")),
            ("pandas", ("-o", "r.parquet")),
        ):
            with open(f"empty/{package}.py", "w", encoding="utf-8") as file:
                file.write("raise ImportError('hidden')")
            path = f"{root / 'python'}:{os.path.abspath('empty')}"
            model = ROTATION if package == "onnxruntime" else "models.py:slow"
            _, err = self.certreg(
                "certify", model, "x.npy", *ASKED, *more, status=2, PYTHONPATH=path
            )
            self.assertRegex(err, rf"\Acertreg: [^\n]*{package}[^\n]*\n\Z")
        self.assertFalse(os.path.exists("called"))


if __name__ == "__main__":
    with contextlib.suppress(AttributeError):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])
    run()
