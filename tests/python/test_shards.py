"""A folder of resume files: the same bits as without it, files of others, and what is wrong."""

import contextlib
import functools
import os
import resource
import sqlite3

import pytest

import kit
from kit import bits, counting, parametrize, raising
from test_resume import X, contents
from certreg import ResumeError, RowsError, shards
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


def test_the_rest_is_done_and_rows_are_numbered_through():
    with pytest.raises(RowsError, match="^row [12][0-9]: .*kept in all/") as caught:
        rows_of(raising(26, OSError("gone")))
    done = caught.value.rows.done
    assert len(done) == 30 and done.sum() == caught.value.row
    f, calls = counting()
    assert bits(rows_of(f, seed=None)) == bits(plain())
    assert len(calls) < 80


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
    with pytest.raises(ResumeError, match="ids 8 to 21, of which X or another file has only some"):
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
    (another_seed, "has another seed, model_id, plan or library than"),
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


def test_two_jobs_on_one_shard():
    rows_of()
    with contextlib.closing(ResumeFile("all/" + FILES[1])):
        with pytest.raises(ResumeError, match=f"{FILES[1]} is in use by process"):
            rows_of(questions=0.4)
    assert bits(rows_of(questions=0.4)) == bits(plain(questions=0.4))


def test_a_full_disk_and_a_file_that_was_only_begun():
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, limits[1]))
    try:
        with pytest.raises(ResumeError, match=r"sqlite cannot be written \(.*give another path"):
            rows_of()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    open("all/" + FILES[2], "w").close()
    assert bits(rows_of()) == bits(plain())
