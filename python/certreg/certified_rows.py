"""The result of certify_rows."""

from __future__ import annotations

import dataclasses
import enum
import html
import math
import warnings
from typing import Any, Iterator, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _structs as S
from ._arguments import enum_value, not_negative, path_of
from ._arrays import check_finite, numbers
from ._library import version
from ._optional import needed
from ._remarks import abstention_remarks, ceiling_remarks, exact_features, failure_remark
from ._remarks import missing_remark, named, noise_remark, output_remark, premise_remark
from ._remarks import unbounded_remarks
from ._rows_file import read_rows, save_rows
from ._tables import HtmlTable, aligned
from ._texts import printable
from ._types import Axes, Frame, Inputs, Line, Names, Path, Table
from ._worker import ADDED, CERTIFICATE, FIELDS, Record, Sampling, claims_of
from .alternatives import Found
from .bands import population
from .constants import Domain, Outcome, version_text
from .frames import Index, in_order
from .plots import curve_of, plot_accuracy, plot_error, plot_radii
from .questions import Question, stated_tolerance, tolerance_text, typical_tolerance
from .results import Certificate, SigmaChoice, chosen_sigma


@dataclasses.dataclass
class Rows(HtmlTable):
    """The certificates of many inputs.

    ``rows["radius"]`` is short for ``rows.certificates["radius"]``. ``rows[10:20]``,
    ``rows[rows.radius > 0.1]`` and ``rows[[4, 2]]`` are Rows of some inputs.

    Attributes
    ----------
    certificates : ndarray
        Structured array of shape (rows, sigmas, questions), with the fields of Certificate.
    done : ndarray
        True for finished rows, (rows,); unfinished rows claim nothing.
    errors : dict
        A text for each failure, by (row, index of sigma).
    sampling : Sampling
        The arguments that determine the samples: sigmas, samples, seed and so on.
    questions : tuple of Question
        The questions in their order.
    at_radius : float or None
        The radius of output bounds; None if radii were computed.
    domain, model_id, resume
        As they were given.
    records : list
        With keep_records and without a resume file: a record for each finished row and sigma, and
        for each alternative (`number`, 0 for the row itself, `depth` and `path`);
        ``outputs(n)`` of a record has the outputs of all samples for a model with n outputs.
    index, columns
        Index and columns of the DataFrame of the inputs, columns as texts; None for an array.
    numbers : ndarray
        The index in X of each row, (rows,).
    missing : ndarray or None
        True for each missing cell in a feature that gets noise, (rows, features); None if there is
        none. A certificate is about inputs with the same cells missing.
    made : str
        What was computed from some of these rows: "the scale", by "std" or "iqr", "the denoiser",
        "the set of alternatives", by "any", or nothing.
    doubt : str
        The text of the ModelWarning of this call; empty without one.
    alternatives : dict
        For rows with alternatives, by (row, index of sigma): `count` of alternatives, `calls`, the
        `limiting` alternative for each question, `proved`, with a target the number before the
        first one that failed, their `names`, and for each question their `estimates`, without a
        guarantee. Experimental.
    certreg : str
        Version of the library that made the certificates, also in rows of a file.

    Examples
    --------
    >>> model = lambda x: x[:, 0]
    >>> rows = certreg.certify_rows(model, [[1.0], [2.0]], 0.25, 0.5, seed=1, progress=False)
    >>> rows.certificate(0).certified, len(rows[rows.radius > 9])
    (True, 0)"""

    certificates: np.ndarray
    done: np.ndarray
    errors: dict[tuple[int, int], str]
    sampling: Sampling
    questions: tuple[Question, ...]
    at_radius: float | None = None
    domain: Domain = Domain.CERTIFY
    model_id: str = ""
    resume: str | None = None
    records: list[Record] = dataclasses.field(default_factory=list)
    index: Index = None
    numbers: np.ndarray = cast(np.ndarray, None)
    columns: Names = None
    missing: np.ndarray | None = None
    made: str = ""
    alternatives: dict[tuple[int, int], Found] = dataclasses.field(default_factory=dict)
    doubt: str = ""
    certreg: str = dataclasses.field(default_factory=lambda: version_text(version()))

    def __post_init__(self) -> None:
        if cast(np.ndarray | None, self.numbers) is None:
            self.numbers = np.arange(len(self))

    @property
    def sigmas(self) -> tuple[float, ...]:
        """The noise levels."""
        return self.sampling.sigmas

    @property
    def samples(self) -> int:
        """The number of samples of each row at each sigma, pilot included."""
        return self.sampling.samples

    @property
    def scale(self) -> ArrayLike:
        """The noise of each feature in units of sigma, as certify_rows takes it."""
        scale = self.sampling.scale
        return np.ones(self.sampling.shape) if scale is None else scale

    @property
    def seed(self) -> int | None:
        """The seed of the noise; None in rows of a file without it. Keep it secret: it determines
        the noise."""
        return self.sampling.seed or None

    @property
    def radius(self) -> np.ndarray:
        """The radius of each row, (rows,), if there is one sigma and one question; otherwise
        rows["radius"], (rows, sigmas, questions). It is 0 if nothing is certified."""
        return self._alone("radius")

    @property
    def prediction(self) -> np.ndarray:
        """The prediction of each row, in the shape of `radius`. It is NaN for rows that failed, and
        for vectors."""
        return self._alone("prediction")

    def _alone(self, field: str) -> np.ndarray:
        values: np.ndarray = self[field]
        return values[:, 0, 0] if values.shape[1:] == (1, 1) else values

    def __len__(self) -> int:
        return len(self.certificates)

    def __iter__(self) -> Iterator[Certificate]:
        """The certificates of the rows, if there is one sigma and one question."""
        if self.certificates.shape[1:] != (1, 1):
            raise ValueError(
                f"each row has {math.prod(self.certificates.shape[1:])} certificates: use "
                "certificate(row, question, sigma), or the lines of to_dicts()"
            )
        return map(self.certificate, range(len(self)))

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
        """The rows at these places, without records, since `sampling` is about all rows."""
        places = [(i, row, k) for i, row in enumerate(which) for k in range(len(self.sigmas))]
        errors = {(i, k): self.errors[row, k] for i, row, k in places if (row, k) in self.errors}
        sets = self.alternatives
        found = {(i, k): sets[row, k] for i, row, k in places if (row, k) in sets}
        index = None if self.index is None else self.index.take(which)
        more = {name: getattr(self, name)[which] for name in ("certificates", "done", "numbers")}
        more["missing"] = None if self.missing is None else self.missing[which]
        more["questions"] = tuple(question._of_rows(which) for question in self.questions)
        return dataclasses.replace(
            self, errors=errors, alternatives=found, index=index, records=[], resume=None, **more
        )

    def certificate(self, row: int, question: int = 0, sigma: int = 0) -> Certificate:
        """Return the certificate of a row.

        Parameters
        ----------
        row, question, sigma : int
            Indices.

        Raises
        ------
        IndexError
            If there is none."""
        at = (("row", row), ("sigma", sigma), ("question", question))
        for (name, index), count in zip(at, self.certificates.shape):
            _check_index(name, index, count)
        one = self.certificates[row, sigma, question]
        return Certificate._of(S.Certificate.from_buffer_copy(one.tobytes()))

    def to_dicts(self) -> Table:
        """Return the certificates as dicts.

        Returns
        -------
        list of dict
            A dict for each finished row, sigma and question: "row", "sigma", "question" (an index),
            the fields of the certificate without digests, with members of enumerations as names in
            lower case, and "error", which is empty if nothing failed. If some features get no
            noise, "exact" has their names. If cells are missing, "missing" has their names."""
        left_out = ("sigma", "question_digest", "input_digest")
        names = [name for name in FIELDS if name not in left_out]
        exact = exact_features(self.sampling, self.columns)
        list_ = []
        for row in np.flatnonzero(self.done).tolist():
            number = int(self.numbers[row])
            for k, answers in enumerate(self.certificates[row][names].tolist()):
                for q, values in enumerate(answers):
                    line: Line = {"row": number, "sigma": self.sigmas[k], "question": q}
                    line.update((n, _word(n, value)) for n, value in zip(names, values))
                    line["error"] = self.errors.get((row, k), "")
                    line.update({"exact": exact} if exact else {})
                    if self.alternatives:  # a failed row has none
                        found = self.alternatives.get((row, k))
                        line["alternatives"] = found.count if found else 0
                        line["limiting_alternative"] = found.limiting[q] if found else ""
                    if self.missing is not None:
                        line["missing"] = ", ".join(named(self.missing[row], self.columns))
                    line.update({name: line.pop(name) for name in ADDED})
                    if self.alternatives:
                        line["limiting_estimate"] = found.estimate(q) if found else math.nan
                    list_.append(line)
        return list_

    def to_frame(self) -> Frame:
        """Return the certificates as a DataFrame.

        Returns
        -------
        DataFrame
            The columns are the keys of `to_dicts`, and the index is the one of the inputs if they
            were a DataFrame.

        Raises
        ------
        ImportError
            If pandas is missing."""
        frame = needed("pandas", "to_frame").DataFrame(self.to_dicts())
        if self.index is not None:
            each = np.prod(self.certificates.shape[1:], dtype=int)
            frame.index = self.index.take(np.repeat(np.flatnonzero(self.done), each))
        return frame

    def save(self, path: Path, keep_seed: bool = False) -> None:
        """Write the rows to an .npz file, which keeps everything but records and the seed.

        Other versions of the package may refuse the file; for archives use `to_frame`.

        Parameters
        ----------
        path : str or path
            Path of the file.
        keep_seed : bool
            Keep the seed too. The file is then for its owner alone: whoever knows the seed can make
            certificates false.

        Raises
        ------
        ValueError
            If there are records, or an index such as a MultiIndex, which the file cannot keep."""
        save_rows(self, path_of(path), keep_seed)

    @classmethod
    def load(cls, path: Path) -> "Rows":
        """Read the rows of a file. Checks find damage, not forgery.

        Parameters
        ----------
        path : str or path
            A file of `save`.

        Returns
        -------
        Rows
            The rows; `seed` is None if the file does not have it.

        Raises
        ------
        ValueError
            If the file is of another kind or damaged.

        Examples
        --------
        >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0], [2.0]], 0.25, 0.5, seed=1)
        >>> rows.save("two.npz")
        >>> str(certreg.Rows.load("two.npz")) == str(rows)
        True"""
        return read_rows(cls, path)

    def _table(self) -> Table:
        return self.summary()

    def summary(self) -> Table:
        """Summarize finished rows.

        Returns
        -------
        list of dict
            A dict for each sigma and question: the numbers of rows that were certified, abstained
            or failed, and the mean and median radius, with radius 0 for rows that abstained or
            failed. For output bounds the numbers of rows with two finite bounds and of failed rows,
            and the median width between finite bounds; infinite if no row has them."""
        one = self._summary_of_radii if self.at_radius is None else self._summary_of_bounds
        return [one(k, q) for k in range(len(self.sigmas)) for q in range(len(self.questions))]

    def _summary_of_bounds(self, k: int, q: int) -> Line:
        lo, hi, status = self._fields("output_lo output_hi status", k, q)
        widths = hi - lo
        finite = widths[np.isfinite(widths)]
        return {
            "sigma": self.sigmas[k],
            "question": q,
            "statistic": _word("statistic", self.questions[q].statistic),
            "radius": self.at_radius,
            "rows": len(status),
            "bounded": len(finite),
            "failed": int(np.sum(status != 0)),
            "median_width": float(np.median(finite)) if len(finite) else math.inf,
        }

    def _summary_of_radii(self, k: int, q: int) -> Line:
        asked = self.questions[q]
        radii, status, outcomes = self._fields("radius status outcome", k, q)
        failed = status != 0
        abstained = ~failed & (outcomes == Outcome.ABSTAINED)
        return {
            "sigma": self.sigmas[k],
            "question": q,
            "tolerance": stated_tolerance(asked),
            "statistic": _word("statistic", asked.statistic),
            "rows": len(radii),
            "certified": int(np.sum(radii > 0)),
            "mean_radius": float(np.mean(radii)) if len(radii) else 0.0,
            "median_radius": float(np.median(radii)) if len(radii) else 0.0,
            "abstained": int(np.sum(abstained)),
            "failed": int(np.sum(failed)),
        }

    def _fields(self, names: str, k: int, q: int) -> list[np.ndarray]:
        """Fields of the finished rows. Whole certificates would be copied."""
        return [self.certificates[name][self.done, k, q] for name in names.split()]

    def remarks(self) -> list[str]:
        """Return what `print` adds to the summary.

        Returns
        -------
        list of str
            A text about outputs without a question; the text of a ModelWarning; what was tested of
            the premise; a text about features without noise; a text about missing cells; for each
            question a text if at least half of the radii at the largest sigma are as long as it
            allows; for each sigma and question the reasons of rows that abstained, or a text if no
            output is bounded because sigma and samples allow no such radius; and a text about
            failed rows, with the first reason. Features without names are counted from 0."""
        statuses = self.certificates["status"][self.done]
        failed = failure_remark(self.errors, self.numbers, statuses, self.sampling.scale)
        others = output_remark(self.sampling, self.questions)
        texts = [others, *self._remarks(), *self._abstentions(), failed]
        return [text for text in texts if text]

    def _remarks(self) -> list[str]:
        """The remarks without failures."""
        noise = noise_remark(self.sampling, self.columns, bool(self.alternatives))
        cells = self.missing
        lacks = "" if cells is None else missing_remark(cells[self.done], self.columns)
        claims = claims_of(self.certificates, self.at_radius is not None)
        premise = premise_remark(self.certificates, claims & self.done[:, None, None])
        found = [text for text in (self.doubt, premise, noise, lacks) if text]
        plan = self.sampling, self.questions
        if self.at_radius is not None:
            return found + unbounded_remarks(*plan, self.at_radius, self._fields)
        return found + ceiling_remarks(*plan, self.certificates["radius"][self.done])

    def _abstentions(self) -> list[str]:
        """The remarks on rows that abstained, for radii."""
        if self.at_radius is not None:
            return []
        return abstention_remarks(self.sampling, self.questions, self._fields)

    def __str__(self) -> str:
        return printable("\n".join([aligned(self.summary()), *self.remarks()]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        texts = "".join(f"<p>{html.escape(text)}</p>" for text in self.remarks())
        return f"{super()._repr_html_()}{texts}"

    def label_errors(self, labels: Inputs) -> np.ndarray:
        """Compute the distance of each prediction from the label of its row.

        Parameters
        ----------
        labels : array_like or Series
            The true outputs, (rows,), in the order of the rows. If the inputs were a DataFrame, a
            Series must have its index.

        Returns
        -------
        ndarray
            The distances, (rows, sigmas, questions), along the circle for angles; NaN without a
            prediction, as in failed rows.

        Raises
        ------
        ValueError
            For a wrong shape, and for a question about several outputs, which has no single
            prediction."""
        each = [self._errors_of(q, labels) for q in range(len(self.questions))]
        return np.stack(each, axis=2)

    def _errors_of(self, q: int, labels: Inputs) -> np.ndarray:
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
            raise ValueError(
                "these rows are output bounds, which have no radii: rows['output_lo'] and "
                "rows['output_hi'] have them, and plot_reach draws the bounds of one input"
            )

    def useful_radii(self, labels: Inputs) -> np.ndarray:
        """Compute radii that count only predictions near the label.

        Parameters
        ----------
        labels : array_like or Series
            As for `label_errors`.

        Returns
        -------
        ndarray
            The radius if the prediction is within the tolerance of the label, else 0, (rows,
            sigmas, questions).

        Raises
        ------
        ValueError
            As for `label_errors`, and for output bounds."""
        self._check_radii()
        return np.where(self.label_errors(labels) <= self["tolerance"], self["radius"], 0.0)

    def choose_sigma(
        self, question: int = 0, *, labels: Inputs | None = None, slack: float = 0.1
    ) -> SigmaChoice:
        """Choose the sigma with the greatest mean radius.

        Deploy it on inputs that are not among these rows, and calibrate intervals with other points
        (theory 12.6). At a large sigma the model may no longer depend on the input; radii are then
        long but useless. Labels exclude such a sigma.

        Parameters
        ----------
        question : int
            Index of the question.
        labels : array_like or Series, optional
            True outputs: the choice is among sigmas with a mean error near the least.
        slack : float
            Such a mean error is at most this many tolerances above the least; a percentage counts
            as a part of the labels' mean size.

        Returns
        -------
        SigmaChoice
            A tuple (level, means, left_out): the index of the sigma, the mean radius of each sigma,
            and the number of rows that failed at some sigma. They are left out at every sigma, so
            that all sigmas are compared on the same rows.

        Raises
        ------
        ValueError
            As for `useful_radii`, and if no row is left.
        TypeError, IndexError
            If there is no such question."""
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
        chosen = chosen_sigma(structs, *some.shape)._replace(left_out=left_out)
        if labels is None:
            return chosen
        each = self._errors_of(int(question), labels)[whole]
        errors = np.nanmean(each, axis=0)
        if not (each <= self["tolerance"][whole, :, question]).any():
            warnings.warn(
                f"no prediction is within its tolerance of its label (least mean error "
                f"{np.nanmin(errors):.4g}): have labels the unit of the outputs?",
                stacklevel=2,
            )
        truth = labels_of(labels, len(self), self.index)[whole]
        slack *= typical_tolerance(self.questions[question], truth)
        accurate = errors <= np.nanmin(errors) + slack
        return chosen._replace(level=int(np.argmax(np.where(accurate, chosen.means, -1.0))))

    def curve(
        self,
        question: int = 0,
        *,
        labels: Inputs | None = None,
        confidence: float | None = None,
    ) -> Table:
        """Compute the share of rows that are certified at each radius, as `plot` draws it.

        Parameters
        ----------
        question : int
            Index of the question.
        labels : array_like or Series, optional
            True outputs, as for `label_errors`.
        confidence : float, optional
            Add "population" and "rows", the bounds of certreg.population, which with labels count
            only predictions within the tolerance of the label.

        Returns
        -------
        list of dict
            A dict for each sigma: "sigma", and arrays with a value for each "radius", which are 0
            and the radii of the rows in ascending order. "share" is the share of finished rows with
            at least this radius. With labels, "accuracy" is the share of those that also have a
            prediction within the tolerance of the label, and "error" the mean error of rows with at
            least this radius; NaN if there is none. Between two radii the values are those at the
            larger one; above the last one no row is certified.

        Raises
        ------
        ValueError
            As for `useful_radii`, and with `confidence` as for certreg.population.
        IndexError
            If there is no such question.

        Examples
        --------
        >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0], [2.0]], 0.25, 0.5, seed=1)
        >>> rows.curve(labels=[1.0, 9.0])[0]["accuracy"].tolist()
        [0.5, 0.5, 0.5]"""
        self._check_radii()
        _check_index("question", question, len(self.questions))
        errors: Any = [None] * len(self.sigmas)
        if labels is not None:
            errors = self._errors_of(question, labels)[self.done].T
        each = [self._fields("radius tolerance", k, question) for k in range(len(self.sigmas))]
        lines: Table = [
            {"sigma": self.sigmas[k], **curve_of(radii, errors[k], tolerances)}
            for k, (radii, tolerances) in enumerate(each)
        ]
        if confidence is not None:
            for line, bounds in zip(lines, self._band(question, labels, confidence)):
                line.update((name, bounds[name]) for name in ("population", "rows"))
        return lines

    def _band(self, question: int, labels: Inputs | None, confidence: float) -> Table:
        return population(self, confidence=confidence, question=question, labels=labels)

    def plot(
        self,
        correct: Inputs | None = None,
        *,
        labels: Inputs | None = None,
        error: bool = False,
        confidence: float | None = None,
        **more: Any,
    ) -> Axes:
        """Plot the share of rows that are certified at each radius.

        There is a curve for each sigma and question.

        Parameters
        ----------
        correct : array_like, optional
            True for correct predictions, (rows, sigmas, questions), such as
            ``rows.label_errors(y) < 5``: plot the certified accuracy. Lengths of 1 at the end of
            the shape may be left out.
        labels : array_like or Series, optional
            True outputs: plot the certified accuracy, with predictions within the tolerance of the
            label as correct.
        error : bool
            With labels: plot the mean error of the rows with at least each radius.
        confidence : float, optional
            Also draw the lower band for the population, of certreg.population: "at least, 95 %" in
            the legend.
        **more
            Other arguments of plot_radii, such as `path`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is missing.
        ValueError
            For a wrong shape, for output bounds (plot_reach draws them), for `error` without
            labels, and as for certreg.population."""
        self._check_radii()
        if error and labels is None or labels is not None and correct is not None:
            raise ValueError("error needs labels, and labels take the place of correct")
        if confidence is not None and (error or correct is not None):
            raise ValueError("confidence is for shares of rows: give labels, or neither")
        curves = {
            f"sigma {sigma:g}{name}": (k, q)
            for k, sigma in enumerate(self.sigmas)
            for q, name in enumerate(self._names())
        }
        if confidence is not None:
            found = [self._band(q, labels, confidence) for q in range(len(self.questions))]
            more["bands"] = {
                name: (found[q][k]["radius"], found[q][k]["population"], confidence)
                for name, (k, q) in curves.items()
            }
        radii = {
            name: self.certificates["radius"][self.done, k, q] for name, (k, q) in curves.items()
        }
        if labels is not None:
            errors = self.label_errors(labels)
            if error:
                pairs = {n: (radii[n], errors[self.done, k, q]) for n, (k, q) in curves.items()}
                return plot_error(pairs, **more)
            correct = errors <= self.certificates["tolerance"]
        if correct is None:
            return plot_radii(radii, **more)
        shape = self["radius"].shape
        right = np.asarray(in_order(correct, self.index, "correct"), bool)
        if right.shape + (1,) * (3 - right.ndim) != shape:
            raise ValueError(
                f"correct has shape {right.shape}; it must be {shape}, with True for each row, "
                "sigma and question with a correct prediction (a file is path=)"
            )
        right = right.reshape(shape)[self.done]
        accurate = {name: (radii[name], right[:, k, q]) for name, (k, q) in curves.items()}
        return plot_accuracy(accurate, **more)

    def _names(self) -> list[str]:
        """Names of the questions for a legend, with numbers if names would be equal."""
        asked, names = self.questions, [""] * len(self.questions)
        tolerances = [tolerance_text(one) for one in asked]
        if len(set(tolerances)) > 1:
            names = [f", tolerance {text}" for text in tolerances]
        if len({one.statistic for one in asked}) > 1:
            names = [f"{n}, {_word('statistic', q.statistic)}" for n, q in zip(names, asked)]
        return [f"{n}, question {q}" if names.count(n) > 1 else n for q, n in enumerate(names)]


def labels_of(labels: Inputs, count: int, index: Index = None) -> np.ndarray:
    """The true outputs of `count` rows, with this index if they were a DataFrame. Raises TypeError
    or ValueError for a wrong type or shape."""
    truth = numbers(in_order(labels, index, "labels"), np.float64, "labels")
    if truth.shape != (count,):
        raise ValueError(
            f"labels has shape {truth.shape}; it must be ({count},), the true output of each row"
        )
    check_finite(truth, truth, "labels")
    return truth


def mean_error(errors: np.ndarray) -> float:
    """The mean of label errors, without rows that have no prediction; NaN if there is none."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if known.size else math.nan


def _check_index(name: str, index: object, count: int) -> None:
    if not isinstance(index, (int, np.integer)) or not -count <= index < count:
        raise IndexError(f"{name} is {index!r}; it must be an index from 0 to {count - 1}")


def _word(field: str, value: Any) -> float | str:
    value = enum_value(field, value)
    if field == "constraints":
        return int(value)
    return value.name.lower() if isinstance(value, enum.Enum) else value
