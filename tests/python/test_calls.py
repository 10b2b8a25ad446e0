"""What Python asks the library, and what it answers, is what a program in C asks and gets, bit for
bit: every field of a question and a plan, and every call. The program is written by these rows."""

import os
import re
import subprocess

import numpy as np
import pytest

from kit import Z, certreg, estimator, model, parametrize, root
from certreg import ALL_OUTPUTS, Bisection, Bounds, Domain, Question, Serving, Solver, Target
from certreg.constants import PLAN_ROUNDED
from test_header import HEADERS, python_name, structs

UNSHOWN = {"struct_size", "reserved", "model_seconds", "library_seconds", "seconds", "calibration"}
FIELDS = {name: [f for f in fields if f not in UNSHOWN] for name, fields in structs().items()}
HAND = dict(sigma=0.5, mean_lo=0.95, mean_hi=1.05, variance_hi=2, range_lo=-3.2, range_hi=3.2)
HAND.update(gradient_lo=0.7, gradient_hi=0.85)

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define GOOD(call) if (call) printf("%s failed", #call)
#define NUMBER(v) printf(_Generic((v), float: "%.17g ", double: "%.17g ", int32_t: "%d ", \\
    uint32_t: "%u ", default: "%lu "), v)
#define NUMBERS(v, count) for (size_t i = 0; i < (count); i++) NUMBER((v)[i]);

static int product(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + 3 * i, second = x[1] * x[2];
        b->y[i] = x[0] + second;
    }
    return 0;
}

static int itself(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++)
        memcpy(b->y + b->columns * i, b->x + 3 * i, b->columns * sizeof *b->y);
    return 0;
}

static certreg_estimator *e;
static certreg_certificate c[9], both;
static const float z[] = {1, 0.5, -0.25};

static void started(certreg_model m, certreg_plan p)
{
    certreg_estimator_destroy(e);
    GOOD(certreg_estimator_create(NULL, &m, &p, NULL, &e));
    both.struct_size = sizeof both;
    for (size_t i = 0; i < 9; i++)
        c[i].struct_size = sizeof c[i];
}
"""


def show(struct, place):
    each = {"fault_radius": "NUMBERS({}, 8); "}
    texts = (each.get(field, "NUMBER({}); ") for field in FIELDS[struct])
    return "".join(map(str.format, texts, (f"{place}.{field}" for field in FIELDS[struct])))


CALIBRATES = f"""
static void calibrated(certreg_model m, certreg_plan p, certreg_calibration w)
{{
    double scores[440], lo[99], hi[99], near[] = {{0.5, 0.25}};
    certreg_coverage v = {{.struct_size = sizeof v, .radius = 0.1, .alpha = 0.2, .samples = 11}};
    certreg_rule r = {{.struct_size = sizeof r}};
    certreg_interval s = {{.struct_size = sizeof s}};
    int32_t inside, outputs = w.score == CERTREG_SCORE_QUANTILES ? 1 : w.outputs;
    w.scores = scores;
    started(m, p);
    for (size_t i = 0; i < 40; i++) {{
        const float x[] = {{i / 16.0f, 1 - i / 32.0f, i % 7 / 4.0f}};
        const double y[] = {{i / 16.0 + i % 5 / 8.0 - 0.25, 1 - i / 32.0}};
        GOOD(certreg_estimator_begin_level(e, x, 0.5, i, {int(Domain.INTERVALS)}));
        GOOD(certreg_estimator_sample(e, 0, 11));
        GOOD(certreg_estimator_calibrate(e, &w, y));
    }}
    GOOD(certreg_interval_rule(&v, &w, NULL, &r));
    {show("rule", "r")} NUMBERS(scores, 440);
    p.seed = 6;
    started(m, p);
    GOOD(certreg_estimator_begin(e, z, 0.5, 9) || certreg_estimator_sample(e, 0, 11));
    for (int32_t k = 0; k < outputs; k++) {{
        GOOD(certreg_estimator_interval(e, &w, &r, k, lo, hi, 99, &s));
        {show("interval", "s")} NUMBERS(lo, s.pieces); NUMBERS(hi, s.pieces);
    }}
    GOOD(certreg_estimator_begin(e, z, 0.5, 9) || certreg_estimator_sample(e, 0, 11));
    GOOD(certreg_estimator_covers(e, &w, &r, near, &inside));
    NUMBER(inside);
}}
"""


def itself(x):
    return x


def two(x):
    return x[:, :2]


# ---- how arguments of Python are written in C
TYPES = dict(scale="float", kind="int32_t", looks="uint64_t", direction="float")
SETS = dict(kind="OUTPUT", constraints="CONSTRAINTS")
COUNTS = dict(looks="look_count", prediction="prediction_count")


def written(name, value):
    """A field of a struct in C for an argument of Python."""
    if name == "target" and not isinstance(value, Target):
        value = Target(value)
    if isinstance(value, (Target, Serving)):
        return f".{name} = &{initializer(name, **vars(value))}"
    if name in ("prediction", "scale", "kind", "lo", "hi", "looks", "direction", "units"):
        each = value if isinstance(value, list) else [value]
        array = ", ".join(f"CERTREG_OUTPUT_{k.upper()}" if k is str(k) else str(k) for k in each)
        count = f", .{COUNTS[name]} = {len(each)}" if name in COUNTS and each is value else ""
        return f".{name} = ({TYPES.get(name, 'double')}[]){{{array}}}{count}"
    if isinstance(value, str) and name != "eval":
        return f".{name} = CERTREG_{SETS.get(name, name.upper())}_{value.upper()}"
    value = int(value) if isinstance(value, bool) else value
    return f".{name} = {value}{'u' if name == 'seed' else ''}"


def initializer(struct, **fields):
    given = ", ".join(written(name, v) for name, v in fields.items() if v is not None)
    return f"(certreg_{struct}){{.struct_size = sizeof(certreg_{struct}), {given}}}"


def filled(struct, call):
    """A call that fills a struct, which is shown."""
    return f"certreg_{struct} s = {{.struct_size = sizeof s}}; GOOD({call}); {show(struct, 's')}"


def made_of(f, plan):
    """The model and the plan of an estimator, which states that its outputs are rounded."""
    plan = {**plan, "flags": plan.get("flags", 0) | PLAN_ROUNDED}
    given = {"max_samples": 600, "seed": 42, "inputs": 3, "outputs": 1, **plan}
    given["eval"] = "product" if f is model else "itself"
    return ", ".join(
        initializer(struct, **{k: v for k, v in given.items() if k in structs()[struct]})
        for struct in ("model", "plan")
    )


BEGIN = "GOOD(certreg_estimator_begin(e, z, 0.25, 9)); "
SAMPLE = BEGIN + "GOOD(certreg_estimator_sample(e, 0, 600)); "
EACH = "for (size_t i = 0; i < n; i++) { " + show("certificate", "c[i]") + "} "
CERTIFIED = BEGIN + "GOOD(certreg_certify(e, 600, q, n, c)); "
ATTACK = (
    "certreg_attack *a; certreg_attack_plan w = {.struct_size = sizeof w, .max_calls = 900}; "
    "GOOD(certreg_attack_create(e, &w, NULL, &a)); "
)


def sampled(e):
    e.begin(Z, 0.25, 9)
    e.sample(0, 600)
    return e


def certified(e, *q):
    return e.certify(Z, 0.25, 600, *q, noise_id=9)


def attacked(**more):
    def call(e, q):
        certified(e, q)
        found = e.attack(q, 900, **more)
        return found, found.shift

    return call


def attack_in_c(**more):
    options = initializer("attack_options", calls=900, **more)
    run = f"float shift[3]; certreg_attack_options o = {options}; "
    run += filled("attack_result", "certreg_attack_run(a, q, &o, shift, &s)")
    return CERTIFIED + ATTACK + run + "NUMBERS(shift, 3); certreg_attack_destroy(a);"


def of_hand(name, make, struct, arguments, in_c, **plan):
    """A row of a call about bounds that are filled in by hand, and its cost."""
    kind = make.__name__.lower()
    text = f"certreg_bounds b[] = {{{initializer('bounds', constraints='ECGM', **HAND)}}}; "
    text += f"certreg_{kind}_plan p = {initializer(f'{kind}_plan', max_evaluations=9000, **plan)}; "
    text += f"certreg_{kind} *h; GOOD(certreg_{kind}_create(&p, NULL, &h)); "
    asks = f"certreg_{kind}_{name}(h, b, {in_c}&s)"
    values = (
        f"certreg_worst_function s = {{.struct_size = sizeof s}}; GOOD({asks}); double v[4]; "
        "GOOD(certreg_worst_function_values(&s, 4, (double[]){-1, 0, 0.5, 2}, v)); NUMBERS(v, 4); "
    )
    text += f"{{ {filled(struct, asks) if struct else values}}} "
    text += filled("solve_info", f"certreg_{kind}_info(h, &s)") + f" certreg_{kind}_destroy(h);"

    def call(e, q):
        with make(max_evaluations=9000, **plan) as handle:
            found = getattr(handle, name)(Bounds(**HAND), *arguments)
            return found if struct else found.values([-1, 0, 0.5, 2]), handle.info()

    return row(call, text)


def calibrated(outputs, score, truths, units=None, **plan):
    """A row of a calibration by 40 points, and of the interval of a new input."""
    i = np.arange(40)
    points = np.stack([i / 16, 1 - i / 32, i % 7 / 4], 1)
    y = np.stack([i / 16 + i % 5 / 8 - 0.25, 1 - i / 32], 1)[:, :truths]

    def call(e, q):
        more = dict(samples=11, score=score, units=units, seed=42, inputs_seed=6, **plan)
        f = lambda x: x[:, :outputs]  # noqa: E731
        with certreg.Calibrated(f, points, y, 0.5, outputs=outputs, **more) as c:
            found = c.interval(Z, 0.1, 0.2, noise_id=9)
            each = [(one, *np.transpose(one.pieces)) for one in np.atleast_1d(found)]
            inside = c.covers(Z, [0.5, 0.25][:truths], 0.1, 0.2, noise_id=9)
            return c.rule(0.1, 0.2), c.scores, each, int(inside)

    given = dict(sigma=0.5, outputs=outputs, score=score, units=units)
    w = initializer("calibration", capacity=40, **given)
    made = {**plan, "outputs": outputs, "max_samples": 11, "pilot": certreg.NO_PILOT}
    return row(call, f"calibrated({made_of(itself, made)}, {w});")


def row(call, in_c, f=model, asked=({},), **plan):
    """The model, the plan, the questions, the call of Python and the same in C."""
    return f, plan, [{"tolerance": 0.5, **one} for one in asked], call, in_c


def about(asked=None, f=model, **plan):
    """A row of a certificate and its run."""
    info = filled("run", "certreg_estimator_info(e, &s)")
    call = lambda e, *q: (certified(e, *q), e.info())  # noqa: E731
    return row(call, CERTIFIED + EACH + info, f, [asked or {}], **plan)


RANGED, GRADIENT, THREE = dict(lo=-9, hi=9), dict(constraints="ECGM"), dict(f=itself, outputs=3)
MEAN = dict(statistic="mean", method="asymptotic", **GRADIENT)
PAPER = dict(statistic="mean", method="paper", center="true_mean", constraints="CG")
TRIMMED = dict(statistic="trimmed_mean", method="baseline", serving=Serving(51, 0.2, 0.4, 0.3))
VECTOR = dict(THREE, lo=[-9] * 3, hi=[9] * 3)
ALONG = dict(alpha=0.1, number=3, direction=[1, -0.25, 0.5])
PAIRS = Serving(599, 0.01, pairs=True)
ENOUGH = dict(radius=0.1, sigma=0.5, points=500, alpha=0.1, samples=31, calibration_samples=51)
SIGMAS = "GOOD(certreg_certify_sigmas(e, z, (double[]){0.25, 2}, 2, 3, 600, q, n, c)); "
SOME = "CERTREG_CONSTRAINTS_"


ROWS = {
    # ---- fields of questions
    "question": about(),
    "question.alpha": about(dict(alpha=0.2)),
    "question.method": about(dict(method="anytime")),
    "question.huber_width": about(dict(statistic="huber", huber_width=0.2)),
    "question.statistic": about(dict(statistic="mean"), **RANGED),
    "question.constraints": about(PAPER, **GRADIENT, **RANGED),
    "question.center": about(dict(method="baseline", center="sample_median")),
    "question.bonferroni": about(dict(bonferroni=3)),
    "question.prediction": about(dict(prediction=0.9)),
    "question.predictions": about(dict(output=ALL_OUTPUTS, prediction=[1, 0.5, -0.25]), **VECTOR),
    "question.target": about(dict(target=0.1), pilot=20, batch=20),
    "question.looks": about(dict(target=Target(0.1, looks=[300, 600]))),
    "question.serving": about(dict(serving=Serving(101, 0.01))),
    "question.serving.pairs": about(dict(serving=Serving(101, 0.01, pairs=True))),
    "question.serving.trim": about(dict(TRIMMED, tolerance=2), **RANGED),
    "question.output": about(dict(output=1), **THREE),
    "question.output_count": about(dict(output=1, output_count=2), **VECTOR),
    "question.outputs": about(dict(output=ALL_OUTPUTS, statistic="projection_median"), **VECTOR),
    # ---- fields of plans
    "plan.scale": about(scale=[1, 2, 0]),
    "plan.kind": about(kind="angle", lo=-180, hi=180),
    "plan.kind of a pair": about(kind="angle_pair", f=two),
    "plan.kinds": about(kind=["real", "angle", "real"], **THREE),
    "plan.lo": about(**RANGED),
    "plan.batch": about(batch=7),
    "plan.pilot": about(pilot=77),
    "plan.seed": about(seed=2**64 - 1),
    "plan.flags": about(flags=certreg.PLAN_COUNT_FAILURES),
    "plan.blocks": about(MEAN, blocks=100, **GRADIENT),
    # ---- calls
    "certify": row(certified, CERTIFIED + EACH, asked=[dict(tolerance=t) for t in (1, 0.1, 1e-9)]),
    "output_bounds": row(
        lambda e, *q: sampled(e).output_bounds(600, 0.1, *q),
        SAMPLE + "GOOD(certreg_output_bounds(e, 600, q, n, 0.1, c)); " + EACH,
        asked=[{}, dict(alpha=0.2)],
    ),
    "certify_outputs": row(
        lambda e, *q: sampled(e).certify_outputs(600, *q),
        SAMPLE + "GOOD(certreg_certify_outputs(e, 600, q, n, c, &both)); "
        + show("certificate", "both") + EACH,
        asked=[dict(tolerance=1.5, output_count=2), dict(output=2)],
        kind=["real", "real", "angle"], **THREE,
    ),
    "certify_sigmas": row(lambda e, *q: e.certify_sigmas(Z, [0.25, 2], 600, *q, noise_id=3),
                          SIGMAS + EACH.replace("< n", "< 2 * n"), asked=[{}, dict(tolerance=1)]),
    "choose_sigma": row(
        lambda e, q: certreg.choose_sigma([e.certify_sigmas(Z, [0.25, 2], 600, q, noise_id=3)])[:2],
        SIGMAS + "double r[2]; size_t k; GOOD(certreg_choose_sigma(c, 1, 2, NULL, r, &k)); "
        "NUMBER(k); NUMBERS(r, 2);",
    ),
    "begin": row(
        lambda e, q: (e.begin(Z, 0.25, 2, 70), e.certify(600, q), e.info())[1:],
        "GOOD(certreg_estimator_begin_level(e, z, 0.25, 2, 70)); "
        "GOOD(certreg_certify(e, 600, q, n, c)); " + EACH
        + filled("run", "certreg_estimator_info(e, &s)"),
    ),
    "forecast": row(
        lambda e, q: sampled(e).forecast(q),
        SAMPLE + filled("forecast", "certreg_estimator_forecast(e, q, &s)"),
        asked=[dict(target=0.2)],
    ),
    **{
        name: row(
            lambda e, q, name=name: getattr(sampled(e), name)(q),
            SAMPLE + f"double r[3]; GOOD(certreg_estimator_{name}(e, q, r)); NUMBERS(r, 3);",
            asked=[dict(output=ALL_OUTPUTS)], **VECTOR,
        )
        for name in ("prediction", "estimate")
    },
    "estimate of pairs": row(
        lambda e, q: (e.begin(Z, 0.25, 9), e.sample(0, 599), e.estimate(q))[2],
        BEGIN + "GOOD(certreg_estimator_sample(e, 0, 599)); "
        "double r; GOOD(certreg_estimator_estimate(e, q, &r)); NUMBER(r);",
        asked=[dict(output=1, serving=PAIRS)],
        f=two, outputs=2, flags=certreg.PLAN_PAIRS, pilot=certreg.NO_PILOT,
    ),
    "bounds": row(
        lambda e, q: sampled(e).bounds(q, "upper"),
        SAMPLE + filled("bounds", "certreg_estimator_bounds(e, q, CERTREG_SIDE_UPPER, &s)"),
        asked=[MEAN], **GRADIENT, **RANGED,
    ),
    "draw": row(
        lambda e, q: (e.begin(Z, 0.25, 9), e.draw(5, 7))[1],
        BEGIN + "float x[21]; GOOD(certreg_estimator_draw(e, 5, 7, x)); NUMBERS(x, 21);",
        scale=[1, 2, 0],
    ),
    "record and export": row(
        lambda e, q: (e.begin(Z, 0.25, 9), e.record(2, [0.5, 1.5]), e.export())[2],
        BEGIN + "GOOD(certreg_estimator_record(e, 2, 2, (float[]){0.5, 1.5})); uint8_t data[9999]; "
        "size_t bytes = sizeof data; GOOD(certreg_estimator_export(e, data, &bytes)); "
        "for (size_t i = 0; i < bytes; i++) NUMBER((uint32_t)data[i]);",
    ),
    "moved": row(
        lambda e, q: certified(e, q).moved(Z, [1.125, 0.5, -0.25], [1, 2, 0]),
        CERTIFIED + "float scale[] = {1, 2, 0}, to[] = {1.125, 0.5, -0.25}; "
        "GOOD(certreg_move_certificate(c, 3, scale, z, to, NULL, c)); " + EACH,
        scale=[1, 2, 0],
    ),
    "attack": row(attacked(), attack_in_c()),
    "attack along": row(attacked(**ALONG), attack_in_c(**ALONG)),
    "gradient": row(
        lambda e, q: (certified(e, q), e.gradient(q, "upper"))[1],
        CERTIFIED + ATTACK + "double g[3]; GOOD(certreg_attack_gradient(a, q, CERTREG_SIDE_UPPER, "
        "g)); NUMBERS(g, 3); certreg_attack_destroy(a);",
    ),
    "question_digest": row(
        lambda e, q: certreg.question_digest(q),
        "uint64_t d; GOOD(certreg_question_digest(q, NULL, &d)); NUMBER(d);",
        asked=[dict(target=Target(0.1, [100, 600]), prediction=0.9)],
    ),
    "interval_rule": row(
        lambda e, q: certreg.interval_rule(**ENOUGH),
        f"certreg_coverage w = {initializer('coverage', **ENOUGH)}; "
        + filled("rule", "certreg_interval_rule(&w, NULL, NULL, &s)"),
    ),
    "Calibrated": calibrated(1, "norm", 1),
    "Calibrated of an angle": calibrated(1, "norm", 1, kind="angle", lo=-1, hi=3),
    "Calibrated of a vector": calibrated(2, "largest", 2, units=[1, 2], scale=[1, 2, 0.5]),
    "Calibrated of quantiles": calibrated(2, "quantiles", 1),
    # ---- handles about bounds
    **{
        name: of_hand(name.split()[0], make, struct, call, in_c, **plan)
        for name, make, struct, call, in_c, plan in (
            ("worst_case", Solver, "mean_change", (0.1,), "0, 0.1, ", {}),
            ("within", Bisection, "radius", (0.5, "C"), f"{SOME}C, 0.5, ", dict(accuracy=0.3)),
            ("within a cap", Bisection, "radius", (0.5,), "0, 0.5, ", dict(cap=0.01)),
            ("above", Bisection, "radius", (0.45,), "(double[]){0.45}, 1, 0, ", {}),
            ("worst_function", Solver, None, (0.1, "upper"), "0, 0.1, CERTREG_SIDE_UPPER, ", {}),
        )
    },
}  # fmt: skip


def in_c(f, plan, questions, call):
    """The block of a row."""
    asked = ", ".join(initializer("question", **one) for one in questions)
    start = f"const certreg_question q[] = {{{asked}}}; const size_t n = {len(questions)}; "
    return f"{{ {start}(void)n; started({made_of(f, plan)}); {call} }} printf(\"\\n\");"


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What C says to each row."""
    folder = tmp_path_factory.mktemp("calls")
    blocks = "\n".join(in_c(*row[:3], row[4]) for row in ROWS.values())
    text = "#define CERTREG_EXPERIMENTAL\n"
    text += "".join(f"#include <certreg/{name}>\n" for name in HEADERS)
    (folder / "calls.c").write_text(f"{text}{PROGRAM}{CALIBRATES}int main(void) {{\n{blocks}\n}}\n")
    library, program = os.path.abspath(certreg.library_path), folder / "calls"
    command = [*os.environ.get("CC", "cc").split(), "-std=c11", "-ffp-contract=off"]
    command += [f"-I{root / 'include'}", folder / "calls.c", library, "-o", program]
    subprocess.run(command + [f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(zip(ROWS, said.splitlines()))


def numbers(answer):
    """The fields of results, in the order of the headers."""
    for struct in FIELDS:
        if type(answer).__name__ == python_name(struct):
            found = {field: getattr(answer, field) for field in FIELDS[struct]}
            pieces = {k: len(f) if isinstance(f, tuple) else f for k, f in found.items()}
            each = ([*f] if k == "fault_radius" else [pieces[k]] for k, f in found.items())
            return [number for some in each for number in some]
    if isinstance(answer, (list, tuple)):
        return [number for one in answer for number in numbers(one)]
    return list(answer) if isinstance(answer, bytes) else np.ravel(answer).tolist()


@parametrize("name", *ROWS)
def test_python_is_what_c_is(answers, name):
    f, plan, questions, call, _ = ROWS[name]
    with estimator(f, **{"max_samples": 600, "check": False, **plan}) as e:
        found = numbers(call(e, *(Question(**one) for one in questions)))
    wanted = answers[name].split()
    assert len(found) == len(wanted) > 0, answers[name]
    for ours, there in zip(found, wanted):
        there = int(there) if re.fullmatch(r"-?\d+", there) else float(there)
        assert ours is None or ours == there or ours != ours and there != there, (ours, there)


# ---- claims are written in C and nowhere else
CLAIM, PLACE = "(?:radius|outcome|alpha|output_lo|output_hi)", r"[\w.\[\]]+"
WRITES = re.compile(  # `self`, `given` and `kinds` are no certificates
    rf"^\s*(?:{PLACE}, )*(?!self|given|kinds){PLACE}(?:\.{CLAIM}|\[.{CLAIM}.\])"
    rf"(?:(?:,| =) {PLACE})* [-+*/]?= |S\.Certificate\(.*{CLAIM}=(?!-?math)|setattr\(.*{CLAIM}"
)


def test_no_line_of_python_writes_a_claim():
    lines = ("c.radius = 1", "c.output_lo -= 1", "out[0]['alpha'] = 1", "b, a[i].outcome = 1, 2")
    assert all(map(WRITES.search, (*lines, "S.Certificate(radius=1)", "setattr(c, 'radius', 1)")))
    files = {file.name: file.read_text("utf-8") for file in (root / "python/certreg").rglob("*.py")}
    found = [(name, n) for name, text in files.items() for n, line in enumerate(text.split("\n"), 1)
             if WRITES.search(line)]  # fmt: skip
    assert found == []
