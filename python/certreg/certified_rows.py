"""What certify_rows returns."""

from __future__ import annotations

import dataclasses
import enum
import html
import math
from typing import Any, Optional, Tuple

import numpy as np

from . import _structs as S
from ._arrays import check_finite, numbers
from ._optional import needed
from ._tables import HtmlTable, aligned
from ._worker import CERTIFICATE, FIELDS, Record, Sampling
from .results import Certificate, chosen_sigma
from ._arguments import enum_value, not_negative
from .constants import Domain, Outcome
from .frames import in_order
from .names import noise_on
from .plots import plot_accuracy, plot_radii
from .questions import Question


@dataclasses.dataclass
class Rows(HtmlTable):
    """The certificates of many inputs. rows[10:20], rows[rows.radius > 0.1] and rows[[4, 2]] are
    those of some of them.

    certificates  structured array of shape (rows, sigmas, questions), with the fields of
                  certreg_certificate. rows["radius"] is short for rows.certificates["radius"]
    done          (rows,) of bool: whether a row is done. The others claim nothing
    errors        a sentence for each failure, by (row, index of sigma)
    sampling      the arguments that determine the samples: sigmas, samples, seed and so on
    questions     the questions in the order in which they were given
    at_radius     the radius of output bounds; None if radii were computed
    index, columns   of the DataFrame of the inputs, columns as texts; None for an array
    numbers       which row of X each is, (rows,)
    domain, model_id, resume    as they were given
    records       of keep_records without a resume file: for each row that is done and sigma a
                  record, whose outputs(n) are those of all samples for a model with n outputs"""

    certificates: np.ndarray
    done: np.ndarray
    errors: dict[Tuple[int, int], str]
    sampling: Sampling
    questions: Tuple[Question, ...]
    at_radius: Optional[float] = None
    domain: Domain = Domain.CERTIFY
    model_id: str = ""
    resume: Optional[str] = None
    records: list[Record] = dataclasses.field(default_factory=list)
    index: Any = None
    numbers: Any = None
    columns: Any = None

    def __post_init__(self) -> None:
        if self.numbers is None:
            self.numbers = np.arange(len(self))

    @property
    def sigmas(self) -> Tuple[float, ...]:
        """The noise levels."""
        return self.sampling.sigmas

    @property
    def samples(self) -> int:
        """The number of samples of each row at each sigma, pilot included."""
        return self.sampling.samples

    @property
    def seed(self) -> int:
        """The seed of the noise. Keep it secret: it is enough to draw the noise again."""
        return self.sampling.seed

    @property
    def radius(self) -> np.ndarray:
        """The radius of each row, (rows,), if there is one sigma and one question; otherwise
        rows["radius"], (rows, sigmas, questions). 0 where nothing is certified."""
        radii: np.ndarray = self["radius"]
        return radii[:, 0, 0] if radii.shape[1:] == (1, 1) else radii

    def __len__(self) -> int:
        return len(self.certificates)

    __iter__: None = None  # over what? Without this, Python would ask for the field 0

    def __getitem__(self, field: Any) -> Any:
        if isinstance(field, (slice, list)) or np.ndim(field):
            return self._some(np.arange(len(self))[field])
        if field not in (CERTIFICATE.names or ()):
            raise KeyError(
                f"there is no field {field!r}; give one of {', '.join(FIELDS)} "
                "(certificate(row) returns one certificate)"
            )
        values: np.ndarray = self.certificates[field]
        return values

    def _some(self, which: np.ndarray) -> "Rows":
        """The rows at these places. Their records stay with all rows, of which `sampling` is."""
        places = [(i, row, k) for i, row in enumerate(which) for k in range(len(self.sigmas))]
        errors = {(i, k): self.errors[row, k] for i, row, k in places if (row, k) in self.errors}
        index = None if self.index is None else self.index.take(which)
        more = {name: getattr(self, name)[which] for name in ("certificates", "done", "numbers")}
        return dataclasses.replace(
            self, errors=errors, index=index, records=[], resume=None, **more
        )

    def certificate(self, row: int, question: int = 0, sigma: int = 0) -> Certificate:
        """One certificate. `row`, `question` and `sigma` are indices. Raises IndexError if there is
        none."""
        at = (("row", row), ("sigma", sigma), ("question", question))
        for (name, index), count in zip(at, self.certificates.shape):
            _check_index(name, index, count)
        one = self.certificates[row, sigma, question]
        return Certificate._of(S.Certificate.from_buffer_copy(one.tobytes()))

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each row that is done, sigma and question. It has "row", "sigma", "question"
        (an index), the fields of the certificate with the names of enum members in lower case but
        without digests, and "error", which is empty if nothing failed."""
        names = [name for name in FIELDS if name not in ("sigma", "question", "input")]
        list_ = []
        for row in np.flatnonzero(self.done).tolist():
            number = int(self.numbers[row])
            for k, answers in enumerate(self.certificates[row][names].tolist()):
                for q, values in enumerate(answers):
                    said: dict[str, Any] = {"row": number, "sigma": self.sigmas[k], "question": q}
                    said.update((n, _word(n, value)) for n, value in zip(names, values))
                    said["error"] = self.errors.get((row, k), "")
                    list_.append(said)
        return list_

    def to_frame(self) -> Any:
        """to_dicts as a pandas DataFrame, with the index of the inputs if they were one. Raises
        ImportError if pandas is missing."""
        frame = needed("pandas", "to_frame").DataFrame(self.to_dicts())
        if self.index is not None:
            each = np.prod(self.certificates.shape[1:], dtype=int)
            frame.index = self.index.take(np.repeat(np.flatnonzero(self.done), each))
        return frame

    def _table(self) -> list[dict[str, Any]]:
        return self.summary()

    def summary(self) -> list[dict[str, Any]]:
        """One dict for each sigma and question: how many of the rows that are done were certified,
        abstained or failed, and the mean and median radius. Rows that abstained or failed have
        radius 0 in them.

        Of output bounds: how many rows have two finite bounds or failed, and the median width
        between finite bounds, which is infinite if no row has them."""
        one = self._summary_of_radii if self.at_radius is None else self._summary_of_bounds
        return [one(k, q) for k in range(len(self.sigmas)) for q in range(len(self.questions))]

    def _summary_of_bounds(self, k: int, q: int) -> dict[str, Any]:
        answers = self.certificates[self.done, k, q]
        widths = answers["output_hi"] - answers["output_lo"]
        finite = widths[np.isfinite(widths)]
        return {
            "sigma": self.sigmas[k],
            "question": q,
            "statistic": _word("statistic", self.questions[q].statistic),
            "radius": self.at_radius,
            "rows": len(answers),
            "bounded": len(finite),
            "failed": int(np.sum(answers["status"] != 0)),
            "median_width": float(np.median(finite)) if len(finite) else math.inf,
        }

    def _summary_of_radii(self, k: int, q: int) -> dict[str, Any]:
        asked, answers = self.questions[q], self.certificates[self.done, k, q]
        radii, failed = answers["radius"], answers["status"] != 0
        abstained = ~failed & (answers["outcome"] == Outcome.ABSTAINED)
        return {
            "sigma": self.sigmas[k],
            "question": q,
            "tolerance": asked.tolerance,
            "statistic": _word("statistic", asked.statistic),
            "rows": len(answers),
            "certified": int(np.sum(radii > 0)),
            "mean_radius": float(np.mean(radii)) if len(radii) else 0.0,
            "median_radius": float(np.median(radii)) if len(radii) else 0.0,
            "abstained": int(np.sum(abstained)),
            "failed": int(np.sum(failed)),
        }

    def _note(self) -> str:
        """Which columns the radii cover, if some get no noise."""
        scale = self.sampling.scale
        if self.columns is None or np.all(scale):
            return ""
        return f"{noise_on(self.columns, scale)}, of whose changes nothing is certified"

    def __str__(self) -> str:
        return "\n".join(filter(None, [aligned(self.summary()), self._note()]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<p>{html.escape(self._note())}</p>"

    def label_errors(self, labels: Any) -> np.ndarray:
        """The distance of each prediction from the label of its row, of shape (rows, sigmas,
        questions); along the circle for angles, NaN where there is no prediction, as in rows that
        failed. `labels` are the true outputs, (rows,); a Series counts by its index if the inputs
        were a DataFrame. Raises ValueError if they are not, and for a question about several
        outputs, which has no single prediction."""
        each = [self._errors_of(q, labels) for q in range(len(self.questions))]
        return np.stack(each, axis=2)

    def _errors_of(self, q: int, labels: Any) -> np.ndarray:
        """label_errors of one question, (rows, sigmas)."""
        output = self.questions[q].output
        if self.questions[q].is_vector:
            raise ValueError(
                f"question {q} has no single prediction, so labels cannot be compared with it"
            )
        truth = labels_of(labels, len(self), self.index)
        turn = self.sampling.turn(output)
        away = np.abs(self["prediction"][:, :, q] - truth[:, None])
        errors: np.ndarray = np.minimum(away % turn, -away % turn)
        return errors

    def _check_radii(self) -> None:
        if self.at_radius is not None:
            raise ValueError("these rows are output bounds, which have no radii")

    def useful_radii(self, labels: Any) -> np.ndarray:
        """The radii of predictions that lie within the tolerance of the label, and 0 for the
        others, of shape (rows, sigmas, questions). Raises ValueError as label_errors does, and for
        output bounds."""
        self._check_radii()
        tolerances = [q.tolerance for q in self.questions]
        return np.where(self.label_errors(labels) <= tolerances, self["radius"], 0.0)

    def choose_sigma(
        self, question: int = 0, *, labels: Any = None, slack: float = 0.1
    ) -> Tuple[int, list[float], int]:
        """The index of the sigma with the greatest mean radius, the mean radius of each sigma, and
        how many rows are left out: a row that has failed at some sigma is left out at all of them,
        so that all are compared on the same rows.

        With `labels`, the true outputs, error comes first: only those sigmas are considered at
        which the mean of label_errors is at most `slack` tolerances above its least. At a large
        sigma the model may no longer depend on the input, and then radii are long but say nothing.
        Deploy this sigma on inputs that are not among these rows, and calibrate intervals with
        other points (theory 12.6). `question` is an index. Raises
        ValueError as useful_radii does, and if no row is left; TypeError or IndexError if there is
        no such question."""
        self._check_radii()
        if not isinstance(question, (int, np.integer)):
            raise TypeError("question must be an index; give labels as labels=...")
        _check_index("question", question, len(self.questions))
        slack = not_negative(slack, "slack")
        whole = self.done & (self["status"][:, :, question] == 0).all(axis=1)
        left_out = int(self.done.sum() - whole.sum())
        if not whole.any():
            raise ValueError(f"each of the {left_out} rows failed at some sigma")
        some = np.ascontiguousarray(self.certificates[whole][:, :, question])
        structs = (S.Certificate * some.size).from_buffer_copy(some.tobytes())
        level, means = chosen_sigma(structs, *some.shape)
        if labels is None:
            return level, means, left_out
        errors = np.nanmean(self._errors_of(int(question), labels)[whole], axis=0)
        accurate = errors <= np.nanmin(errors) + slack * self.questions[question].tolerance
        return int(np.argmax(np.where(accurate, means, -1.0))), means, left_out

    def plot(self, correct: Any = None, **more: Any) -> Any:
        """Plots the share of rows that are certified at each radius, with one curve for each sigma
        and question; see plot_radii. With `correct`, such as rows.label_errors(y) < 5, plots the
        certified accuracy instead; see plot_accuracy. It is bool of shape (rows, sigmas,
        questions); lengths of 1 at its end may be left out. `more` has the other arguments of these
        functions, such as path. Returns the Axes. Raises ImportError if matplotlib is missing."""
        curves = {
            f"sigma {sigma:g}{name}": (k, q)
            for k, sigma in enumerate(self.sigmas)
            for q, name in enumerate(self._names())
        }
        radii = {
            name: self.certificates["radius"][self.done, k, q] for name, (k, q) in curves.items()
        }
        if correct is None:
            return plot_radii(radii, **more)
        shape = self["radius"].shape
        right = np.asarray(in_order(correct, self.index, "correct"), bool)
        if right.shape + (1,) * (3 - right.ndim) != shape:
            raise ValueError(
                f"correct has shape {right.shape}; it must be {shape}, with True where the answer "
                "to a row is right at this sigma and question (a file is path=)"
            )
        right = right.reshape(shape)[self.done]
        accurate = {name: (radii[name], right[:, k, q]) for name, (k, q) in curves.items()}
        return plot_accuracy(accurate, **more)

    def _names(self) -> list[str]:
        """What tells the questions apart in a legend, with a number where this does not."""
        asked, names = self.questions, [""] * len(self.questions)
        if len({one.tolerance for one in asked}) > 1:
            names = [f", tolerance {one.tolerance:g}" for one in asked]
        if len({one.statistic for one in asked}) > 1:
            names = [f"{n}, {_word('statistic', q.statistic)}" for n, q in zip(names, asked)]
        return [f"{n}, question {q}" if names.count(n) > 1 else n for q, n in enumerate(names)]


def labels_of(labels: Any, count: int, index: Any = None) -> np.ndarray:
    """The true outputs of this many rows, which have this index if they were a DataFrame. Raises
    TypeError or ValueError if they are none."""
    truth = numbers(in_order(labels, index, "labels"), np.float64, "labels")
    if truth.shape != (count,):
        raise ValueError(
            f"labels has shape {truth.shape}; it must be ({count},), the true output of each row"
        )
    check_finite(truth, truth, "labels")
    return truth


def mean_error(errors: np.ndarray) -> float:
    """The mean of label errors, without the rows that have no prediction; NaN if none has one."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if known.size else math.nan


def _check_index(name: str, index: Any, count: int) -> None:
    if not isinstance(index, (int, np.integer)) or not -count <= index < count:
        raise IndexError(f"{name} is {index!r}; it must be an index from 0 to {count - 1}")


def _word(field: str, value: Any) -> Any:
    value = enum_value(field, value)
    if field == "constraints":
        return int(value)
    return value.name.lower() if isinstance(value, enum.Enum) else value
