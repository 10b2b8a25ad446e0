"""The arguments of certify_rows that few calls need."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Mapping, cast

from ._arguments import Call, abbreviated, field_names, own_names
from .constants import Domain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .estimator import Kinds


@dataclasses.dataclass(frozen=True, eq=False)
class Options:
    """Arguments of certify_rows that few calls need, by name.

    Attributes
    ----------
    outputs, kind, lo, hi, pilot, flags
        As for Estimator; without a pilot questions that all have targets get one of 30 samples,
        or a quarter of all samples, unless records are kept.
    constraints : int or str
        As for Estimator; 0: with the gradient if a question names it or has the method "paper".
    domain : Domain or str
        Purpose of the noise: "certify", "calibration" (to choose sigma) or "attack". Domains never
        share noise, nor do they share noise with Calibrated.
    radius : float, optional
        Compute output bounds at this radius instead of the largest radius.
    model_id : str
        Name of the model in the resume file, which refuses other names. If no model is given, only
        this name shows whether the parts in a folder are of several models.
    keep_records : bool
        Keep the outputs of the model, in the resume file or else in the result. Other questions can
        then be answered later with ``model=None``.
    on_crash : {"stop", "skip"}
        Action for a row that ends three processes, one after another, while it is computed alone.
        "skip": the row fails with ``Status.MODEL_FAILED``, also in the resume file, and the run
        goes on. The model then always runs in other processes. A caller's executor must replace
        processes, as dask does.
    check : bool
        Call Estimator.model_check for a row, and ask the model again for some samples of rows that
        are certified, and of rows that the resume file has (docs/guide/engines.md).

    Examples
    --------
    >>> reach = certreg.Options(radius=0.1)
    >>> rows = certreg.certify_rows(lambda x: x[:, 0], [[1.0]], 0.25, 0.5, seed=1, options=reach)
    >>> rows.certificate(0).output_lo < 1 < rows.certificate(0).output_hi
    True"""

    outputs: int = 1
    kind: Kinds = None
    lo: ArrayLike | None = None
    hi: ArrayLike | None = None
    pilot: int = 0
    constraints: int | str = 0
    flags: int = 0
    domain: Domain | str = Domain.CERTIFY
    radius: float | None = None
    model_id: str = ""
    keep_records: bool = False
    on_crash: str = "stop"
    check: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.on_crash, str) or self.on_crash not in ("stop", "skip"):
            raise ValueError(f"on_crash is {self.on_crash!r}; it must be 'stop' or 'skip'")


def with_other_names(function: Call) -> Call:
    """certify_rows, which also takes the names of scikit-learn, and tolerance for questions. Raises
    TypeError for an argument of Options, and for an executor, with the way to give it."""

    @functools.wraps(function)
    def named(*arguments: Any, **given: Any) -> Any:
        if "tolerance" in given:
            if "questions" in given or len(arguments) > 3:
                raise TypeError("tolerance is another name of questions: give one of them")
            given["questions"] = given.pop("tolerance")
        for name in given:
            if name in field_names(Options):
                raise TypeError(f"{name} is an option: give options=Options({name}=...)")
        if "executor" in given:
            raise TypeError("an executor takes the place of a number of jobs: give it as jobs")
        return function(*arguments, **own_names(given))

    return cast(Call, named)


def options_of(given: object) -> Options:
    """The options. Raises TypeError for another object."""
    if not isinstance(given, Options):
        raise TypeError(f"options must be certreg.Options(...), not {abbreviated(given)}")
    return given


def with_options(options: object, **fixed: Any) -> Options:
    """The caller's options with the fields that a function sets itself. Raises TypeError if the
    caller has set one of them."""
    given = options_of(options)
    for name in fixed:
        if getattr(given, name) is not getattr(Options(), name):
            raise TypeError(f"{name} is set by this function itself: leave it out of options")
    return dataclasses.replace(given, **fixed)


def grouped(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of certify_rows, in which Options replace its fields."""
    fields = field_names(Options)
    if not any(name in arguments for name in fields):
        return dict(arguments)
    own = {name: value for name, value in arguments.items() if name not in fields}
    options = Options(**{name: value for name, value in arguments.items() if name in fields})
    return {**own, "options": options}
