"""A folder of resume files: the same bits as without it, files of others, and what is wrong."""

import contextlib
import functools
import os
import resource
import sqlite3

import pytest

import kit
from kit import bits, counting, model, parametrize, raising
from test_resume import X, contents
from certreg import Denoised, ResumeError, RowsError, store as shards
from certreg.store import ResumeFile

rows_of = functools.partial(
    kit.rows_of, x=X, questions=0.5, resume="all/", seed=7, keep_records=True
)
FILES = [f"{first:012}.sqlite" for first in (0, 10, 20)]
pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(shards, "SHARD", 10)


def listed(verify=True):
    return shards.list_shards("all", verify)


def plain(**more):
    return rows_of(resume=None, **more)


@parametrize("jobs", 1, 2)
def test_a_folder_gives_the_same_bits_and_small_files(jobs):
    seen = []
    whole = rows_of(jobs=jobs, progress=lambda *done: seen.append(done))
    assert bits(whole) == bits(plain())
    assert sorted(os.listdir("all")) == FILES and seen[-1] == (30, 30)
    for shard, first in zip(listed(), (0, 10, 20)):
        assert shard[1:5] == (first, 10, 10, 10) and shard.seed == 7 and not shard.problem
        assert shard.size == os.path.getsize(shard.path) and len(shard.questions) == 1


def test_every_exception_has_the_finished_rows():
    with pytest.raises(ZeroDivisionError) as caught:
        rows_of(progress=lambda done, rows: 1 // (done < 12))
    done = caught.value.rows.done
    assert 12 <= done.sum() < 30
    assert bits(caught.value.rows[done]) == bits(plain()[done])


def test_the_rest_is_done_and_rows_are_numbered_through():
    with pytest.raises(RowsError, match="^row [12][0-9]: ") as caught:
        rows_of(raising(38, OSError("gone")))
    done = caught.value.rows.done
    assert len(done) == 30 and done.sum() == caught.value.row
    said = f"; {done.sum()} of 30 rows are done and kept in all/: call again"
    assert said in str(caught.value)
    (f, calls), seen = counting(), []
    again = rows_of(f, seed=None, progress=lambda *counts: seen.append(counts))
    assert bits(again) == bits(plain())
    assert len(calls) < 80
    whole = [(n, 30) for n in range(10, done.sum(), 10)]
    assert seen[: len(whole)] == whole  # parts that were done before
    assert seen[len(whole)] == (done.sum() + 1, 30) and seen[-1] == (30, 30)
    assert seen == sorted(set(seen))


def test_new_questions_need_no_model():
    rows_of()
    again = rows_of(None, questions=0.4, seed=None)
    assert bits(again) == bits(plain(questions=0.4)) and again.seed == 7
    assert [len(shard.questions) for shard in listed()] == [2, 2, 2]
    os.remove("all/" + FILES[1])
    with pytest.raises(ResumeError, match="give the model too"):
        rows_of(None, questions=0.3)
    assert bits(rows_of(questions=0.3)) == bits(plain(questions=0.3))


def test_files_of_other_machines_are_merged_by_their_folder():
    os.mkdir("all")
    for first, last in ((3, 8), (8, 22)):
        rows_of(x=X[first:last], noise_id=first, resume=f"all/from_{first}.sqlite")
    f, calls = counting()
    assert bits(rows_of(f)) == bits(plain())
    assert [shard[1:3] for shard in listed()] == [(0, 3), (3, 5), (8, 14), (22, 8)]
    contents_before = [contents(shard.path) for shard in listed()]
    with pytest.raises(ResumeError, match="ids 8 to 21, and X or another file has only some"):
        rows_of(x=X[:20])
    assert contents_before == [contents(shard.path) for shard in listed()]


def change(statement):
    with contextlib.closing(sqlite3.connect("all/" + FILES[1])) as db:
        db.executescript(statement)


def another_seed():
    os.remove("all/" + FILES[1])
    rows_of(x=X[10:20], noise_id=10, resume="all/" + FILES[1], seed=8)


@parametrize(
    "wrong, sentence",
    (lambda: os.truncate("all/" + FILES[1], 9000), "is damaged or no resume file"),
    (lambda: change("PRAGMA application_id = 5"), "belongs to another program or version"),
    (lambda: change("UPDATE runs SET library = '0.0.9'"), "checksum of line [1] of runs is wrong"),
    (another_seed, "has another seed than all/000000000000.sqlite"),
)
def test_a_wrong_file_is_named_and_nothing_is_lost(wrong, sentence):
    rows_of()
    wrong()
    before = [contents(f"all/{name}") for name in FILES]
    with pytest.raises(ResumeError) as caught:
        rows_of()
    assert FILES[1] in str(caught.value) and sentence in str(caught.value)
    assert "move it elsewhere, and its rows are computed again" in str(caught.value)
    assert [bool(shard.problem) for shard in listed()].count(True) == 1
    assert before == [contents(f"all/{name}") for name in FILES]
    os.rename("all/" + FILES[1], "elsewhere")
    assert bits(rows_of()) == bits(plain())


def test_verify_reads_every_record():
    rows_of()
    change("UPDATE records SET record = zeroblob(9) WHERE row = 4")
    assert not any(shard.problem for shard in listed(verify=False))
    assert [shard.path for shard in listed() if shard.problem] == ["all/" + FILES[1]]


def test_a_full_disk_and_a_file_that_was_only_begun():
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32000, limits[1]))
    try:
        with pytest.raises(
            ResumeError, match=r"sqlite cannot be written \(.*give another path"
        ) as caught:
            rows_of()
        done = caught.value.rows.done
        assert 0 < done.sum() < 30
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (f, calls), _ = counting(), open("all/" + FILES[2], "w").close()
    assert bits(rows_of(f)) == bits(plain())
    assert calls.count(300) <= 30 - done.sum()


def begun(name):
    ResumeFile(f"all/{name}").close()


@parametrize(
    "begin",
    lambda: begun(FILES[0]),
    lambda: open("all/" + FILES[0], "w").close(),
    lambda: begun("another.sqlite"),
    lambda: rows_of(raising(1, OSError("not ready")), seed=None),
)
def test_a_folder_that_was_only_begun_is_no_obstacle(begin):
    os.mkdir("all")
    rows_of(x=X[10:20], noise_id=10, seed=None)
    with contextlib.suppress(RowsError):
        begin()
    assert not any(shard.problem for shard in listed())
    rows = rows_of(seed=None)
    assert bits(rows) == bits(plain(seed=rows.seed)) and rows.seed > 0


def test_a_name_that_only_some_files_have_got_is_that_of_all():
    rows_of()
    assert [shard.model_id for shard in listed()] == [""] * 3
    stop = raising(4, KeyboardInterrupt, lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        rows_of(questions=0.4, model_id="a", progress=lambda *done: stop(done))
    assert [shard.model_id for shard in listed()] == ["a", "a", ""]
    rows_of(questions=0.4)
    with pytest.raises(ResumeError, match="model_id='a'"):
        rows_of(questions=0.4, model_id="b")
    os.remove("all/" + FILES[2])
    rows_of(x=X[20:], noise_id=20, resume="all/" + FILES[2], model_id="b")
    with pytest.raises(ResumeError, match=f"{FILES[2]} has another model_id than all/{FILES[0]}"):
        rows_of()


# ---- parts of several models
def part(f, first, last, **more):
    rows_of(f, x=X[first:last], noise_id=first, resume=f"all/{first}.sqlite", **more)


@parametrize("later", True, False)
def test_parts_of_two_denoisers_are_refused(later):
    os.mkdir("all")
    made = [Denoised(model, scale * kit.X, 0.25) for scale in (1, 5)]
    part(made[0], 0, 10, model_id="a")
    part(made[1], 10, 20, model_id="a")
    said = "10.sqlite has another denoiser than all/0.sqlite: move it elsewhere"
    with pytest.raises(ResumeError, match=said):
        rows_of(made[0] if later else None, x=X[:20], questions=0.3)
    os.remove("all/10.sqlite")
    made[0].save("kept")
    part(Denoised.load("kept", model), 10, 20, model_id="a")
    assert bits(rows_of(None, x=X[:20])) == bits(plain(f=made[0], x=X[:20]))


def test_parts_of_two_models_are_refused_before_there_is_a_new_file():
    os.mkdir("all")
    part(model, 3, 13)
    part(lambda x: 1.1 * model(x), 20, 30)
    with pytest.raises(ResumeError, match="20.sqlite was made with another model") as caught:
        rows_of()
    assert caught.value.rows.done.sum() == 10
    assert sorted(os.listdir("all")) == ["20.sqlite", "3.sqlite"]


def test_parts_without_a_name_are_told_of_where_no_model_can_tell_them_apart():
    rows_of()
    with pytest.warns(UserWarning, match="3 files of all/ name no model.*: give model_id") as said:
        rows_of(None, questions=0.3)
    assert said[0].filename.endswith("kit.py")
    with kit.no_warnings():
        rows_of(None, questions=0.3, model_id="a")
        rows_of(None, questions=0.3)
        rows_of(questions=0.2)
