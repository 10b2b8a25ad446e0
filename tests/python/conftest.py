"""Settings of every test, and a summary that tests/run.sh can count."""

import os
import signal
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # several programs run at a time

import pytest  # noqa: E402

pytest.register_assert_rewrite("kit")
import hypothesis  # noqa: E402
import kit  # noqa: E402

# The same examples in every run and on every machine, however slow it is.
hypothesis.settings.register_profile("certreg", derandomize=True, deadline=None, database=None,
                                     max_examples=30)
hypothesis.settings.load_profile("certreg")
HOME = tempfile.TemporaryDirectory()  # nothing is left beside the tests
hypothesis.configuration.set_hypothesis_home_dir(HOME.name)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it


@pytest.fixture(autouse=True)
def drawn():
    """A secret seed is the same in every run, so that no test fails by chance."""
    with kit.drawn_from(1):
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def usual_umask():
    """Others may read new files."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def models(folder, monkeypatch):
    """A current folder with models and inputs for the command line."""
    monkeypatch.setattr(kit.sys, "path", list(kit.sys.path))
    kit.write("models.py", kit.MODELS)
    kit.np.save("x.npy", kit.X[:6])
    kit.np.save("steps.npy", kit.STEPS)
    yield folder
    kit.sys.modules.pop("models", None)


def pytest_terminal_summary(terminalreporter):
    """Lines like those of Check: a skip with its reason, and counts."""
    found = {kind: terminalreporter.stats.get(kind, []) for kind in terminalreporter.stats}
    for report in found.get("skipped", []):
        print(f"skip {report.nodeid}: {report.longrepr[2].removeprefix('Skipped: ')}")
    passed, failed, errors = (len(found.get(k, [])) for k in ("passed", "failed", "error"))
    count = passed + failed + errors
    print(f"100%: Checks: {count}, Failures: {failed}, Errors: {errors}", flush=True)
