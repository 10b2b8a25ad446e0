"""The arguments of certify_rows from the options of a command."""

from __future__ import annotations

import argparse
import math
import os
from typing import Any, Iterator, Sequence, TypeAlias

from ..constants import PLAN_COUNT_FAILURES, Center, Domain, Output
from ..questions import Question, Serving
from .failure import Failure

Options: TypeAlias = "dict[str, Any]"  # arguments of a function, by name
HALF_TURNS = {"deg": 180.0, "rad": math.pi}


def half_turn(given: argparse.Namespace) -> float | None:
    """Half a turn in the unit of the angle; None if the output is not an angle."""
    return HALF_TURNS.get(given.angle or given.pair)


def check_options(given: argparse.Namespace) -> None:
    """Raises Failure for options that contradict or need each other. The library itself checks the
    settings of questions."""
    for wrong, message in (*_of_question(given), *_of_sampling(given), *_of_files(given)):
        if wrong:
            raise Failure(message)


def _of_question(given: argparse.Namespace) -> Iterator[tuple[object, str]]:
    angle = half_turn(given)
    yield given.range and angle, "--range cannot be combined with --angle or --pair: leave it out"
    yield (given.trim or given.core) and not given.serve, "--trim and --core need --serve"


def _of_sampling(given: argparse.Namespace) -> Iterator[tuple[object, str]]:
    yield given.pilot and given.pilot >= given.samples, "--pilot must be below --samples"
    several = given.denoise and given.command != "sigma" and isinstance(given.sigma, tuple)
    yield several, "--sigma must be one number with --denoise: a denoiser is for one"
    one = given.command == "scale" and len(given.tolerance) > 1
    yield one, "--tolerance must be one number: the best scale depends on it"


def _of_files(given: argparse.Namespace) -> Iterator[tuple[object, str]]:
    yield given.keep_records and not given.resume, "--keep-records needs --resume FILE"
    is_json = str(given.out).lower().endswith(".json")
    yield given.keep_seed and not is_json, "--keep-seed needs -o FILE.json"
    by_labels = given.plot and given.plot_kind != "radii"
    yield by_labels and not given.labels, f"--plot-kind {given.plot_kind} needs --labels"
    read = [given.model, given.inputs, given.labels, given.scale, given.resume, given.seed_file]
    read += [given.box, given.groups, given.denoise, given.calibration, given.truths]
    results = (given.out, given.plot, given.keep_denoiser)
    again = "names another file of this command: give another name"
    yield files(read) & files(results), f"-o, --plot or --keep-denoiser {again}"
    yield given.keep_denoiser and not given.denoise, "--keep-denoiser needs --denoise"


def files(names: Sequence[str | None]) -> set[str]:
    return {os.path.realpath(name) for name in names if name}


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


def _serving(given: argparse.Namespace) -> Serving | None:
    if not given.serve:
        return None
    samples, failure_rate, pairs = given.serve
    return Serving(samples, failure_rate, given.trim or 0.0, given.core or 0.0, pairs)


def outputs(given: argparse.Namespace, columns: int) -> Options:
    """Number, kinds and limits of the outputs of a model with `columns` columns. All outputs except
    the certified one are numbers without limits."""
    index, pair = given.output, 1 if given.pair else 0
    count = columns - pair
    if index >= count:
        option = f"--output {index} with --pair" if pair else f"--output {index}"
        raise Failure(f"{option} is not possible: {given.model} returns {_columns(columns)}")
    kind = [Output.REAL] * count
    lo, hi = [-math.inf] * count, [math.inf] * count
    turn = half_turn(given)
    if turn:
        kind[index] = Output.ANGLE_PAIR if pair else Output.ANGLE
    limits: tuple[float, float] = (-turn, turn) if turn else given.range
    if limits:
        lo[index], hi[index] = limits
    return {"outputs": count, "kind": kind, "lo": lo, "hi": hi}


def left_out(given: argparse.Namespace, columns: int) -> str:
    """A remark if columns of the model are not used, and no option has chosen any; else empty."""
    count = 2 if given.pair else 1
    if given.index_given or columns <= count:
        return ""
    used = "the first two are" if given.pair else "the first is"
    remedy = "--columns A:B takes others" if given.tensor else "--output K takes another"
    return f"{given.model} returns {columns} columns, and only {used} used; {remedy}"


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def sampling(given: argparse.Namespace) -> Options:
    """The arguments of certify_rows and tune_scale about samples."""
    return {
        "samples": given.samples,
        "batch": given.batch or 0,
        "seed": given.seed,
        "jobs": given.jobs,
        "on_crash": given.on_crash,
        "pilot": given.pilot or 0,
        "flags": PLAN_COUNT_FAILURES if given.count_failures else 0,
        "progress": not given.quiet,
        "check": not given.no_check,
    }


def plan(given: argparse.Namespace) -> Options:
    """All arguments of certify_rows beside outputs and scale."""
    calibrates = given.command == "sigma"
    return {
        **sampling(given),
        "noise_id": given.rows[0] if given.rows else 0,
        "domain": Domain.CALIBRATION if calibrates else Domain.CERTIFY,
        "radius": given.radius,
        "resume": given.resume,
        "keep_records": given.keep_records,
    }
