"""What Python asks the library, and what it answers, is what a program in C asks and gets, bit for
bit: every field of a question and a plan, and every call. The program is written by these rows."""

import os
import re
import subprocess

import numpy as np
import pytest

from kit import Z, certreg, estimator, model, parametrize, root
from certreg import ALL_OUTPUTS, Bisection, Bounds, Domain, Question, Serving, Solver, Target
from test_header import HEADERS, python_name, structs

SAMPLES = 600
UNSHOWN = {"struct_size", "reserved", "model_seconds", "library_seconds", "seconds", "calibration"}
FIELDS = {name: [f for f in fields if f not in UNSHOWN] for name, fields in structs().items()}
HAND = dict(sigma=0.5, mean_lo=0.95, mean_hi=1.05, variance_hi=2, range_lo=-3.2, range_hi=3.2)
HAND.update(gradient_lo=0.7, gradient_hi=0.85)
NEAR = [1.125, 0.5, -0.25]

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
static const float z[] = {1, 0.5, -0.25}, to[] = {1.125, 0.5, -0.25};

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
    return "".join(f"NUMBER({place}.{field}); " for field in FIELDS[struct])


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
    """The model and the plan of an estimator."""
    given = {"max_samples": SAMPLES, "seed": 42, "inputs": 3, "outputs": 1, **plan}
    given["eval"] = "product" if f is model else "itself"
    return ", ".join(
        initializer(struct, **{k: v for k, v in given.items() if k in structs()[struct]})
        for struct in ("model", "plan")
    )


BEGIN = "GOOD(certreg_estimator_begin(e, z, 0.25, 9)); "
SAMPLE = BEGIN + f"GOOD(certreg_estimator_sample(e, 0, {SAMPLES})); "
EACH = "for (size_t i = 0; i < n; i++) { " + show("certificate", "c[i]") + "} "
CERTIFIED = BEGIN + f"GOOD(certreg_certify(e, {SAMPLES}, q, n, c)); "
ATTACK = (
    "certreg_attack *a; certreg_attack_plan w = {.struct_size = sizeof w, .max_calls = 900}; "
    "GOOD(certreg_attack_create(e, &w, NULL, &a)); float shift[3]; double g[3]; "
)


def sampled(e):
    e.begin(Z, 0.25, 9)
    e.sample(0, SAMPLES)
    return e


def certified(e, *q):
    return e.certify(Z, 0.25, SAMPLES, *q, noise_id=9)


def certified_in_a_run(e, *q):
    return certified(e, *q), e.info()


def attacked(e, q, **more):
    found = e.attack(q, 900, **more)
    return found, found.shift


def attack_in_c(**more):
    options = initializer("attack_options", calls=900, **more)
    run = f"certreg_attack_options o = {options}; "
    run += filled("attack_result", "certreg_attack_run(a, q, &o, shift, &s)")
    return CERTIFIED + ATTACK + run + "NUMBERS(shift, 3); certreg_attack_destroy(a);"


def of_hand(make, call, struct, in_c, **plan):
    """A call of a handle about bounds that are filled in by hand."""
    kind = make.__name__.lower()
    text = f"certreg_bounds b[] = {{{initializer('bounds', constraints='ECGM', **HAND)}}}; "
    text += f"certreg_{kind}_plan p = {initializer(f'{kind}_plan', **plan)}; certreg_{kind} *h; "
    text += f"GOOD(certreg_{kind}_create(&p, NULL, &h)); double at = 0.45; (void)at; "
    run = filled(struct, f"certreg_{kind}_{in_c}") if struct else (
        "certreg_worst_function f = {.struct_size = sizeof f}; GOOD(certreg_solver_" + in_c
    )

    def asked(e, q):
        with make(**plan) as handle:
            return call(handle, Bounds(**HAND))

    return asked, f"{text}{run} certreg_{kind}_destroy(h);"


def calibration(outputs, score, truths, units=None, **plan):
    """A row: a calibration by 40 points, and the interval of a new input."""
    i = np.arange(40)
    points = np.stack([i / 16, 1 - i / 32, i % 7 / 4], 1)
    y = np.stack([i / 16 + i % 5 / 8 - 0.25, 1 - i / 32], 1)[:, :truths]

    def asked(e, q):
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
    parts = made_of(itself, made)
    return itself, dict(outputs=outputs), [dict(tolerance=1)], asked, f"calibrated({parts}, {w});"


PAPER = dict(statistic="mean", method="paper", center="true_mean")
RANGED = dict(lo=-9, hi=9)
ALONG = dict(alpha=0.1, number=3, direction=[1, -0.25, 0.5])
VECTOR = dict(outputs=3, lo=[-9] * 3, hi=[9] * 3)
SETS_OF_FOUR = dict(constraints="ECGM")
CERTIFY = certified_in_a_run, CERTIFIED + EACH + filled("run", "certreg_estimator_info(e, &s)")
ALL = dict(output=ALL_OUTPUTS)
#   what it is about: the model, the plan, the questions, the call and the same in C
ROWS = {
    # ---- fields of questions
    **{
        f"question {name}": (f, plan, [dict(tolerance=0.5, **asked)], *CERTIFY)
        for name, f, plan, asked in (
            ("alone", model, {}, {}),
            ("alpha", model, {}, dict(alpha=0.2)),
            ("anytime", model, {}, dict(method="anytime")),
            ("huber", model, {}, dict(statistic="huber", huber_width=0.2)),
            ("mean", model, RANGED, dict(statistic="mean")),
            ("paper", model, {**SETS_OF_FOUR, **RANGED}, dict(PAPER, constraints="CG")),
            ("baseline", model, {}, dict(method="baseline", center="sample_median")),
            ("bonferroni", model, {}, dict(bonferroni=3)),
            ("prediction", model, {}, dict(prediction=0.9)),
            ("target", model, dict(pilot=20, batch=20), dict(target=0.1)),
            ("looks", model, {}, dict(target=Target(0.1, looks=[300, 600]))),
            ("serving", model, {}, dict(serving=Serving(101, 0.01))),
            ("pairs", model, {}, dict(serving=Serving(101, 0.01, pairs=True))),
            ("second output", itself, dict(outputs=3), dict(output=1)),
            ("group", itself, VECTOR, dict(output=1, output_count=2)),
            ("vector", itself, VECTOR, dict(ALL, statistic="projection_median")),
            ("given vector", itself, VECTOR, dict(ALL, prediction=[1, 0.5, -0.25])),
        )
    },
    "question trimmed": (
        model,
        RANGED,
        [dict(tolerance=2, statistic="trimmed_mean", method="baseline",
              serving=Serving(51, 0.2, trim=0.4, core=0.3))],
        *CERTIFY,
    ),
    "questions": (model, {}, [dict(tolerance=t) for t in (0.5, 0.1, 1e-9)], *CERTIFY),
    # ---- fields of plans
    **{
        f"plan {name}": (f, plan, [dict(tolerance=0.6)], *CERTIFY)
        for name, f, plan in (
            ("scale", model, dict(scale=[1, 2, 0])),
            ("angle", model, dict(kind="angle")),
            ("turn", model, dict(kind="angle", lo=-180, hi=180)),
            ("pair", two, dict(kind="angle_pair")),
            ("outputs", itself, dict(outputs=3, kind=["real", "angle", "real"])),
            ("batch", model, dict(batch=7)),
            ("pilot", model, dict(pilot=77)),
            ("seed", model, dict(seed=2**64 - 1)),
            ("range", model, RANGED),
            ("failures", model, dict(flags=certreg.PLAN_COUNT_FAILURES)),
        )
    },
    "plan blocks": (
        model,
        dict(SETS_OF_FOUR, blocks=100),
        [dict(tolerance=0.5, statistic="mean", method="asymptotic", constraints="ECGM")],
        *CERTIFY,
    ),
    # ---- calls
    "output_bounds": (
        model, {}, [dict(tolerance=1)] * 2,
        lambda e, *q: sampled(e).output_bounds(SAMPLES, 0.1, *q),
        SAMPLE + f"GOOD(certreg_output_bounds(e, {SAMPLES}, q, n, 0.1, c)); " + EACH,
    ),
    "certify_outputs": (
        itself, dict(outputs=3, kind=["real", "real", "angle"]),
        [dict(tolerance=1.5, output_count=2), dict(tolerance=1.2, output=2)],
        lambda e, *q: sampled(e).certify_outputs(SAMPLES, *q),
        SAMPLE + f"GOOD(certreg_certify_outputs(e, {SAMPLES}, q, n, c, &both)); "
        + show("certificate", "both") + EACH,
    ),
    "certify_sigmas": (
        model, {}, [dict(tolerance=0.5), dict(tolerance=1)],
        lambda e, *q: e.certify_sigmas(Z, [0.25, 0.5], SAMPLES, *q, noise_id=3),
        f"GOOD(certreg_certify_sigmas(e, z, (double[]){{0.25, 0.5}}, 2, 3, {SAMPLES}, q, n, c)); "
        + EACH.replace("< n", "< 2 * n"),
    ),
    "choose_sigma": (
        model, {}, [dict(tolerance=0.5)],
        lambda e, q: certreg.choose_sigma([e.certify_sigmas(Z, [0.25, 2], SAMPLES, q, noise_id=0)]),
        f"GOOD(certreg_certify_sigmas(e, z, (double[]){{0.25, 2}}, 2, 0, {SAMPLES}, q, n, c)); "
        "double r[2]; size_t k; GOOD(certreg_choose_sigma(c, 1, 2, r, &k)); "
        "NUMBER(k); NUMBERS(r, 2)",
    ),
    "level": (
        model, {}, [dict(tolerance=0.5)],
        lambda e, q: (e.begin(Z, 0.25, 2, 70), e.certify(SAMPLES, q), e.info())[1:],
        "GOOD(certreg_estimator_begin_level(e, z, 0.25, 2, 70)); "
        f"GOOD(certreg_certify(e, {SAMPLES}, q, n, c)); " + EACH
        + filled("run", "certreg_estimator_info(e, &s)"),
    ),
    "forecast": (
        model, {}, [dict(tolerance=0.5, target=0.2)],
        lambda e, q: sampled(e).forecast(q),
        SAMPLE + filled("forecast", "certreg_estimator_forecast(e, q, &s)"),
    ),
    **{
        name: (
            itself, VECTOR, [dict(tolerance=1, **ALL)],
            lambda e, q, name=name: getattr(sampled(e), name)(q),
            SAMPLE + f"double r[3]; GOOD(certreg_estimator_{name}(e, q, r)); NUMBERS(r, 3)",
        )
        for name in ("prediction", "estimate")
    },
    "bounds": (
        model, dict(SETS_OF_FOUR, **RANGED),
        [dict(tolerance=0.5, statistic="mean", method="asymptotic", constraints="ECGM")],
        lambda e, q: sampled(e).bounds(q, "upper"),
        SAMPLE + filled("bounds", "certreg_estimator_bounds(e, q, CERTREG_SIDE_UPPER, &s)"),
    ),
    "serving from pairs": (
        two, dict(outputs=2, flags=certreg.PLAN_PAIRS, pilot=certreg.NO_PILOT),
        [dict(tolerance=1, output=1, serving=Serving(SAMPLES - 1, 0.01, pairs=True))],
        lambda e, q: (e.begin(Z, 0.25, 9), e.sample(0, SAMPLES - 1), e.estimate(q))[2],
        BEGIN + f"GOOD(certreg_estimator_sample(e, 0, {SAMPLES - 1})); "
        "double r; GOOD(certreg_estimator_estimate(e, q, &r)); NUMBER(r);",
    ),
    "draw": (
        model, dict(scale=[1, 2, 0]), [dict(tolerance=1)],
        lambda e, q: (e.begin(Z, 0.25, 9), e.draw(5, 7))[1],
        BEGIN + "float x[21]; GOOD(certreg_estimator_draw(e, 5, 7, x)); NUMBERS(x, 21)",
    ),
    "record and export": (
        model, {}, [dict(tolerance=1)],
        lambda e, q: (e.begin(Z, 0.25, 9), e.record(2, [0.5, 1.5]), e.export())[2],
        BEGIN + "GOOD(certreg_estimator_record(e, 2, 2, (float[]){0.5, 1.5})); size_t bytes; "
        "GOOD(certreg_estimator_export(e, NULL, &bytes)); uint8_t *data = malloc(bytes); "
        "GOOD(certreg_estimator_export(e, data, &bytes)); "
        "for (size_t i = 0; i < bytes; i++) NUMBER((uint32_t)data[i]); free(data);",
    ),
    "moved": (
        model, dict(scale=[1, 2, 0]), [dict(tolerance=0.5)],
        lambda e, q: certified(e, q).moved(Z, NEAR, [1, 2, 0]),
        CERTIFIED + "float scale[] = {1, 2, 0}; "
        "GOOD(certreg_move_certificate(c, 3, scale, z, to, c, NULL)); " + EACH,
    ),
    "attack": (model, {}, [dict(tolerance=0.5)],
               lambda e, q: (certified(e, q), *attacked(e, q))[1:], attack_in_c()),
    "attack along": (
        model, {}, [dict(tolerance=0.5)],
        lambda e, q: (certified(e, q), *attacked(e, q, **ALONG))[1:], attack_in_c(**ALONG),
    ),
    "gradient": (
        model, {}, [dict(tolerance=0.5)],
        lambda e, q: (certified(e, q), e.gradient(q, "upper"))[1],
        CERTIFIED + ATTACK + "GOOD(certreg_attack_gradient(a, q, CERTREG_SIDE_UPPER, g)); "
        "NUMBERS(g, 3) certreg_attack_destroy(a); (void)shift;",
    ),
    "question_digest": (
        model, {}, [dict(tolerance=0.5, target=Target(0.1, [100, 600]), prediction=0.9)],
        lambda e, q: certreg.question_digest(q),
        "uint64_t d; GOOD(certreg_question_digest(q, &d)); NUMBER(d);",
    ),
    "interval_rule": (
        model, {}, [dict(tolerance=0.5)],
        lambda e, q: certreg.interval_rule(0.1, 0.5, 500, alpha=0.1, samples=31,
                                           calibration_samples=51),
        "certreg_coverage w = " + initializer("coverage", radius=0.1, sigma=0.5, points=500,
                                              alpha=0.1, samples=31, calibration_samples=51)
        + "; " + filled("rule", "certreg_interval_rule(&w, NULL, NULL, &s)"),
    ),
    "calibration": calibration(1, "norm", 1),
    "calibration of an angle": calibration(1, "norm", 1, kind="angle", lo=-1, hi=3),
    "calibration of a vector": calibration(2, "largest", 2, units=[1, 2], scale=[1, 2, 0.5]),
    "calibration of quantiles": calibration(2, "quantiles", 1),
    # ---- handles about bounds
    "worst_function": (model, {}, [dict(tolerance=1)], *of_hand(
        Solver, lambda s, b: s.worst_function(b, 0.1, "upper").values([-1, 0, 0.5, 2]), None,
        "worst_function(h, b, 0, 0.1, CERTREG_SIDE_UPPER, &f)); double v[4]; "
        "GOOD(certreg_worst_function_values(&f, 4, (double[]){-1, 0, 0.5, 2}, v)); NUMBERS(v, 4) ",
    )),
    **{
        name: (model, {}, [dict(tolerance=1)], *of_hand(*call, **plan))
        for name, plan, call in (
            ("worst_case", {}, (Solver, lambda s, b: s.worst_case(b, 0.1), "mean_change",
                                "worst_case(h, b, 0, 0.1, &s)")),
            ("worst_case of some", dict(max_evaluations=1500),
             (Solver, lambda s, b: s.worst_case(b, 0.1, "ECM"), "mean_change",
              "worst_case(h, b, CERTREG_CONSTRAINTS_ECM, 0.1, &s)")),
            ("within", {}, (Bisection, lambda s, b: s.within(b, 0.5), "radius",
                            "within(h, b, 0, 0.5, &s)")),
            ("within some", {}, (Bisection, lambda s, b: s.within(b, 0.5, "C"), "radius",
                                 "within(h, b, CERTREG_CONSTRAINTS_C, 0.5, &s)")),
            ("within roughly", dict(accuracy=0.3),
             (Bisection, lambda s, b: s.within(b, 0.5), "radius", "within(h, b, 0, 0.5, &s)")),
            ("within a cap", dict(cap=0.01, max_evaluations=5000),
             (Bisection, lambda s, b: s.within(b, 0.5), "radius", "within(h, b, 0, 0.5, &s)")),
            ("above", {}, (Bisection, lambda s, b: s.above([b], 0.45), "radius",
                           "above(h, b, &at, 1, 0, &s)")),
            ("above nothing", {}, (Bisection, lambda s, b: s.above(b), "radius",
                                   "above(h, b, NULL, 1, 0, &s)")),
            ("cost", {}, (Bisection, lambda s, b: (s.above(b), s.info())[1], "solve_info",
                          "above(h, b, NULL, 1, 0, &(certreg_radius){.struct_size = "
                          "sizeof(certreg_radius)}) || certreg_bisection_info(h, &s)")),
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
            found = [getattr(answer, field) for field in FIELDS[struct]]
            return [len(f) if isinstance(f, tuple) else f for f in found]  # of pieces their number
    if isinstance(answer, (list, tuple)):
        return [number for one in answer for number in numbers(one)]
    return list(answer) if isinstance(answer, bytes) else np.ravel(answer).tolist()


@parametrize("name", *ROWS)
def test_python_is_what_c_is(answers, name):
    f, plan, questions, call, _ = ROWS[name]
    with estimator(f, **{"max_samples": SAMPLES, **plan}) as e:
        found = numbers(call(e, *(Question(**one) for one in questions)))
    wanted = answers[name].split()
    assert len(found) == len(wanted) > 0, answers[name]
    for ours, there in zip(found, wanted):
        there = int(there) if re.fullmatch(r"-?\d+", there) else float(there)
        assert ours is None or ours == there or ours != ours and there != there, (ours, there)
