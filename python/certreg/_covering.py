"""Certifies one input with all its alternatives (theory 1.11): a record for each, the least of
their radii, targets that end early, and cells that are divided."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Sequence, TypeAlias

import numpy as np

from . import _structs as S
from .alternatives import MOST, Alternatives, Cell
from .constants import NO_PILOT, Center, Method, Outcome, Reason, Statistic, Status, Stop
from .errors import CertregError
from .questions import GROWTH, Question, Target, divided, question_digest, structs_of
from .results import refused_certificate

if TYPE_CHECKING:
    from ._worker import Sampling
    from .estimator import Estimator

FIRST_ID = 1 << 63  # rows have smaller noise ids
NUMBER_BITS = 20  # of the nodes of a row
MOST_ROW = 1 << 43  # noise ids of rows are below
TYPICAL = 0.6  # of the longest radius that a number of samples allows, when cells are chosen
MOST_PILOT = 64  # samples before the tests of a target
OF_AN_INPUT = (Status.NOT_FINITE, Status.OUT_OF_RANGE)  # failures of one input
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Found:
    """What a row with alternatives has beside its certificates, at one sigma."""

    count: int  # alternatives, no change included if it is one
    calls: int  # rows of the model
    limiting: tuple[str, ...]  # for each question the alternative that limits its radius
    proved: int  # alternatives before the first one that failed
    names: tuple[str, ...]  # the alternatives in their order, without divisions


class RowRefused(ValueError):
    """A row that cannot have these alternatives; other rows may."""


def noise_id_of(row: int, number: int) -> int:
    """The noise id of a node of a row: different for different pairs, and for all rows."""
    assert 0 <= row < MOST_ROW and 0 <= number < 1 << NUMBER_BITS
    return FIRST_ID + (row << NUMBER_BITS) + number


def check_questions(questions: Sequence[Question]) -> None:
    """Raises ValueError for questions that have no alternatives (theory 1.11)."""
    for question in questions:
        if isinstance(question.tolerance, tuple):
            raise ValueError(
                "alternatives take one tolerance for all rows: certify rows of one tolerance "
                "together, or give a percentage of the prediction"
            )
        if question.center != Center.PREDICTION:
            raise ValueError(
                "alternatives need center 'prediction': a statement about the true mean, or the "
                "median of all samples, is about each alternative's own value"
            )
        if question.method in (Method.PAPER, Method.BASELINE):
            raise ValueError(
                "alternatives need method 'finite', 'anytime' or 'asymptotic': the prediction and "
                "the bounds of published methods are not fixed by a pilot"
            )
    if len(questions) > 1 and any(question.target is not None for question in questions):
        raise ValueError("alternatives with a target take one question: ask them one by one")
    if any(isinstance(q.target, Target) and q.target.looks is not None for q in questions):
        raise ValueError("alternatives choose the looks of a target: leave looks out")


def pilot_for(questions: Sequence[Question], samples: int) -> int:
    """The pilot of the input itself by default, which chooses the predictions of all
    alternatives: as the library chooses it, and less before the tests of a target."""
    from .estimator import Estimator  # which imports this module

    with Estimator(None, 1, samples) as estimator:
        estimator.begin([0.0], 1.0)
        pilot = estimator.info().pilot
    return min(pilot, MOST_PILOT) if questions[0].target is not None else pilot


def check_plan(
    sets: Alternatives, questions: Sequence[Question], sampling: Sampling, z: np.ndarray
) -> None:
    """Raises ValueError if the alternatives of the first row cannot be certified, before the model
    is called."""
    asked = divided(questions, len(sampling.sigmas))
    covering = Covering(sets, None, None, asked, sampling.samples)
    pilot = 0 if sampling.pilot == NO_PILOT else sampling.pilot
    try:
        for sigma in sampling.sigmas:
            covering.roots(z.reshape(-1), sigma, pilot)
    except ValueError as error:
        raise ValueError(f"row 0: {error}") from error


def pilot_of_others(questions: Sequence[Question], kind: np.ndarray | None, pilot: int) -> int:
    """The pilot of changed inputs: none if it would choose nothing."""
    alone = all(q.statistic == Statistic.MEDIAN and not q.is_vector for q in questions)
    exact = all(q.method in (Method.FINITE, Method.ANYTIME) for q in questions)
    return NO_PILOT if alone and exact and (kind is None or not np.any(kind)) else pilot


def least_samples(alpha: float, ratio: float) -> int:
    """The main samples that prove a radius of `ratio` sigmas for a median without failures."""
    miss = _NORMAL.cdf(-ratio)
    return math.ceil(math.log(alpha) / math.log1p(-miss) * (1 - 1e-12)) if miss > 0 else 1 << 62


def _longest(alpha: float, samples: float) -> float:
    """The longest radius of a median in sigmas, without failures."""
    return _NORMAL.inv_cdf(min(max(alpha ** (1 / max(samples, 1e-3)), 1e-9), 1 - 1e-12))


def _looks(alpha: float, ratio: float, most: int) -> list[int]:
    """Numbers of main samples at which a target is tested."""
    looks, at = [], least_samples(alpha / 3, ratio)
    while at < most:
        looks.append(at)
        at = math.ceil(GROWTH * at)
    return [*looks, most]


_Least: TypeAlias = "tuple[float, str, S.Certificate | None]"  # radius, name, certificate


class _Node(NamedTuple):
    """A node of the tree of cells."""

    cell: Cell
    root: int
    depth: int
    path: int

    def halves(self) -> list["_Node"]:
        """Its children."""
        return [
            _Node(cell, self.root, self.depth + 1, 2 * self.path + i)
            for i, cell in enumerate(self.cell.halves())
        ]

    def number(self, roots: int) -> int:
        """A number of its own among all nodes of the row."""
        return roots * ((1 << self.depth) - 1) + (self.root << self.depth) + self.path


def share_at(depth: int, divisions: int) -> float:
    """The share of alpha at this depth; over all depths they add up to 1."""
    return 0.5 ** min(depth + 1, divisions) if divisions else 1.0


class Covering:
    """Certifies inputs with their alternatives.

    nominal     the estimator for the input itself, with a pilot
    others      the estimator for changed inputs; without a pilot, if the questions allow it
    questions   with alpha divided by everything else that has to hold together
    samples     most rows of the model for an input at one sigma"""

    def __init__(
        self, alternatives: Alternatives, nominal: Estimator | None, others: Estimator | None,
        questions: Sequence[Question], samples: int,
    ) -> None:  # fmt: skip
        check_questions(questions)
        self.alternatives, self._nominal, self._others = alternatives, nominal, others
        self.questions, self.samples = list(questions), samples
        self.alpha = min((q.alpha or 0.05) / max(1, q.bonferroni) for q in questions)
        target = questions[0].target
        self.target = target.radius if isinstance(target, Target) else float(target or 0.0)

    def certify(
        self, z: np.ndarray, sigma: float, row: int, level: int
    ) -> tuple[list[S.Certificate], Found]:
        """A certificate for each question about an input, float32 and flat. Raises CertregError or
        RowRefused if an alternative cannot be used, and passes on exceptions of the model."""
        assert self._nominal is not None and self._others is not None
        work = _Work(self, self._nominal, self._others, z, sigma, row, level)
        work.certify_all()
        names = tuple(cell.name for cell in work.roots)
        limiting = tuple(name for _, name, _ in work.least)
        return work.certificates(), Found(len(names), work.calls, limiting, work.proved, names)

    # ---- cells and their samples
    def roots(self, z: np.ndarray, sigma: float, pilot: int) -> list[Cell]:
        """The alternatives: the input itself first, unless a family covers it; then finite ones,
        and cells of families. Raises ValueError if they take more samples than there are."""
        roots, covers = self.alternatives.of(z)
        if not any(cover.has_none for cover in covers):
            roots.insert(0, Cell("no change", z))
        finite, left = len(roots), self.samples - pilot - 1
        for cover in covers:
            best, cells, worse = -math.inf, list[Cell](), 0
            for some in cover.partitions():
                each = left / (finite + len(covers) * len(some))
                value = self._value(some, sigma, each)
                worse += 1
                if value > best:
                    best, cells, worse = value, some, 0
                if worse > 3 or each < 1:
                    break
            if not cells:
                raise ValueError(f"a family has more than {MOST} cells: give a smaller one")
            roots += cells
        if len(roots) > MOST:
            raise ValueError(f"the set has {len(roots)} alternatives; at most {MOST} are possible")
        own = [cell for cell in roots if cell.is_about(z)][:1]
        roots = own + [cell for cell in roots if cell not in own]
        self._check_size(roots, sigma, pilot + 1)
        return roots

    def alpha_at(self, cell: Cell, depth: int = 0) -> float:
        """The level of a cell at this depth; over all depths they add up to alpha."""
        return self.alpha * share_at(depth, cell.divisions)

    def _value(self, cells: Sequence[Cell], sigma: float, samples: float) -> float:
        """The quality of a partition: minus the calls for a target, or the typical radius that is
        left of the one with these samples."""
        if self.target:
            return -float(sum(self.least_for(cell, sigma, self.target) for cell in cells))
        longest = TYPICAL * sigma * _longest(self.alpha_at(cells[0]), samples)
        return longest - max(cell.margin for cell in cells)

    def least_for(self, cell: Cell, sigma: float, radius: float, depth: int = 0) -> int:
        """The main samples that prove a radius around a cell without failures."""
        return least_samples(self.alpha_at(cell, depth), (cell.margin + radius) / sigma)

    def _check_size(self, roots: Sequence[Cell], sigma: float, begun: int) -> None:
        goal = self.target or sigma / 4
        to_prove = begun + sum(self.least_for(cell, sigma, goal) for cell in roots)
        radii = begun + len(roots) * max(self.least_for(cell, sigma, 0.0) for cell in roots)
        if (to_prove if self.target else radii) <= self.samples:
            return
        margin = max(cell.margin for cell in roots)
        beyond = f" with margins up to {margin:.3g}" if margin else ""
        need = "" if self.target else f"radii take at least {_calls(radii)}, and "
        raise ValueError(
            f"samples is {self.samples}, too few for {len(roots)} alternatives{beyond}: {need}"
            f"a target of {goal:.3g} takes {_calls(to_prove)} if none fails"
        )


class _Work:
    """One input at one sigma."""

    def __init__(
        self, of: Covering, nominal: Estimator, others: Estimator,
        z: np.ndarray, sigma: float, row: int, level: int,
    ) -> None:  # fmt: skip
        self.of, self.nominal, self.others = of, nominal, others
        self.z, self.sigma, self.row, self.level = z, sigma, row, level
        self.calls = self.proved = 0
        self.base = _empty(len(of.questions))  # certificates of the input itself
        self.least: list[_Least] = [(math.inf, "", None)] * len(of.questions)
        self._sample_pilot()
        try:
            self.roots = of.roots(z, sigma, self.pilot)
        except ValueError as error:
            raise RowRefused(str(error)) from error
        if not self.roots[0].is_about(z):  # a family covers it
            about_it = [self._about(q, p, 1.0, None) for q, p in self._asked()]
            nominal._certify_into(self.pilot + 1, structs_of(about_it), None, self.base[0])
            self.calls += 1

    def _sample_pilot(self) -> None:
        """Samples the pilot of the input itself, which chooses the predictions."""
        e = self.nominal
        self._begin(e, Cell("no change", self.z), self.row)
        e.sample(0, 1)  # fixes the size of the pilot
        self.pilot = e.info().pilot
        if self.pilot + 1 >= self.of.samples:
            raise RowRefused(f"samples is {self.of.samples}, and the pilot alone is {self.pilot}")
        e.sample(0, max(1, self.pilot))
        self.calls += self.pilot
        self.predictions = [e.prediction(q) for q in self.of.questions]
        for q, found in zip(self.of.questions, self.predictions):
            if not np.all(np.isfinite(found)) or q.relative_tolerance and not np.any(found):
                raise RowRefused(f"the prediction is {found}, from which no tolerance is measured")

    def _begin(self, e: Estimator, cell: Cell, noise_id: int) -> None:
        """Begins an input. Raises RowRefused if the library refuses it."""
        z = cell.z
        try:
            if e._categorical:
                e._categorical.check(z)
        except ValueError as error:
            raise RowRefused(f"{cell.name}: {error}") from error
        try:
            e._begin(z, self.sigma, noise_id, self.level)
            e._missing[0].check()
        except CertregError as error:
            if error.status != Status.INVALID:
                raise
            raise RowRefused(f"{cell.name}: {error}") from error

    # ---- records
    def certify_all(self) -> None:
        """Certifies the alternatives until nothing more can be claimed."""
        nodes = [_Node(cell, root, 0, 0) for root, cell in enumerate(self.roots)]
        self._prove_all(nodes) if self.of.target else self._certify_radii(nodes)

    def _certify_radii(self, nodes: list[_Node]) -> None:
        main = (self.of.samples - self.calls) // len(nodes)
        if any(node.cell.divisions for node in nodes):  # a third is for divisions
            least = max(self.of.least_for(node.cell, self.sigma, 0.0) for node in nodes)
            main = min(main, max(main * 2 // 3, least))
        leaves: dict[_Node, list[_Least]] = {}
        for node in nodes:
            leaves[node] = self._certified(node, [main])
            positive = any(radius > 0 for radius, _, _ in leaves[node])
            self.proved += positive and self.proved == len(leaves) - 1
            if not positive and not node.cell.divisions:
                break
        complete = len(leaves) == len(nodes)
        while complete and self.calls + 2 * main <= self.of.samples:
            worst = min(leaves, key=lambda node: leaves[node][0][0])
            if worst.depth >= worst.cell.divisions:
                break
            del leaves[worst]
            leaves.update((half, self._certified(half, [main])) for half in worst.halves())
        for found in leaves.values():
            self.least = [min(a, b, key=_radius_of) for a, b in zip(self.least, found)]
        if not complete:
            self.least = [(min(radius, 0.0), name, c) for radius, name, c in self.least]

    def _prove_all(self, nodes: list[_Node]) -> None:
        left = [self.of.least_for(node.cell, self.sigma, self.of.target) for node in nodes]
        for i, node in enumerate(nodes):
            if not self._proves(node, sum(left[i + 1 :])):
                self.least = [(0.0, node.cell.name, None)]
                return
            self.proved += 1

    def _proves(self, node: _Node, later: int) -> bool:
        """Whether the target is proved in a cell, or in both of its halves. `later` samples are
        kept for other cells."""
        goal, of = self.of.target, self.of
        least = of.least_for(node.cell, self.sigma, goal, node.depth)
        slack = of.samples - self.calls - later - least
        if slack < 0:
            return False
        alpha, ratio = of.alpha_at(node.cell, node.depth), (node.cell.margin + goal) / self.sigma
        looks = _looks(alpha, ratio, least + min(slack // 2, 10 * least + 50))
        found = self._certified(node, looks)
        if found[0][0] >= goal:
            self.least = [min(self.least[0], found[0], key=_radius_of)]
            return True
        halves = node.halves() if node.depth < node.cell.divisions else []
        return bool(halves) and all(self._proves(half, later) for half in halves)

    def _certified(self, node: _Node, looks: Sequence[int]) -> list[_Least]:
        """The radius that is left of each certificate of a node, after these main samples."""
        cell, own = node.cell, node.cell.is_about(self.z) and node[1:] == (0, 0, 0)
        e, pilot = (self.nominal, self.pilot) if own else (self.others, 0)
        found = _empty(len(self.base))
        try:
            if not own:  # else the record has its pilot
                self._begin(e, cell, noise_id_of(self.row, node.number(len(self.roots))))
                if self.of.target:
                    e.sample(0, 1)
                    pilot = e.info().pilot
            goal = math.nextafter(cell.margin + self.of.target, math.inf)
            ends = [pilot + count for count in looks]
            target = Target(goal, ends) if self.of.target else None
            share = share_at(node.depth, cell.divisions)
            structs = structs_of([self._about(q, p, share, target) for q, p in self._asked()])
            for end in ends:
                e._certify_into(end, structs, None, found[0])
                if self.of.target and (found[0].radius >= goal or found[0].stop == Stop.HOPELESS):
                    break
        except CertregError as error:
            if error.status not in OF_AN_INPUT:
                raise
            raise CertregError(error.status, text=f"{cell.name}: {error}") from error
        self.calls += found[0].samples - (self.pilot if own else 0)
        if own:
            self.base = found
            for c in found:
                c.alpha /= share  # a power of two: over all depths it is the question's
        return [(_left(c.radius, cell.margin), cell.name, c) for c in found]

    def _asked(self) -> Iterator[tuple[Question, Any]]:
        """The questions, each with the prediction from the pilot."""
        return zip(self.of.questions, self.predictions)

    def _about(self, q: Question, prediction: Any, share: float, target: Target | None) -> Question:
        """A question with the prediction from the pilot, at a share of its level."""
        given = prediction if np.ndim(prediction) == 0 else tuple(prediction.tolist())
        return replace(q, prediction=given, alpha=(q.alpha or 0.05) * share, target=target)

    def certificates(self) -> list[S.Certificate]:
        """The certificate of each question, about the input and all alternatives."""
        return [
            self._joined(S.Certificate.from_buffer_copy(bytes(base)), question_digest(q), *least)
            for q, base, least in zip(self.of.questions, self.base, self.least)
        ]

    def _joined(
        self, base: S.Certificate, digest: int, radius: float, _: str,
        limiting: S.Certificate | None,
    ) -> S.Certificate:  # fmt: skip
        base.question_digest, base.samples, base.stop = digest, self.calls, int(Stop.ALL)
        why = limiting or S.Certificate(reason=Reason.TARGET)
        base.reason, base.share_out = why.reason, why.share_out
        base.share_allowed = why.share_allowed
        base.samples_needed = 0  # of one record, and this certificate is about several
        if limiting is None or not radius > 0:
            base.stop = int(Stop.HOPELESS if self.of.target else Stop.ALL)
            base.outcome, base.limiting_side = int(Outcome.ABSTAINED), 0
            base.radius = base.radius_l1 = base.radius_l2 = base.radius_linf = 0.0
            base.output_lo, base.output_hi = -math.inf, math.inf
            return base
        whole = radius == limiting.radius
        base.stop = int(Stop.TARGET if self.of.target else Stop.ALL)
        base.outcome = limiting.outcome if whole else int(Outcome.CERTIFIED)
        base.radius, base.limiting_side = radius, limiting.limiting_side
        base.output_lo, base.output_hi = limiting.output_lo, limiting.output_hi
        part = 1.0 if whole else radius / limiting.radius * (1 - 2**-50)
        for name in ("radius_l1", "radius_l2", "radius_linf"):
            setattr(base, name, getattr(limiting, name) * part)
        return base


def _empty(count: int) -> Any:
    """Certificates that claim nothing, as an array of structs."""
    return (S.Certificate * count)(*[refused_certificate()] * count)


def _left(radius: float, margin: float) -> float:
    """A radius without a margin, rounded down."""
    return radius if not margin else math.nextafter(radius - margin, -math.inf)


def _radius_of(least: _Least) -> float:
    return least[0]


def _calls(count: int) -> str:
    return f"{count} samples" if count < 1 << 50 else "more samples than any computer draws"
