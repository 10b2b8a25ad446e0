"""The command scale."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import CertregError, RowsError
from ..result import aligned
from ..tuning import TunedScale, tune_scale
from . import asked
from .commands import Inputs
from .failure import DONE, INTERRUPTED, MODEL, Failure, described
from .files import Destination, read_groups
from .streams import say


def run(given: argparse.Namespace) -> int:
    """Chooses a scale and sigma, prints them, and writes the scale."""
    asked.check_options(given)
    destination = Destination(given.out, (".npy",)) if given.out else None
    work = Inputs(given)
    groups = read_groups(given.groups, work.X.shape[1:]) if given.groups else None
    tuned = _tuned(work, groups)
    if destination is not None:
        destination.write_array(tuned.scale)
    say(f"{aligned(tuned.table())}\n{_recommendation(tuned)}\n")
    return DONE


def _tuned(work: Inputs, groups: Any) -> TunedScale:
    given = work.given
    try:
        return tune_scale(
            work.model.function,
            work.X,
            asked.questions(given)[0],
            given.sigma,
            groups=groups,
            scale=work.scale,
            rounds=given.rounds,
            limit=given.limit,
            labels=work.labels,
            **asked.outputs(given, work.model.columns(work.X, work.first)),
            **asked.sampling(given),
        )
    except RowsError as error:
        where = f" in row {work.first + error.row}" if error.row >= 0 else ""
        why = described(error.__cause__ or error)
        raise Failure(f"the model failed{where}: {why}", MODEL) from error
    except KeyboardInterrupt as error:
        raise Failure("interrupted", INTERRUPTED) from error
    except (CertregError, ValueError, TypeError) as error:
        said = str(error).replace("CERTREG_PLAN_COUNT_FAILURES", "--count-failures")
        raise Failure(said) from error


def _recommendation(tuned: TunedScale) -> str:
    measured = (
        f"{tuned.gain:.3f} times (standard error {tuned.gain_error:.3f}) that of the scale at the "
        "start, on rows that chose nothing"
    )
    if tuned.changed:
        return f"Deploy sigma {tuned.sigma:g} with this scale. The mean radius is {measured}."
    return (
        f"Deploy sigma {tuned.sigma:g} with the scale as it was. With these factors the mean "
        f"radius is {measured}, which is no clear gain."
    )
