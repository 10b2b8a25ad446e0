"""How much longer radii are with the second order (theory 8): asymptotic certificates of turned
digits with mean, variance, gradient and range, and with the second order as well.

    CERTREG_MNIST=... make bench-second-order"""

from page import show
from certreg import Constraint, Constraints, Question, certify_rows
from reproduce import rotation
from reproduce.digits import load
from reproduce.settings import read

IMAGES, SAMPLES, SIGMAS = 12, 10_000, (0.25, 0.5, 0.75)
FIRST = Constraint(Constraints.ECGM)
KINDS = {"mean": {"statistic": "mean"}, "Huber": {"statistic": "huber", "huber_width": 5}}


def questions():
    """The gradient alone, and with the second order, of each statistic."""
    return [
        Question(rotation.TOLERANCE, alpha=0.1, method="asymptotic", constraints=known, **kind)
        for kind in KINDS.values()
        for known in (FIRST, FIRST | Constraint.SECOND_ORDER)
    ]


def main():
    settings = read()
    task = rotation.task("rotation", load(settings.mnist, IMAGES))
    lines = []
    for k, sigma in enumerate(SIGMAS):
        rows = certify_rows(
            task.model,
            task.inputs,
            sigma,
            questions(),
            samples=SAMPLES,
            **task.output,
            constraints=FIRST | Constraint.SECOND_ORDER,
            seed=42,
            noise_id=k * IMAGES,
            jobs=settings.jobs,
            progress=False,
        )
        line = [f"{sigma:g}"]
        means = rows["radius"][:, 0].mean(0)
        for first, second in zip(means[::2], means[1::2]):
            line += [f"{first:.3f}", f"{second:.3f}", f"{100 * (second / first - 1):+.1f}%"]
        lines.append(line)
    heading = (part for name in KINDS for part in (f"{name}: gradient", "+ second order", "gain"))
    show("second-order", ["σ", *heading], *lines, keep=bool(settings.mnist))


if __name__ == "__main__":
    main()
