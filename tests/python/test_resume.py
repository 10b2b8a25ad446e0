"""Files of runs: rows that are done are kept, whatever ends the processes that work on them, and
results have the same bits as without a file, or with a folder of several ones."""

import contextlib
import errno
import functools
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

import kit
from kit import CERTIFY, bits, counting, model, parametrize, raising, table_of
from certreg import Constraint, Question, ResumeError, RowsError, Serving, store
from certreg.store import APPLICATION, ResumeFile

X = kit.X[:30]
ASKED = [Question(0.5, serving=Serving(101, 0.01)), Question(0.5, target=0.1, alpha=0.1)]
rows_of = functools.partial(kit.rows_of, x=X, sigma=[0.25, 0.5], questions=ASKED,
                            resume="rows.sqlite", seed=None)
pytestmark = pytest.mark.usefixtures("folder")


def connected(path="rows.sqlite"):
    return contextlib.closing(sqlite3.connect(path))


def table(path="rows.sqlite"):
    """All certificates in the file, by its documented schema, without what depends on groups."""
    with connected(path) as db:
        db.row_factory = sqlite3.Row
        lines = map(dict, db.execute("SELECT * FROM certificates ORDER BY 1, 2, 3, 4"))
        return [{**line, **dict.fromkeys((*kit.GROUPED, "checksum"))} for line in lines]


def contents(path="rows.sqlite"):
    with open(path, "rb") as file:
        return file.read()


def interrupted(at, **more):
    """A run whose model fails in its call number `at`."""
    with pytest.raises(RowsError) as caught:
        rows_of(raising(at, OSError("the disk is gone")), **more)
    return caught.value


def test_the_rest_is_done_with_the_same_bits():
    whole = rows_of(seed=7, resume="whole.sqlite")
    error = interrupted(25, seed=7)
    kept = int(error.rows.done.sum())
    assert 5 < kept < 25
    assert f"{kept} of 30 rows are done and kept in rows.sqlite: call again" in str(error)
    f, calls = counting()
    again = rows_of(f)
    assert (bits(again), again.seed) == (bits(whole), 7)
    assert len(calls) < 4 * (30 - kept) + 2 * 6 + 9 * 9  # of checks, and of audits
    assert table() == table("whole.sqlite")
    calls.clear()
    assert bits(rows_of(f, jobs=1)) == bits(whole)
    assert sum(calls) < 30 * 2 * 300 / 16 + 8  # the picks


def test_another_thing_is_refused_and_nothing_is_lost():
    rows_of()
    rows_of(model_id="a")  # a file learns the name of its model once
    before, x, first = contents(), X.copy(), dict(f=lambda x: x[:, 0])
    x[3, 1] += 1
    for sentence, wrong in (
        (r"arguments \(X\): give another resume file", dict(x=x)),
        (r"arguments \(X\).* rows can be added at the end of X only$", dict(x=X[:20])),
        (r"arguments \(X\)", dict(x=kit.X[1:])),
        (r"arguments \(sigma\).* alpha was divided by the number", dict(sigma=0.25)),
        (r"arguments \(samples\).* looks .* method='anytime'", dict(samples=200)),
        (r"arguments \(scale\).* give rows.scale$", dict(scale=2.0)),
        (r"arguments \(seed\)", dict(seed=8)),
        (r"arguments \(model_id='a'\)", dict(model_id="b")),
        (r"arguments \(domain\)", dict(domain="calibration")),
        ("another model, or .*: row [0-9]+, sample [0-9]+: output 0 .* asked again: give", first),
        ("other questions and without keep_records", dict(questions=0.5)),
    ):
        with pytest.raises(ResumeError, match=sentence):
            rows_of(**wrong)
    assert contents() == before


@parametrize("resume, keep_records", ("rows.sqlite", True), ("rows.sqlite", False), ("rows/", True))
def test_rows_can_be_added_at_the_end(resume, keep_records):
    run = functools.partial(rows_of, keep_records=keep_records, resume=resume)

    def each(count):
        return [Question(np.linspace(0.4, 0.8, 30)[:count]), 0.5]

    whole = rows_of(questions=each(30), seed=7, resume=None)
    f, calls = counting()
    run(f, x=X[:13], questions=each(13), seed=7)
    with pytest.raises(RowsError):
        run(raising(len(calls) // 2, OSError("gone")), questions=each(30))
    assert bits(run(questions=each(30))) == bits(whole)
    f, calls = counting()
    for count in (30, 13):  # all are done, and asked again
        some = run(f, x=X[:count], questions=each(count))
        assert bits(some) == bits(whole)[: len(bits(some))]
    assert sum(calls) < 43 * 2 * 300 / 16 + 50
    if keep_records:
        other = run(None, questions=0.6)
        assert bits(other) == bits(rows_of(questions=0.6, seed=7, resume=None))
        run(None, x=X[:13], questions=0.7)
        x = kit.X[:35] + (np.arange(35) == 20)[:, None]
        with pytest.raises(ResumeError, match="arguments .X.|have another X|only some"):
            run(x=x, questions=0.7)


def test_added_rows_of_a_frame_may_have_new_labels():
    frame = kit.package("pandas").DataFrame(X, columns=list("abc"))
    frame["kind"] = ["u", "v"] * 10 + ["w"] * 10
    of_frames = lambda f: f.a + f.b * f.c + (f.kind == "w")  # noqa: E731
    rows_of(of_frames, x=frame[:20], questions=0.5)
    whole = rows_of(of_frames, x=frame, questions=0.5)
    again = rows_of(of_frames, x=frame, questions=0.5, seed=whole.seed, resume=None)
    assert bits(whole) == bits(again)
    with pytest.raises(ResumeError, match=r"arguments \(X\)"):
        rows_of(of_frames, x=frame.replace("v", "x"), questions=0.5)


def test_what_is_no_resume_file_is_refused_and_unchanged():
    kit.write("rows.sqlite", "This is a letter to my grandmother.\n" * 50)
    before = contents()
    with pytest.raises(ResumeError, match="is damaged or no resume file"):
        rows_of()
    assert contents() == before
    for statement in (
        "CREATE TABLE letters (text)",
        f"PRAGMA application_id = {0x63723031}",  # of the format without checksums
        f"PRAGMA application_id = {0x63723034}",  # of 0.2.0, without reasons
    ):
        with connected("other.sqlite") as db:
            db.execute(statement)
            db.commit()
        with pytest.raises(ResumeError, match="belongs to another program or version"):
            rows_of(resume="other.sqlite")
    os.mkdir("all")
    os.symlink("loop.sqlite", "loop.sqlite")
    os.symlink("loop.sqlite", "all/loop.sqlite")
    full = sqlite3.OperationalError("database or disk is full")
    for resume, said in (
        ("nowhere/rows.sqlite", "nowhere/rows.sqlite cannot be written"),
        ("loop.sqlite", r"loop.sqlite cannot be .* \(Too many levels of symb"),
        ("all/", r"loop.sqlite cannot be .* \(Too many levels of symb"),
        ("full.sqlite", r"written \(database or disk is full; free space\)$"),
    ):
        with mock.patch.object(ResumeFile, "_insert", side_effect=full):
            with pytest.raises(ResumeError, match=said):
                rows_of(resume=resume)
    assert rows_of(resume="full.sqlite").done.all()
    with mock.patch("certreg.store.version_text", return_value="0.0.9"):
        rows_of(resume="old.sqlite")
    with pytest.raises(ResumeError, match="library 0.0.9"):
        rows_of(resume="old.sqlite")


def half_written(name):
    """A database of another program, which that has left within a transaction."""
    with contextlib.closing(sqlite3.connect("source")) as db:
        db.execute("CREATE TABLE letters AS SELECT zeroblob(9000) AS text")
        db.commit()
        db.execute("PRAGMA cache_size = 1")
        db.execute("UPDATE letters SET text = randomblob(90000)")  # more than the cache holds
        for end in ("", "-journal"):
            shutil.copy(f"source{end}", name + end)


@parametrize("name", "rows.sqlite", "all/0.sqlite")
def test_the_database_of_another_program_stays_as_it_is_with_its_journal(name):
    os.mkdir("all")
    half_written(name)
    before = contents(name), contents(f"{name}-journal")
    with pytest.raises(ResumeError, match=f"{name} belongs to another"):
        rows_of(resume="all/" if name.startswith("all") else "rows.sqlite")
    assert (contents(name), contents(f"{name}-journal")) == before
    with connected(name) as db:  # by which SQLite would have undone the half
        assert db.execute("SELECT text = zeroblob(9000) FROM letters").fetchall() == [(1,)]


@parametrize("resume", "rows.sqlite", "all/")
def test_nothing_is_read_from_tables_that_are_not_ours(resume):
    """Reading this one would never end."""
    os.mkdir("all")
    path = "rows.sqlite" if resume != "all/" else "all/0.sqlite"
    with connected(path) as db:
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        db.execute(f"CREATE VIEW runs AS {endless} SELECT x FROM c ORDER BY x DESC")
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.commit()
    with pytest.raises(ResumeError, match="its tables are not as they were made"):
        rows_of(resume=resume)


def test_a_file_system_without_locks_is_named():
    said = "rows.sqlite is on a file system without locks"
    refuses = OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    with mock.patch("fcntl.lockf", side_effect=refuses):
        with pytest.raises(ResumeError, match=said + r" \(No locks available\): give a path on"):
            rows_of()
    refuses = sqlite3.OperationalError("locking protocol")
    with mock.patch("certreg.store.database", side_effect=refuses):
        with pytest.raises(ResumeError, match=said + r" \(locking protocol\): give another path"):
            rows_of()
    assert os.listdir() == []


@parametrize("unit, offset", (1e-7, 0), (1, 1e4))
def test_models_are_told_apart_in_every_unit(unit, offset):
    """But not by the last digits."""
    asked = dict(questions=Question(unit))
    rows_of(lambda x: offset + unit * model(x), **asked)
    rows_of(lambda x: (offset + unit * model(x)) * np.float32(1 + 2**-22), **asked)
    with pytest.raises(ResumeError, match="was made with another model"):
        rows_of(lambda x: offset + unit * 3 * x[:, 1], **asked)
    signed = dict(questions=Question(9, prediction=-0.0), resume="signed.sqlite")
    first, again = [rows_of(**signed) for _ in range(2)]  # the sign of zero is kept
    assert np.signbit(first["prediction"]).all() and bits(first) == bits(again)


def test_what_failed_stays_failed_for_other_questions():
    """An output outside its range, or NaN, is no reason to stop early and be certified."""
    mean = dict(statistic="mean", method="anytime")
    jumps = lambda x: np.where(x[:, 1] > X[3, 1] + 0.5, 100.0, np.tanh(x[:, 0]))  # noqa: E731
    plan = dict(lo=-1, hi=1, keep_records=True)
    first = rows_of(jumps, questions=Question(0.5, **mean), **plan)
    assert first.errors
    later = rows_of(None, questions=Question(0.6, **mean), **plan)
    assert later.errors == first.errors
    assert not (later["radius"][later["status"] != 0] > 0).any()
    np.testing.assert_array_equal(later["status"], first["status"])


def test_an_input_that_cannot_begin_fails_alone_with_records_too():
    x = X.copy()
    x[4, 1], errors = 1e9, []
    for f, more in ((model, {}), (model, {}), (None, dict(questions=0.3))):
        rows = rows_of(f, x=x, keep_records=f is not None, **more)
        assert {row for row, _ in rows.errors} == {4}
        errors.append((rows.errors, bits(rows)))
    assert errors[0] == errors[1]


def test_a_new_file_needs_a_model():
    with pytest.raises(ResumeError, match="there is no file .*: give the model too"):
        rows_of(None)
    assert not os.path.exists("rows.sqlite")
    kit.write("rows.sqlite", "")
    with pytest.raises(ResumeError, match="is new and has no records: give the model too"):
        rows_of(None)
    with connected() as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone()[0] == 0


@parametrize("end", None, "ROLLBACK")
def test_a_failing_transaction_is_rolled_back_whoever_ends_it(end):
    with contextlib.closing(ResumeFile("rows.sqlite")) as file:
        with pytest.raises(KeyboardInterrupt), file._transaction():
            file.db.execute("DELETE FROM runs")
            if end:
                file.db.execute(end)
            raise KeyboardInterrupt
        assert not file.db.in_transaction


# ---- records
@parametrize("questions", [0.5, Question(0.3)], Question(0.5, constraints="ECGM"),
             ids=["two", "gradient"])
def test_records_answer_other_questions_without_the_model(questions):
    rows_of(keep_records=True, questions=0.5, seed=7)
    later = rows_of(None, questions=questions)
    wanted = rows_of(seed=7, questions=questions, resume="other.sqlite")
    assert bits(later) == bits(wanted)
    assert (later["constraints"] & Constraint.GRADIENT).any() == isinstance(questions, Question)
    bounds = rows_of(None, questions=0.5, radius=0.1)
    assert (bounds["radius"] == 0.1).any()
    with connected() as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone()[0] == 3
        assert db.execute("SELECT count(*) FROM records").fetchone()[0] == 60


def test_rows_without_records_need_the_model():
    interrupted(25, keep_records=True, questions=0.5)
    with pytest.raises(ValueError, match="no records of .* rows.*: give the model too"):
        rows_of(None, questions=0.4)
    assert rows_of(questions=0.4, keep_records=True).done.all()
    assert rows_of(None, questions=0.3).done.all()
    interrupted(25, resume="few.sqlite")
    rows_of(keep_records=True, resume="few.sqlite")  # the rows that were done stay without
    with pytest.raises(ResumeError, match="other questions and without keep_records"):
        rows_of(questions=0.4, keep_records=True, resume="few.sqlite")


def test_a_run_says_how_it_was_made():
    rows = rows_of(model_id="three features")
    with connected() as db:
        db.row_factory = sqlite3.Row
        made = dict(db.execute("SELECT * FROM runs").fetchone())
        first = dict(db.execute("SELECT * FROM certificates LIMIT 1").fetchone())
    assert (made["model_id"], int(made["seed"])) == ("three features", rows.seed)
    assert json.loads(made["plan"])["sigmas"] == [0.25, 0.5]
    questions = [json.loads(line)["question"] for line in json.loads(made["questions"])]
    assert [q["tolerance"] for q in questions] == [0.5, 0.5]
    assert first["radius"] == rows.certificate(0).radius
    assert int(first["question_digest"]) == rows.certificate(0).question_digest


# ---- processes that end, and several at a time
def at_row_20(x):
    return np.allclose(x.mean(axis=0), X[20], atol=0.2)


def killing(x):
    """Kills the program at row 20, and leaves a fork of it until its standard input is closed."""
    if at_row_20(x):
        program = multiprocessing.parent_process()
        if program is None and os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
        os.kill(program.pid if program else os.getpid(), signal.SIGKILL)
    return model(x)


def program(path, jobs, **more):
    """A program that kills itself."""
    code = "import test_resume as t; "
    code += f"t.rows_of(t.killing, seed=7, resume={path!r}, jobs={jobs})"
    env = kit.environment(kit.root / "tests/python")
    return subprocess.Popen([sys.executable, "-c", code], env=env, **more)


@parametrize("jobs", 1, 2)
def test_a_killed_program_goes_on(jobs):
    """Also while a fork of it is still there."""
    whole = rows_of(seed=7, resume="whole.sqlite")
    with program("rows.sqlite", jobs, stdin=subprocess.PIPE) as process:
        assert process.wait() == -signal.SIGKILL
        assert 0 < len(table()) < len(whole) * 4
        assert bits(rows_of(jobs=2)) == bits(whole)


# ---- two programs on one file
def nested(at, second, **more):
    """A run that calls `second` in its call number `at` of the model."""
    calls = []

    def calling(x):
        calls.append(1)
        if len(calls) == at:
            second()
        return model(x)

    return rows_of(calling, **more)


def test_two_programs_on_one_file_give_the_same_rows():
    more = dict(keep_records=True)
    whole = rows_of(seed=7, resume="whole.sqlite", **more)
    others = []
    os.symlink("rows.sqlite", "link.sqlite")  # another name is the same file
    second = functools.partial(rows_of, seed=None, resume="link.sqlite", jobs=2, **more)
    rows = nested(30, lambda: others.append(second()), seed=7, **more)
    assert bits(rows) == bits(others[0]) == bits(whole)
    assert table() == table("whole.sqlite")
    assert sorted(os.listdir()) == ["link.sqlite", "rows.sqlite", "whole.sqlite"]


@parametrize("differs, more", ("seed", dict(seed=8)),
             ("other questions", dict(questions=0.4, seed=7)))
def test_two_programs_that_ask_otherwise_never_share_a_file(differs, more):
    def refused():
        with pytest.raises(ResumeError, match=differs):
            rows_of(**more)

    whole = nested(30, refused, seed=7)
    assert whole.done.all()


def test_an_interrupt_while_a_file_is_opened_leaves_it_free():
    def interrupted(opened, done=ResumeFile._prepare):
        done(opened)
        raise KeyboardInterrupt

    with mock.patch.object(ResumeFile, "_prepare", interrupted):
        with pytest.raises(KeyboardInterrupt) as kept:
            rows_of()
    assert rows_of().done.all() and kept.traceback  # which refers to what was opened


def test_a_fork_that_ends_like_a_run_does_no_harm():
    def forking(x):
        if os.path.exists("rows.sqlite") and not children:
            children.append(os.fork())
            if children[0] == 0:
                raise ValueError("the end of the fork")
            os.waitpid(children[0], 0)
        return model(x)

    children, parent = [], os.getpid()
    try:
        rows = rows_of(forking, seed=7)
    finally:
        if os.getpid() != parent:
            os._exit(0)
    assert rows.done.all() and bits(rows_of()) == bits(rows)


def test_files_of_a_run_are_for_their_owner_alone(usual_umask):
    """They hold or name the seed."""
    modes = {}

    def mode(path):
        return os.stat(path).st_mode & 0o777

    def look(done, rows):
        modes.update((p, mode(p)) for p in os.listdir())
        counts.append(len(table()))  # it can be read during a run

    counts = []
    kit.write("rows.sqlite", "")  # with the mode that a new file has
    rows_of(progress=look)
    assert modes == {"rows.sqlite": 0o600} and counts[-1] == 4 * len(X)
    os.chmod("rows.sqlite", 0o640)  # what the owner chooses later stays
    rows_of()
    assert mode("rows.sqlite") == 0o640


# ---- a folder of files
in_folder = functools.partial(rows_of, sigma=0.25, questions=0.5, resume="all/", seed=7,
                              keep_records=True)
FILES = [f"{first:012}.sqlite" for first in (0, 10, 20)]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(store, "SHARD", 10)


def listed(verify=True):
    return store.list_shards("all", verify)


def whole_of(**more):
    return in_folder(resume=None, **more)


@parametrize("jobs", 1, 2)
def test_a_folder_gives_the_same_bits_and_small_files(small, jobs):
    seen = []
    whole = in_folder(jobs=jobs, progress=lambda *done: seen.append(done))
    assert bits(whole) == bits(whole_of())
    assert sorted(os.listdir("all")) == FILES and seen[-1] == (30, 30)
    for shard, first in zip(listed(), (0, 10, 20)):
        assert shard[1:5] == (first, 10, 10, 10) and shard.seed == 7 and not shard.problem
        assert shard.size == os.path.getsize(shard.path) and len(shard.questions) == 1


def test_the_rest_is_done_and_rows_are_numbered_through(small):
    with pytest.raises(RowsError, match="^row [12][0-9]: ") as caught:
        in_folder(raising(38, OSError("gone")))
    done = caught.value.rows.done
    assert len(done) == 30 and done.sum() == caught.value.row
    said = f"; {done.sum()} of 30 rows are done and kept in all/: call again"
    assert said in str(caught.value)
    (f, calls), seen = counting(), []
    again = in_folder(f, seed=None, progress=lambda *counts: seen.append(counts))
    assert bits(again) == bits(whole_of())
    assert len(calls) < 80
    whole = [(n, 30) for n in range(10, done.sum(), 10)]
    assert seen[: len(whole)] == whole  # parts that were done before
    assert seen[len(whole)] == (done.sum() + 1, 30) and seen[-1] == (30, 30)
    assert seen == sorted(set(seen))


def test_files_of_other_machines_are_merged_by_their_folder(small):
    os.mkdir("all")
    for first, last in ((3, 8), (8, 22)):
        in_folder(x=X[first:last], noise_id=first, resume=f"all/from_{first}.sqlite")
    f, calls = counting()
    assert bits(in_folder(f)) == bits(whole_of())
    assert [shard[1:3] for shard in listed()] == [(0, 3), (3, 5), (8, 14), (22, 8)]
    contents_before = [contents(shard.path) for shard in listed()]
    with pytest.raises(ResumeError, match="ids 8 to 21, and X or another file has only some"):
        in_folder(x=X[:20])
    assert contents_before == [contents(shard.path) for shard in listed()]


def change(statement):
    with contextlib.closing(sqlite3.connect("all/" + FILES[1])) as db:
        db.executescript(statement)


def another_seed():
    os.remove("all/" + FILES[1])
    in_folder(x=X[10:20], noise_id=10, resume="all/" + FILES[1], seed=8)


@parametrize(
    "wrong, sentence",
    (lambda: os.truncate("all/" + FILES[1], 9000), "is damaged or no resume file"),
    (lambda: change("PRAGMA application_id = 5"), "belongs to another program or version"),
    (lambda: change("UPDATE runs SET library = '0.0.9'"), "checksum of line [1] of runs is wrong"),
    (another_seed, "has another seed than all/000000000000.sqlite"),
)
def test_a_wrong_file_is_named_and_nothing_is_lost(small, wrong, sentence):
    in_folder()
    wrong()
    before = [contents(f"all/{name}") for name in FILES]
    with pytest.raises(ResumeError) as caught:
        in_folder()
    assert FILES[1] in str(caught.value) and sentence in str(caught.value)
    assert "move it elsewhere, and its rows are computed again" in str(caught.value)
    assert [bool(shard.problem) for shard in listed()].count(True) == 1
    assert before == [contents(f"all/{name}") for name in FILES]
    os.remove("all/" + FILES[1])
    assert bits(in_folder()) == bits(whole_of())
    change("UPDATE records SET record = zeroblob(9) WHERE row = 4")
    assert not any(shard.problem for shard in listed(verify=False))
    assert [shard.path for shard in listed() if shard.problem] == ["all/" + FILES[1]]


@parametrize(
    "begin",
    lambda: ResumeFile(f"all/{FILES[0]}").close(),
    lambda: open("all/" + FILES[0], "w").close(),
    lambda: ResumeFile("all/another.sqlite").close(),
    lambda: in_folder(raising(1, OSError("not ready")), seed=None),
)
def test_a_folder_that_was_only_begun_is_no_obstacle(small, begin):
    os.mkdir("all")
    in_folder(x=X[10:20], noise_id=10, seed=None)
    with contextlib.suppress(RowsError):
        begin()
    assert not any(shard.problem for shard in listed())
    rows = in_folder(seed=None)
    assert bits(rows) == bits(whole_of(seed=rows.seed)) and rows.seed > 0


def test_a_name_that_only_some_files_have_got_is_that_of_all(small):
    in_folder()
    stop = raising(4, KeyboardInterrupt, lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        in_folder(questions=0.4, model_id="a", progress=lambda *done: stop(done))
    assert [shard.model_id for shard in listed()] == ["a", "a", ""]
    with pytest.raises(ResumeError, match="model_id='a'"):
        in_folder(questions=0.4, model_id="b")
    os.remove("all/" + FILES[2])
    in_folder(x=X[20:], noise_id=20, resume="all/" + FILES[2], model_id="b")
    with pytest.raises(ResumeError, match=f"{FILES[2]} has another model_id than all/{FILES[0]}"):
        in_folder()


# ---- parts of several models
def part(f, first, last, **more):
    in_folder(f, x=X[first:last], noise_id=first, resume=f"all/{first}.sqlite", **more)


def test_parts_of_two_models_are_refused_before_there_is_a_new_file(small):
    os.mkdir("all")
    part(model, 3, 13)
    part(lambda x: 1.1 * model(x), 20, 30)
    with pytest.raises(ResumeError, match="20.sqlite was made with another model") as caught:
        in_folder()
    assert caught.value.rows.done.sum() == 10
    assert sorted(os.listdir("all")) == ["20.sqlite", "3.sqlite"]


def test_parts_without_a_name_are_told_of_where_no_model_can_tell_them_apart(small):
    in_folder()
    with pytest.warns(UserWarning, match="3 files of all/ name no model.*: give model_id") as said:
        in_folder(None, questions=0.3)
    assert said[0].filename.endswith("kit.py")
    with kit.no_warnings():
        in_folder(None, questions=0.3, model_id="a")
        in_folder(None, questions=0.3)
        in_folder(questions=0.2)


# ---- a job array on one machine: a file of each task in one folder, read as a whole
SCRIPT = kit.root / "examples/cluster/certify.slurm"
ASK = ("models.py:product", "x.npy", "6", "parts", "--sigma=.25", "--tolerance=.5", "--samples=200")
WHOLE = (*CERTIFY, "--resume", "parts", "--quiet")


@pytest.fixture
def task(models, folder):
    """A task of the array, as Slurm starts it."""
    kit.write("certreg", f'#!/bin/sh\nexec {sys.executable} -m certreg "$@"\n')
    os.chmod("certreg", 0o755)
    os.mkdir("parts")
    kit.write("parts/seed", "7\n")

    def start(number, *more):
        array = f"SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_ID={number}"
        words = ["env", f"PATH={folder}:{os.environ['PATH']}", *array.split(), str(SCRIPT)]
        return subprocess.Popen([*words, *ASK, *more], stdout=subprocess.DEVNULL)

    return start


def test_a_job_array_gives_the_table_of_one_run(task):
    """Also if one task is repeated, and one is missing, whose rows are done then."""
    tasks = (8, 5, 7, 7)
    assert [process.wait() for process in map(task, tasks)] == [0] * len(tasks)
    files = sorted(name for name in os.listdir("parts") if name != "seed")
    assert files == [f"{number - 5}.sqlite" for number in sorted({*tasks})]
    assert table_of(*WHOLE) == table_of(*CERTIFY)
    kit.write("other", "8\n")
    os.remove("parts/3.sqlite")
    task(8, "--seed-file=other").wait()
    kit.command_refused(4, "3.sqlite has another seed than parts/0.sqlite", *WHOLE)
