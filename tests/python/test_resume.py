"""The resume file: rows that are done are kept, and results have the same bits as without it."""

import contextlib
import errno
import functools
import json
import os
import shutil
import sqlite3
from unittest import mock

import numpy as np
import pytest

import kit
from kit import bits, counting, model, parametrize, raising
from certreg import Constraint, Question, ResumeError, RowsError, Serving
from certreg.store import APPLICATION, ResumeFile

X = kit.X[:30]
ASKED = [Question(0.5, serving=Serving(101, 0.01)), Question(0.5, target=0.1, alpha=0.1)]
rows_of = functools.partial(
    kit.rows_of, x=X, sigma=[0.25, 0.5], questions=ASKED, resume="rows.sqlite", seed=None
)
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


def test_failed_rows_are_kept_with_their_sentences():
    at_row_5 = lambda x: np.where(np.abs(x[:, 0] - X[5, 0]) < 1e-6, np.nan, model(x))  # noqa: E731
    first, second = rows_of(at_row_5), rows_of(at_row_5)
    assert first.errors and first.errors == second.errors
    assert bits(first) == bits(second)


def test_another_thing_is_refused_and_nothing_is_lost():
    rows_of(model_id="a")
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


@parametrize("resume", "rows.sqlite", "rows/")
@parametrize("keep_records", True, False)
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
    with pytest.raises(ResumeError, match="nowhere/rows.sqlite cannot be written"):
        rows_of(resume="nowhere/rows.sqlite")


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


@parametrize("resume", "loop.sqlite", "all/")
def test_links_to_themselves_are_refused(resume):
    os.mkdir("all")
    for name in ("loop.sqlite", "all/loop.sqlite"):
        os.symlink("loop.sqlite", name)
    with pytest.raises(ResumeError, match=r"loop.sqlite cannot be .* \(Too many levels of symb"):
        rows_of(resume=resume)


def test_a_full_disk_asks_for_space_not_for_another_file():
    full = sqlite3.OperationalError("database or disk is full")
    with mock.patch.object(ResumeFile, "_insert", side_effect=full):
        with pytest.raises(ResumeError, match=r"written \(database or disk is full; free space\)$"):
            rows_of()
    assert rows_of().done.all()


def test_a_file_that_is_there_and_empty_becomes_private(usual_umask):
    kit.write("rows.sqlite", "")
    rows_of()
    assert os.stat("rows.sqlite").st_mode & 0o777 == 0o600


def test_the_sign_of_zero_is_kept():
    first, again = [rows_of(questions=Question(9, prediction=-0.0)) for _ in range(2)]
    assert np.signbit(first["prediction"]).all()
    assert bits(first) == bits(again)


def test_a_model_that_fails_at_once_leaves_the_file_usable():
    with pytest.raises(RowsError, match="the model raised OSError: no disk"):
        rows_of(raising(1, OSError("no disk")))
    assert rows_of().done.all()


@parametrize("unit, offset", (1e-7, 0), (1, 1e4))
def test_models_are_told_apart_in_every_unit(unit, offset):
    """But not by the last digits."""
    asked = dict(questions=Question(unit))
    rows_of(lambda x: offset + unit * model(x), **asked)
    rows_of(lambda x: (offset + unit * model(x)) * np.float32(1 + 2**-22), **asked)
    with pytest.raises(ResumeError, match="was made with another model"):
        rows_of(lambda x: offset + unit * 3 * x[:, 1], **asked)


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
    x[4, 1] = 1e9
    for f, more in ((model, {}), (model, {}), (None, dict(questions=0.3))):
        rows = rows_of(f, x=x, keep_records=f is not None, **more)
        assert {row for row, _ in rows.errors} == {4}


def test_a_file_learns_the_name_of_its_model_once():
    rows_of()
    rows_of(model_id="a")
    with pytest.raises(ResumeError, match=r"model_id='a'"):
        rows_of(model_id="b")


def test_a_new_file_needs_a_model():
    with pytest.raises(ResumeError, match="there is no file .*: give the model too"):
        rows_of(None)
    assert not os.path.exists("rows.sqlite")
    kit.write("rows.sqlite", "")
    with pytest.raises(ResumeError, match="is new and has no records: give the model too"):
        rows_of(None)
    with connected() as db:
        assert db.execute("SELECT count(*) FROM runs").fetchone()[0] == 0


def test_another_version_of_the_library_is_refused():
    with mock.patch("certreg.store.version_text", return_value="0.0.9"):
        rows_of()
    with pytest.raises(ResumeError, match="library 0.0.9"):
        rows_of()


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
@parametrize(
    "questions", [0.5, Question(0.3)], Question(0.5, constraints="ECGM"), ids=["two", "gradient"]
)
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


def test_rows_that_were_done_without_records_stay_without_other_questions():
    interrupted(25)
    rows_of(keep_records=True)
    with pytest.raises(ResumeError, match="other questions and without keep_records"):
        rows_of(questions=0.4, keep_records=True)


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
