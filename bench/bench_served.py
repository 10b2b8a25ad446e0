"""What serving takes of the radius, from independent noise and from pairs of opposite noise: 100
turned digits, the network `rotation`, α = 0.1, with the noise of `make reproduce`.

    CERTREG_MNIST=... make bench-served"""

from page import show
from certreg import Question, Serving, certify_rows
from reproduce import methods, rotation, sweep
from reproduce.digits import load
from reproduce.settings import FULL, SEED, read

IMAGES, SAMPLES, SIGMA, ALPHA = 100, 10_000, 0.35, 0.1
SERVED = ((51, 0.01), (101, 0.01), (501, 0.01), (1001, 0.01), (101, 0.1), (501, 0.1))


def questions():
    """Without serving, α-smoothing, and each way to serve in both modes."""
    yield Question(rotation.TOLERANCE, alpha=ALPHA)
    yield methods.ALPHA_EASY.make(rotation.TOLERANCE, ALPHA)
    for served in SERVED:
        for pairs in (False, True):
            yield Question(rotation.TOLERANCE, alpha=ALPHA, serving=Serving(*served, pairs=pairs))


def main():
    settings = read()
    task = rotation.task("rotation", load(settings.mnist, IMAGES))
    first = sweep.noise_id(FULL.sigmas.index(SIGMA), 0, IMAGES)
    given = dict(samples=SAMPLES, seed=SEED, **task.output)
    more = dict(noise_id=first, jobs=settings.jobs, progress=False)
    found = certify_rows(task.model, task.inputs, SIGMA, list(questions()), **given, **more)
    if found.errors:
        raise SystemExit(next(iter(found.errors.values())))
    median, smoothing, *radii = found["radius"][:, 0].mean(0)
    lines = [("α-smoothing, 500", 0.1, f"{smoothing:.3f}", "")]
    for (count, rate), alone, pairs in zip(SERVED, radii[::2], radii[1::2]):
        lines.append((f"median, {count:,}", rate, f"{alone:.3f}", f"{pairs:.3f}"))
    lines.append(("median, not served", "", f"{median:.3f}", ""))
    head = ("served, calls a request", "failure rate", "independent noise", "pairs")
    show("served", head, *lines, keep=bool(settings.mnist))


if __name__ == "__main__":
    main()
