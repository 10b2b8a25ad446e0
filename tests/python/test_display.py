"""What plots and notebooks show: curves, tables, figures, names and progress; and how notebooks of
examples are kept."""

import html.parser
import importlib.util
import io
import json
import pathlib
import pickle
import re
import sys
import types

import numpy as np
import pytest

from kit import X, certreg, estimator, model, no_warnings, package, parametrize, raising, root
from kit import rows_of, undefined
from certreg import Attack, Bounds, Outcome, Question, Score, Solver, Status
from certreg import display, plot_accuracy, plot_radii, plot_reach, plot_worst_function
from certreg.display import ProgressLine
from certreg.plots import shares

sys.path.append(str(root / "tests"))
import notebooks  # noqa: E402

RADII = [0.5, 0.0, 0.25, 0.5, np.nan]


@pytest.fixture
def matplotlib():
    return package("matplotlib")


def share_at(corners, share, radius):
    """The share that the steps show at a radius, which is the share at the next corner."""
    return share[np.searchsorted(corners, radius)]


def test_they_count_the_inputs():
    corners, share = shares(RADII, True)
    for radius, wanted in ((0.1, 0.6), (0.25, 0.6), (0.26, 0.4), (0.5, 0.4)):
        assert share_at(corners, share, radius) == wanted
    assert (corners[0], share[0], corners[-1], share[-1]) == (0, 0.6, 0.5, 0)
    assert share_at(*shares(RADII, [True, True, False, False, True]), 0.2) == 0.2
    assert not np.any(shares([0, 0, np.nan], True))  # nothing is certified


def test_they_are_written_in_the_format_of_the_suffix(matplotlib, folder, monkeypatch):
    for name, begins in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        with no_warnings():
            plot_radii({"mine": RADII}, folder / name)
        assert (folder / name).read_bytes().startswith(begins)
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="a plot needs matplotlib: pip install"):
        plot_radii({"a": RADII})


def test_curves_are_what_was_given(matplotlib):
    with no_warnings():
        ax = plot_accuracy({"a": (RADII, [True] * 5), "b": ([1], [False])}, title="Two")
    assert ax.get_title() == "Two"
    assert [line.get_label() for line in ax.get_lines()] == ["a", "b"]
    for line, of in zip(ax.get_lines(), ((RADII, True), ([1], False))):
        np.testing.assert_array_equal(line.get_data(), shares(*of))
        assert line.get_drawstyle() == "steps-pre"  # the share of the next corner


def test_names_stand_at_the_ends_of_curves_if_none_is_covered(matplotlib):
    apart = plot_radii({"short": [0.1, 0.2], "long": [0.5, 1.0]})
    assert [text.get_text() for text in apart.texts] == ["short", "long"]
    assert not plot_radii({"a": [1.0, 2.0], "b": [1.0, 2.001]}).texts
    assert not plot_radii({"alone": [1.0]}).texts


def test_they_draw_into_axes_and_leave_windows_alone(matplotlib):
    from matplotlib.figure import Figure

    left, right = Figure().subplots(1, 2)
    assert plot_radii({"a": RADII}, ax=left) is left
    assert plot_reach([1], [2], [3], 2.5, ax=right) is right
    assert left.get_lines() and right.get_lines()
    plot_radii({"a": RADII})
    assert "matplotlib.pyplot" not in sys.modules


def test_reach_leaves_out_what_is_not_bounded(matplotlib):
    inf = np.inf
    with no_warnings():
        ax = plot_reach([0, 1, 2, 3], [0.9, 0.5, 0, -inf], [1.1, 1.5, inf, inf], 1.0)
        ax.figure.savefig(io.BytesIO(), format="png")
    drawn = np.concatenate([path.vertices for path in ax.collections[0].get_paths()])
    assert np.isfinite(drawn).all()
    assert drawn[:, 0].max() == 1
    assert (drawn[:, 1].min(), drawn[:, 1].max()) == (0.5, 1.5)
    with pytest.raises(ValueError, match="one dimension and the same length"):
        plot_reach([0, 1], [0], [1], 0.5)


def test_worst_functions_have_their_steps(matplotlib):
    bounds = Bounds(1.0, mean_lo=0.3, mean_hi=0.3, range_lo=0.0, range_hi=1.0)
    with Solver() as s:
        f = s.worst_function(bounds, 0.5, "upper")
    with no_warnings():
        ax = plot_worst_function({"half-space": f}, title="Worst")
        alone = plot_worst_function(f).get_lines()[0]
    t, u = ax.get_lines()[0].get_data()
    assert t[np.searchsorted(u, 0.5) - 1] == f.breakpoints[0]
    assert (t[0], u[0], u[-1], ax.get_xlim()[0]) == (-4, 0, 1, -4)
    np.testing.assert_array_equal(u, f.values(t))
    assert alone.get_label() == "radius 0.5"
    np.testing.assert_array_equal(alone.get_data(), (t, u))


# ---- notebooks
def test_results_are_tables():
    rows = rows_of(x=X[:5])
    heading = "<table><tr><th>sigma</th><th>question</th><th>tolerance</th>"
    assert rows._repr_html_().startswith(heading)
    shown = rows.certificate(0)._repr_html_()
    assert "<td>outcome</td><td>certified</td>" in shown and "radius_l" not in shown
    with estimator() as e:
        e.certify(X[0], 0.25, 300, 0.5)
        found = e.attack(0.5)
    assert "<td>outcome</td><td>not_broken</td>" in found._repr_html_()
    assert found.outcome is Attack.NOT_BROKEN
    with certreg.Calibrated(model, X, model(X), 0.1, samples=11) as calibrated:
        assert "<th>points</th>" in calibrated._repr_html_()
        said = "points=40, samples=11, sigma=0.1, score=norm, features=3, outputs=1"
        assert repr(calibrated) == f"Calibrated({said})"


def test_other_results_are_tables_too():
    f = lambda x: 1e6 * x[:, 0]  # noqa: E731
    z = np.c_[X[:30, 0], np.arange(30) % 3]
    rows = rows_of(f, z, questions=4e5, scale=[1, 0], samples=600, alternatives=certreg.OneOf(1))
    found = rows.alternatives[0, 0]._repr_html_()
    assert "<td>feature 1=" in found and "3 alternatives, 598 samples" in found
    html = rows.certificate(0)._repr_html_()
    assert "<td>tolerance</td><td>400,000</td>" in html
    digest = str(rows.certificate(0).question_digest)  # last, and without commas
    assert html.index("fault_radius") < html.index(f"<td>question_digest</td><td>{digest}<")
    rows = rows_of(sigma=[0.25, 0.5], x=X[:20])
    assert rows.choose_sigma()._repr_html_().count("<td>yes</td>") == 1
    units = certreg.compare_radius(X[:20], rows["radius"][:, 0, 0])
    assert "<th>covered</th>" in units._repr_html_() and "<p>The radius is" in units._repr_html_()
    with certreg.Calibrated(model, X, model(X), 0.1, samples=11) as calibrated:
        each = calibrated.intervals(X[:3], 0.05)
        assert each._repr_html_().endswith(f"</table><p>{each}</p>")
        assert "<td>threshold</td>" in each[0]._repr_html_()
        assert "<td>sample_rank</td>" in calibrated.rule(0.05)._repr_html_()
    tuned = certreg.tune_scale(model, X, 0.25, 0.5, samples=60, rounds=1, seed=1, progress=False)
    assert "<th>factor</th>" in tuned._repr_html_() and "<p>Deploy sigma " in tuned._repr_html_()


def test_tables_escape_what_they_show():
    finding = certreg.Trial("<b>", 1.0, 2.0, 3.0, 0)
    shown = type("Shown", (certreg.display.HtmlTable,), {"_table": lambda _: [vars(finding)]})()
    assert "<td>&lt;b&gt;</td>" in shown._repr_html_()


class Page(html.parser.HTMLParser):
    """The sections of a page, with their texts; and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.links, self.open = {}, [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in ("src", "href")]
        self.open += [] if tag in ("meta", "img") else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1:] == ["h2"]:
            self.sections[text] = ""
        elif self.sections:
            self.sections[[*self.sections][-1]] += f"{text}\n"


def page_of(rows, *given):
    rows.report("page.html", *given)
    text = pathlib.Path("page.html").read_text("utf-8")
    page = Page(text)
    assert not re.search(r"https?:|@import|url\(|<b>|1234567", text)
    assert all(link.startswith("data:image/svg+xml;base64,") for link in page.links)
    assert "prefers-color-scheme:dark" in text and "@media print" in text
    assert len(page.sections) == 9 and all(page.sections.values())
    return page.sections, page.links


def test_a_report_has_its_sections_for_all_rows(folder):
    pd = package("pandas")
    kinds = ["x<b>y"] * 5 + ["u"] * 5
    X = pd.DataFrame({"<b>": np.linspace(0, 9, 10), "c": np.arange(10.0) ** 2, "kind": kinds})
    f = lambda x: x["<b>"] + x["c"] / 9 + (x["kind"] == "u") * 0.4  # noqa: E731
    how = {"x": X, "seed": 1234567, "scale": {"<b>": 1, "c": 2}}
    rows = rows_of(f, questions=[1, 2], alternatives=certreg.OneOf("kind"), **how)
    parts, links = page_of(rows, X)
    assert "<b>" in parts["Columns that limit"] and "share of range" in parts["Columns that limit"]
    assert "limited by kind=" in parts["Alternatives"]
    assert "limiting estimate" in parts["Worst and best rows"]
    assert "columns kind, beyond the named" in parts["What is not covered"]
    assert "There are none." in parts["Rows without a certificate"]
    assert "before this answer moves by 2?" in parts["The question"]
    assert len(links) == (importlib.util.find_spec("matplotlib") is not None)
    parts, links = page_of(rows_of(f, questions=0, radius=0.1, **how), X)
    assert not links and "changes by less than 0.1?" in parts["The question"]
    broken = lambda x: np.where(x["<b>"] < 3, np.nan, x["c"])  # noqa: E731
    parts, _ = page_of(rows_of(broken, questions=1e-9, **how))
    assert re.search("abstained.*\n.*failed", parts["Rows without a certificate"])
    assert "certreg.PLAN_COUNT_FAILURES) counts such" in parts["Rows without a certificate"]
    with pytest.raises(ValueError, match="no row is finished"):
        rows[:0].report("page.html")
    scale = np.linspace(1, 2, 70)
    for some in (scale[:50], scale):
        wide = rows_of(lambda x: x[:, 0], np.zeros((3, len(some))), scale=some, seed=1234567)
        parts, _ = page_of(wide)
        told = str(some.tolist()) if len(some) < 64 else "70 numbers: a file of rows.save keeps"
        assert told in parts["How to repeat it"]
    assert "more than 64 columns" in parts["Columns that limit"]


def test_a_report_does_without_matplotlib(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert page_of(rows_of(x=X[:5]))[1] == []


def test_figures_show_without_magic():
    package("matplotlib")
    ax = rows_of(x=X[:5]).plot()
    assert ax._repr_png_().startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(ax.figure)).axes


def test_members_print_their_names():
    assert (str(Status.OK), f"{Outcome.CERTIFIED}", f"{Score.NORM:>6}") == (
        "ok",
        "certified",
        "  norm",
    )
    assert Outcome.CAPPED == 2 and int(Score.LARGEST) == 1


def test_questions_print_the_alpha_that_holds():
    assert "alpha=0.05" in repr(Question(0.5)) and "bonferroni=1" in repr(Question(0.5))
    for name in ("alpha", "bonferroni"):
        with pytest.raises(ValueError, match=f"{name} is 0; it must be"):
            Question(0.5, **{name: 0})
    with estimator() as e, pytest.raises(ValueError, match="alpha is 0; it must be positive"):
        e.attack(0.5, alpha=0)


def test_rows_are_sliced_and_filtered():
    rows = rows_of(x=X[:8])
    assert rows.radius.tolist() == rows["radius"][:, 0, 0].tolist()
    assert rows_of(x=X[:2], questions=[0.5, 1]).radius.shape == (2, 1, 2)
    for key, wanted in (
        (slice(2, 4), [2, 3]),
        (rows.radius > rows.radius[3], [i for i in range(8) if rows.radius[i] > rows.radius[3]]),
        ([5, 0], [5, 0]),
    ):
        some = rows[key]
        assert some.numbers.tolist() == wanted and len(some) == len(wanted)
        assert some.radius.tolist() == rows.radius[wanted].tolist()
        assert [line["row"] for line in some.to_dicts()] == wanted
        assert some[:1].certificate(0) == rows.certificate(wanted[0])
    assert rows[6:].summary()[0]["rows"] == 2
    bad = X[:4].copy()
    bad[2] = 1e7
    rows = rows_of(x=bad, keep_records=True)
    assert len(rows.records) == 4 and list(rows.errors) == [(2, 0)]
    some = rows[[3, 2]]  # sentences follow their rows
    assert list(some.errors) == [(1, 0)] and some.to_dicts()[1]["error"] == rows.errors[2, 0]
    assert not some.records  # whose noise is that of their places among all rows


class Ours(io.StringIO):
    """The standard error of a kernel."""

    __module__ = "ipykernel.iostream"


@parametrize("stream, shown", (Ours, True), (io.StringIO, False))
def test_progress_is_a_count_where_somebody_looks(monkeypatch, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    rows_of(x=X[:3], progress=True)
    assert sys.stderr.getvalue().endswith("3 of 3 rows\n" if shown else "")
    assert bool(sys.stderr.getvalue()) == shown
    ProgressLine("steps")(5, 5)
    assert ("5 of 5 steps\n" in sys.stderr.getvalue()) == shown


def test_progress_says_what_time_is_left_and_erases_longer_texts(monkeypatch):
    times = iter([10.0, 10.1, 20.0, 21.0])
    monkeypatch.setattr(sys, "stderr", Ours())
    monkeypatch.setattr(display.time, "monotonic", lambda: next(times))
    line = ProgressLine()
    for done in (10, 12, 110, 3000):  # the first rows may be those of an earlier run
        line(done, 3000)
    texts = ["10 of 3000 rows", "110 of 3000 rows, 0:04:49 left", " " * 30, "3000 of 3000 rows\n"]
    assert sys.stderr.getvalue() == "\r".join(texts)


def test_a_run_in_a_notebook_is_one_output(monkeypatch):
    shell, pages = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    outputs = []

    def display(data, raw, display_id):
        outputs.append([data["text/plain"]])
        update = lambda data, raw: outputs[-1].append(data["text/plain"])  # noqa: E731
        return types.SimpleNamespace(update=update)

    shell.get_ipython, pages.display = object, display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", pages)
    monkeypatch.setattr(sys, "stderr", Ours())
    line = ProgressLine()
    for done in (1, 2, 2):  # two runs
        line(done, 2)
    assert outputs == [["1 of 2 rows", "2 of 2 rows"], ["2 of 2 rows"]]
    assert sys.stderr.getvalue() == ""


def test_a_run_tells_its_events_to_the_loggers_of_python(caplog, capfd, folder):
    caplog.set_level("INFO", "certreg")
    rows = rows_of(undefined(0, 1.5), X[:30], batch=0, noise_id=100, resume="r.sqlite")
    events = [record.certreg for record in caplog.records]
    counts = [event["done"] for event in events if event["event"] == "progress"]
    assert counts[0] == 0 and counts[-1] == 30 and counts == sorted(set(counts))
    failed = [event["row"] - 100 for event in events if event["event"] == "failed"]
    assert failed and failed == [row for row, _ in rows.errors]
    assert events[-1]["resume"] == "r.sqlite" and events[-1]["failed"] == len(failed)
    caplog.clear()
    with pytest.raises(certreg.RowsError):
        rows_of(raising(3, OSError("no")), X[:3], resume="r/")
    assert caplog.records[-1].certreg["event"] == "stopped"
    assert sum(record.certreg["event"] == "progress" for record in caplog.records) < 4
    assert capfd.readouterr() == ("", "")


@parametrize("name", "tabular", "image", "loop")
def test_examples_are_kept_short_and_without_results(name):
    path = notebooks.FOLDER / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    assert text == notebooks.kept(text), "make format lays out notebooks, without results"
    assert text.count("\n") <= 200
    cells = json.loads(text)["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            compile(source, cell["id"], "exec")  # which a magic is not
        else:
            assert cell["cell_type"] == "markdown"
            for link in re.findall(r"\]\(([^)#]+)", source):
                assert (path.parent / link).exists(), link
