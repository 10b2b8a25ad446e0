"""What is asked of certify_rows, from the options."""

from __future__ import annotations

import argparse
import math
import os
from typing import Any, Optional, Tuple

from ..constants import PLAN_COUNT_FAILURES, Center, Constraints, Domain, Output
from ..questions import Question, Serving
from .failure import Failure
from .progress import progress

HALF_TURNS = {"deg": 180.0, "rad": math.pi}


def half_turn(given: argparse.Namespace) -> Optional[float]:
    """Of an angle, in its unit; None where the output is none."""
    return HALF_TURNS.get(given.angle or given.pair)


def check_options(given: argparse.Namespace) -> None:
    """Options that do not go together."""
    for wrong, sentence in (
        (
            given.statistic == "huber" and given.huber_width is None,
            "--statistic huber needs --huber-width, often half the tolerance",
        ),
        (
            given.statistic != "huber" and given.huber_width is not None,
            "--huber-width needs --statistic huber",
        ),
        (
            given.statistic == "mean" and given.method in ("finite", "anytime") and _endless(given),
            f"--statistic mean with --method {given.method} needs --range: the mean of an output "
            "without limits cannot be bounded from samples",
        ),
        (
            given.statistic == "circular-mean" and not half_turn(given),
            "--statistic circular-mean needs an angle: give --angle or --pair",
        ),
        (given.range and half_turn(given), "--range does not go with --angle and --pair"),
        (
            given.method == "paper" and given.statistic != "mean",
            "--method paper needs --statistic mean",
        ),
        (given.keep_records and not given.resume, "--keep-records needs --resume FILE"),
        (_overwrites(given), "a file of results has the name of another file of this command"),
        (
            given.keep_seed and not str(given.out).lower().endswith(".json"),
            "--keep-seed needs -o FILE.json",
        ),
        (
            given.plot and given.plot_kind == "accuracy" and not given.labels,
            "--plot-kind accuracy needs --labels",
        ),
    ):
        if wrong:
            raise Failure(sentence)


def _endless(given: argparse.Namespace) -> bool:
    return not half_turn(given) and (not given.range or math.inf in map(abs, given.range))


def _overwrites(given: argparse.Namespace) -> bool:
    others = (given.model, given.inputs, given.labels, given.scale, given.resume)
    taken = {os.path.realpath(name) for name in others if name}
    return any(name and os.path.realpath(name) in taken for name in (given.out, given.plot))


def questions(given: argparse.Namespace) -> list[Question]:
    """One for each tolerance."""
    tolerances = (
        given.tolerance if isinstance(given.tolerance, tuple) else (given.tolerance or 0.0,)
    )
    paper = given.method == "paper"
    return [
        Question(
            tolerance,
            output=given.output,
            alpha=given.alpha,
            statistic=given.statistic,
            method=given.method,
            huber_width=given.huber_width or 0.0,
            center=Center.TRUE_MEAN if paper else Center.PREDICTION,
            bonferroni=given.bonferroni,
            target=given.target,
            serving=Serving(*given.serve) if given.serve else None,
        )
        for tolerance in tolerances
    ]


def outputs(given: argparse.Namespace, columns: int) -> dict[str, Any]:
    """The outputs of a model with so many columns. All but the one that is asked about are numbers
    without limits."""
    index, pair = given.output, 1 if given.pair else 0
    count = columns - pair
    if index >= count:
        wanted = f"--output {index} with --pair" if pair else f"--output {index}"
        raise Failure(f"{wanted} does not fit: {given.model} returns {_columns(columns)}")
    kind = [Output.REAL] * count
    lo, hi = [-math.inf] * count, [math.inf] * count
    turn = half_turn(given)
    if turn:
        kind[index] = Output.ANGLE_PAIR if pair else Output.ANGLE
    limits: Tuple[float, float] = (-turn, turn) if turn else given.range
    if limits:
        lo[index], hi[index] = limits
    return {"outputs": count, "kind": kind, "lo": lo, "hi": hi}


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def plan(given: argparse.Namespace) -> dict[str, Any]:
    """The other arguments of certify_rows."""
    calibrates = given.command == "sigma"
    return {
        "samples": given.samples,
        "batch": given.batch or (64 if given.target else 0),  # sampling can stop after a batch
        "seed": given.seed,
        "noise_id": given.rows[0] if given.rows else 0,
        "jobs": given.jobs,
        "constraints": Constraints.ECGM if given.method == "paper" else 0,
        "domain": Domain.CALIBRATION if calibrates else Domain.CERTIFY,
        "flags": PLAN_COUNT_FAILURES if given.count_failures else 0,
        "radius": given.radius,
        "resume": given.resume,
        "keep_records": given.keep_records,
        "progress": False if given.quiet else progress(),
    }
