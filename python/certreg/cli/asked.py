"""The arguments of certify_rows from the options of a command."""

from __future__ import annotations

import argparse
import math
import os
from typing import Any, Iterator, Optional, Tuple

from ..constants import PLAN_COUNT_FAILURES, Center, Domain, Output
from ..questions import Question, Serving
from .failure import Failure
from .progress import progress

HALF_TURNS = {"deg": 180.0, "rad": math.pi}


def half_turn(given: argparse.Namespace) -> Optional[float]:
    """Half a turn in the unit of the angle; None if the output is not an angle."""
    return HALF_TURNS.get(given.angle or given.pair)


def check_options(given: argparse.Namespace) -> None:
    """Raises Failure for options that contradict or need each other."""
    checks = (
        _of_attack,
        _of_statistic,
        _of_baseline,
        _of_trim,
        _of_method,
        _of_sampling,
        _of_files,
    )
    for wrong, sentence in (found for check in checks for found in check(given)):
        if wrong:
            raise Failure(sentence)


def _of_statistic(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    huber, width = given.statistic == "huber", given.huber_width is not None
    yield huber and not width, "--statistic huber needs --huber-width, often half the tolerance"
    yield width and not huber, "--huber-width needs --statistic huber"
    angle = half_turn(given)
    yield (
        given.statistic == "circular-mean" and not angle,
        "--statistic circular-mean needs an angle: give --angle or --pair",
    )
    yield given.range and angle, "--range cannot be combined with --angle or --pair: leave it out"
    yield (
        given.statistic == "mean" and given.method in ("finite", "anytime") and _endless(given),
        f"--statistic mean with --method {given.method} needs --range: the mean of an output "
        "without limits cannot be bounded from samples",
    )


def _endless(given: argparse.Namespace) -> bool:
    """Whether the output may be as large as it likes."""
    return not half_turn(given) and (not given.range or math.inf in map(abs, given.range))


def _of_method(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    paper = given.method == "paper"
    yield paper and given.statistic != "mean", "--method paper needs --statistic mean"
    yield paper and given.radius, "--method paper cannot bound outputs: choose another method"
    exact = given.method == "finite" and given.statistic == "median"
    yield (
        given.target and given.method != "anytime" and not exact,
        "--target needs --method anytime, or --statistic median with --method finite",
    )
    anywhere = not exact and not half_turn(given) and not given.range
    yield (
        given.radius and not given.tolerance and given.statistic != "mean" and anywhere,
        "--tolerance is needed here, as the largest deviation that is searched",
    )


def _of_baseline(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    baseline, trimmed = given.method == "baseline", given.statistic == "trimmed-mean"
    yield trimmed and not baseline, "--statistic trimmed-mean needs --method baseline"
    yield (
        baseline and not trimmed and given.statistic != "median",
        "--method baseline needs --statistic median or trimmed-mean",
    )
    yield baseline and given.radius, "--method baseline cannot bound outputs: choose another method"
    yield (
        baseline and given.constraints,
        "--method baseline uses no constraints: leave out --constraints",
    )
    yield (
        baseline and given.statistic == "median" and given.serve,
        "--serve cannot be combined with median smoothing: leave it out or use --method finite",
    )


def _of_attack(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    attacks = given.command == "attack"
    yield (
        attacks and given.method in ("paper", "baseline"),
        f"--method {given.method} cannot be attacked: choose another method",
    )
    yield attacks and given.serve, "--serve cannot be combined with an attack: leave it out"


def _of_trim(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    trimmed, core = given.statistic == "trimmed-mean", given.core
    yield trimmed and not given.serve, "--statistic trimmed-mean needs --serve"
    yield (
        (given.trim or core) and not trimmed,
        "--trim and --core need --statistic trimmed-mean",
    )
    yield core and core > min(given.tolerance), "--core must not exceed --tolerance"
    yield (
        core and core < max(given.tolerance) and _endless(given),
        "--core below --tolerance needs --range, or an angle: it helps only with limits of the "
        "output",
    )


def _of_sampling(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    yield given.pilot and given.pilot >= given.samples, "--pilot must be below --samples"
    one = given.command == "scale" and len(given.tolerance) > 1
    yield one, "--tolerance must be one number: the best scale depends on it"


def _of_files(given: argparse.Namespace) -> Iterator[Tuple[Any, str]]:
    yield given.keep_records and not given.resume, "--keep-records needs --resume FILE"
    is_json = str(given.out).lower().endswith(".json")
    yield given.keep_seed and not is_json, "--keep-seed needs -o FILE.json"
    by_accuracy = given.plot and given.plot_kind == "accuracy"
    yield by_accuracy and not given.labels, "--plot-kind accuracy needs --labels"
    others = [given.model, given.inputs, given.labels, given.scale, given.resume, given.seed_file]
    others.append(vars(given).get("groups"))
    taken = {os.path.realpath(name) for name in others if name}
    results = {os.path.realpath(name) for name in (given.out, given.plot) if name}
    yield taken & results, "-o or --plot names another file of this command: give another name"


def questions(given: argparse.Namespace) -> list[Question]:
    """One question for each tolerance."""
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
            constraints=given.constraints or 0,
            bonferroni=given.bonferroni,
            target=given.target,
            serving=_serving(given),
        )
        for tolerance in tolerances
    ]


def _serving(given: argparse.Namespace) -> Optional[Serving]:
    if not given.serve:
        return None
    samples, failure_rate = given.serve
    return Serving(samples, failure_rate, given.trim or 0.0, given.core or 0.0)


def outputs(given: argparse.Namespace, columns: int) -> dict[str, Any]:
    """Number, kinds and limits of the outputs of a model with this many columns. All outputs except
    the certified one are treated as numbers without limits."""
    index, pair = given.output, 1 if given.pair else 0
    count = columns - pair
    if index >= count:
        wanted = f"--output {index} with --pair" if pair else f"--output {index}"
        raise Failure(f"{wanted} is not possible: {given.model} returns {_columns(columns)}")
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


def sampling(given: argparse.Namespace) -> dict[str, Any]:
    """The arguments of certify_rows and tune_scale about samples."""
    return {
        "samples": given.samples,
        "batch": given.batch or (64 if given.target else 0),  # sampling can stop only after a batch
        "seed": given.seed,
        "jobs": given.jobs,
        "on_crash": given.on_crash,
        "pilot": given.pilot or 0,
        "flags": PLAN_COUNT_FAILURES if given.count_failures else 0,
        "progress": False if given.quiet else progress(),
    }


def plan(given: argparse.Namespace) -> dict[str, Any]:
    """The other arguments of certify_rows."""
    calibrates = given.command == "sigma"
    return {
        **sampling(given),
        "noise_id": given.rows[0] if given.rows else 0,
        "domain": Domain.CALIBRATION if calibrates else Domain.CERTIFY,
        "radius": given.radius,
        "resume": given.resume,
        "keep_records": given.keep_records,
    }
