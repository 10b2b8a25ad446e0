"""What certify_rows returns."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Optional, Tuple

import numpy as np

from . import _structs as S
from ._optional import needed
from ._worker import CERTIFICATE, Sampling
from .answers import Certificate, chosen_sigma
from .constants import Domain, Outcome, named
from .plots import plot_accuracy, plot_radii
from .questions import Question


@dataclasses.dataclass
class Rows:
    """Certificates of many inputs.

    certificates  structured array of shape (rows, sigmas, questions), with the fields of
                  certreg_certificate: rows.certificates["radius"], or rows["radius"] for short
    done          (rows,) of bool: whether a row has been answered; others claim nothing
    errors        sentences of what failed, by (row, index of sigma)
    sampling      shape, sigmas, samples, seed (a secret, unless it was given) and the like
    questions     in the order in which they were given
    radius        at which output bounds were asked for, or None
    domain, model_id, resume    as they were given"""

    certificates: np.ndarray
    done: np.ndarray
    errors: dict[Tuple[int, int], str]
    sampling: Sampling
    questions: Tuple[Question, ...]
    radius: Optional[float] = None
    domain: Domain = Domain.CERTIFY
    model_id: str = ""
    resume: Optional[str] = None

    @property
    def sigmas(self) -> Tuple[float, ...]:
        """The noise levels."""
        return self.sampling.sigmas

    @property
    def samples(self) -> int:
        """Of each row and sigma, pilot included."""
        return self.sampling.samples

    @property
    def seed(self) -> int:
        """Of the noise. Whoever has it can draw the noise again."""
        return self.sampling.seed

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, field: str) -> np.ndarray:
        if field not in (CERTIFICATE.names or ()):
            raise KeyError(f"certificates have no field {field!r}: {', '.join(self._fields())}")
        values: np.ndarray = self.certificates[field]
        return values

    @staticmethod
    def _fields() -> list[str]:
        return [name for name in CERTIFICATE.names or () if name != "struct_size"]

    def certificate(self, row: int, question: int = 0, sigma: int = 0) -> Certificate:
        """One of them; `question` and `sigma` are indices."""
        one = self.certificates[row, sigma, question]
        return Certificate._of(S.Certificate.from_buffer_copy(one.tobytes()))

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict for every row that is done, sigma and question: row, sigma, question (an index),
        the fields of the certificate with enums by name, and error."""
        names = [name for name in self._fields() if name not in ("sigma", "question")]
        list_ = []
        for row in np.flatnonzero(self.done).tolist():
            for k, answers in enumerate(self.certificates[row][names].tolist()):
                for q, values in enumerate(answers):
                    said: dict[str, Any] = {"row": row, "sigma": self.sigmas[k], "question": q}
                    said.update((n, _word(n, value)) for n, value in zip(names, values))
                    said["error"] = self.errors.get((row, k), "")
                    list_.append(said)
        return list_

    def to_frame(self) -> Any:
        """to_dicts as a pandas DataFrame. Raises ImportError where pandas is missing."""
        return needed("pandas", "to_frame").DataFrame(self.to_dicts())

    def summary(self) -> list[dict[str, Any]]:
        """A dict for each sigma and question: how many rows were certified, with which radii. Rows
        that abstained or failed count with radius 0."""
        return [
            self._summary(k, q) for k in range(len(self.sigmas)) for q in range(len(self.questions))
        ]

    def _summary(self, k: int, q: int) -> dict[str, Any]:
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

    def __str__(self) -> str:
        said = self.summary()
        table = [list(said[0])]
        table += [[f"{v:g}" if isinstance(v, float) else str(v) for v in s.values()] for s in said]
        widths = [max(map(len, column)) for column in zip(*table)]
        return "\n".join(
            "  ".join(cell.replace("_", " ").rjust(width) for cell, width in zip(line, widths))
            for line in table
        )

    def choose_sigma(self, question: int = 0) -> Tuple[int, list[float]]:
        """The index of the sigma with the greatest mean radius, and all mean radii. Deploy it on
        inputs that are not among these rows."""
        some = np.ascontiguousarray(self.certificates[self.done][:, :, question])
        structs = (S.Certificate * some.size).from_buffer_copy(some.tobytes())
        return chosen_sigma(structs, *some.shape)

    def plot(self, correct: Any = None, **more: Any) -> Any:
        """The share of rows that are certified up to a radius, over the radius, as plot_radii draws
        it: a curve for each sigma and question. With `correct`, (rows,) of bool, the certified
        accuracy, as plot_accuracy. The other arguments, such as path, are theirs."""
        curves = {
            f"sigma {sigma:g}" + (f", question {q}" if len(self.questions) > 1 else ""): (k, q)
            for k, sigma in enumerate(self.sigmas)
            for q in range(len(self.questions))
        }
        radii = {
            name: self.certificates["radius"][self.done, k, q] for name, (k, q) in curves.items()
        }
        if correct is None:
            return plot_radii(radii, **more)
        right = np.asarray(correct, bool)[self.done]
        return plot_accuracy({name: (some, right) for name, some in radii.items()}, **more)


def _word(field: str, value: Any) -> Any:
    value = named(field, value)
    if field == "constraints":
        return int(value)
    return value.name.lower() if isinstance(value, enum.Enum) else value
