"""The notebooks of examples run, each in a kernel of its own, and what they say is so."""

import re

import pytest

from kit import environment, package, parametrize, root

nbformat, nbclient = package("nbformat"), package("nbclient")
package("ipykernel")
BEFORE = """
import certreg, kit
(drawn := kit.drawn_from(1)).__enter__()
certreg.Estimator.set_deadline = lambda *_: None  # this machine may be busy
def smoothed(model, z, sigma, inputs, question, **more):
    with certreg.Estimator(model, inputs, 4000, pilot=certreg.NO_PILOT, **more) as e:
        e.begin(z, sigma)
        e.sample(0, 4000)
        return e.estimate(question)
"""
CLAIMS = {
    "tabular": """
assert not tried.errors and not rows.errors and promised.radius.mean() < rows.radius.mean()
which = int(rows.radius.argmin())
patient, told = X_new.iloc[[which]], rows.certificate(which)
assert told.radius > 0.5
for column, width in zip(X_new, scale):
    for step in (-told.radius * width, told.radius * width) if width else ():
        wrong = patient.assign(**{column: patient[column] + 0.99 * step})
        assert abs(smoothed(model, wrong, sigma, X_new, 40, scale=scale) - told.prediction) < 40
assert hits >= 0.9 * len(found)
""",
    "image": """
assert rows.label_errors(truth).mean() < 10 and (rows.radius > 0.1).all()
assert found.broken and 0 < found.certified_radius < found.radius
answer = smoothed(model, z + found.shift, 0.35, 784, Question(10), **degrees)
assert abs((answer - found.prediction + 180) % 360 - 180) > 10
assert helped.helps and helped.gain > 1.2
""",
    "loop": """
noise = random.normal(size=(20001, 3)) * 2 * error
for *state, wanted, within, why in log:
    assert abs(np.median(policy(np.array(state) + noise)) - wanted) < within + 0.02, (state, why)
kept = [why for *_, why in log].count("kept")
creeps = [line[0] for line in log if line[-1] == "creeping"]
assert kept > 200 and creeps and all(1.4 < distance < 2.6 for distance in creeps)
assert 0 < log[-1][0] < 0.6 and abs(log[-1][1]) < 0.2  # near the ramp, and slow
""",
}


@parametrize("name", *CLAIMS)
def test_a_notebook_runs_and_its_claims_hold(name, tmp_path, monkeypatch):
    for variable in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    folder = root / "examples/notebooks"
    book = nbformat.read(folder / f"{name}.ipynb", 4)
    nbformat.validate(book)
    before, claims = map(nbformat.v4.new_code_cell, (BEFORE, CLAIMS[name]))
    book.cells = [before, *book.cells, claims]
    there = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(book, timeout=None, resources=there)
    client.execute(env=environment(root / "tests/python"))
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert {"text/html", "image/png"} <= {kind for one in shown for kind in one.get("data", [])}
    said = "".join(one.text for one in shown if one.get("name") == "stderr")
    assert re.sub(r"\d+ of \d+ rows[\r\n]", "", said) == ""
    if name == "tabular":
        page = (root / "docs/guide/units.md").read_text(encoding="utf-8")
        told = page.partition(":\n\n    ")[2].partition("\n\n")[0]
        (printed,) = (cell.outputs[0].text for cell in book.cells if cell.get("id") == "units")
        number = r"\d+(?:\.\d+)?"
        assert re.sub(number, "", told).split() == re.sub(number, "", printed).split()
        for one, other in zip(*(re.findall(number, text) for text in (told, printed))):
            rows = 0 if "." in one else 6  # the seed of the notebook is random
            assert float(one) == pytest.approx(float(other), rel=0.2, abs=rows)
