"""What validity at every number of samples costs, how few calls prove half of a radius, and what
the attack proves with how many: 100 turned digits, the network `rotation`, α = 0.1.

    CERTREG_MNIST=... make bench-calls"""

import math

import numpy as np
from page import show
from certreg import Estimator, Question, Target, certify_rows
from reproduce import rotation
from reproduce.digits import load
from reproduce.settings import read

IMAGES, ATTACKED, SAMPLES, LIMIT, SIGMA = 100, 50, 10_000, 400, 0.5
BUDGETS = (2_000, 10_000, 30_000)
KINDS = {"median": {}, "Huber": {"statistic": "huber", "huber_width": 5}}
MEDIAN = Question(rotation.TOLERANCE, alpha=0.1)


def certified(task, jobs, questions, constraints=0):
    """Radii of all digits for each question."""
    given = dict(samples=SAMPLES, seed=42, constraints=constraints, jobs=jobs, progress=False)
    rows = certify_rows(task.model, task.inputs, SIGMA, questions, **given, **task.output)
    return rows["radius"][:, 0]


def methods(task, jobs):
    """The finite method beside the asymptotic one, which has the gradient."""
    asked = [
        Question(rotation.TOLERANCE, alpha=0.1, method=method, constraints=known, **kind)
        for kind in KINDS.values()
        for method, known in (("finite", "ECM"), ("asymptotic", "ECGM"))
    ]
    means = certified(task, jobs, asked, "ECGM").mean(0)
    for name, finite, asymptotic in zip(KINDS, means[::2], means[1::2]):
        note = f"{finite:.3f} : {asymptotic:.3f}"
        yield f"{name}, finite : asymptotic", note, finite / asymptotic


def estimator(task, **plan):
    return Estimator(task.model, 784, seed=42, **task.output, **plan)


def few_calls(task, radii):
    """Calls until half of a radius is proved; the limit where it is not."""
    calls, proved = [], 0
    with estimator(task, max_samples=LIMIT, pilot=12, batch=4) as e:
        for i in np.flatnonzero(radii > 0):
            e.begin(task.inputs[i], SIGMA, noise_id=int(i))
            half = 0.5 * float(radii[i])
            wanted = Question(rotation.TOLERANCE, alpha=0.1, target=Target(half))
            answer = e.certify(LIMIT, wanted)
            proved += answer.radius >= half
            calls.append(answer.samples if answer.radius >= half else LIMIT)
    note = f"{proved} of {len(calls)} proved by {LIMIT}"
    yield "calls that prove half of the radius, mean", note, float(np.mean(calls))


def attacks(task, radii):
    """The radius at which the prediction is proved to be out, by the certified one."""
    ratios, forecasts = {calls: [] for calls in BUDGETS}, []
    with estimator(task, max_samples=SAMPLES) as e:
        for i in np.flatnonzero(radii[:ATTACKED] > 0):
            e.begin(task.inputs[i], SIGMA, noise_id=int(i))
            e.certify(SAMPLES, MEDIAN)
            for k, calls in enumerate(BUDGETS):
                found = e.attack(MEDIAN, calls=calls, alpha=0.1, number=k)
                ratios[calls].append(found.radius / found.certified)
            forecasts.append(found.forecast / found.radius)
    for calls in BUDGETS:
        broken = [ratio for ratio in ratios[calls] if math.isfinite(ratio)]
        unbroken = len(ratios[calls]) - len(broken)
        note = f"{min(broken):.2f} to {max(broken):.2f}; {unbroken} not broken"
        yield f"broken at : certified, {calls} calls, median", note, float(np.median(ratios[calls]))
    note = f"{min(forecasts):.2f} to {max(forecasts):.2f}"
    yield "forecast : broken at, 30,000 calls, median", note, float(np.median(forecasts))


def main():
    settings = read()
    task = rotation.task("rotation", load(settings.mnist, IMAGES))
    radii = certified(task, settings.jobs, [MEDIAN])[:, 0]
    found = [*methods(task, settings.jobs), *few_calls(task, radii), *attacks(task, radii)]
    lines = [(what, note, f"{value:.3g}") for what, note, value in found]
    show("calls", ["σ = 0.5", "", ""], *lines, keep=bool(settings.mnist))


if __name__ == "__main__":
    main()
