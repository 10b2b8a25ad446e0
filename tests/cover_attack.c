/* How often an attack claims what is not true, at laws on the edge: T is inside at every shift, and
 * by so little that violation tests reach their level. The outputs depend on inputs across the
 * direction that the attack is told to follow, so their law is the same at every shift. */
#include "support/attack_kit.h"
#include "support/coverage.h"
#include "statistics/normal.h"
#include <certreg/attack.h>
#include <certreg/sampling.h>

enum { INPUTS = 3, SAMPLES = 60, CALLS = 300, RUNS = 3000 };
static const double alpha = 0.1, turn[2] = {-180, 180}, unit_range[2] = {-1, 1};

/* ---- laws */
/* Where the second input is farther out than three quarters of its law, on both sides: pairs under
 * opposite noise always agree, half of them out. */
static double even_half(const float *x, size_t inputs)
{
    (void)inputs;
    return fabs((double)x[1]) > 0.6744897501960817 ? 1 : 0;
}

/* Only some pairs agree. */
static double mixed_half(const float *x, size_t inputs)
{
    return fabs((double)x[2]) > 1 ? even_half(x, inputs) : x[1] > 0;
}

/* Outputs at the very edge of the tolerance are out, those next to it are not. */
static double tied_half(const float *x, size_t inputs)
{
    return even_half(x, inputs) > 0 ? 0.5 : (double)nextafterf(0.5f, 0);
}

/* Three quarters of the angles are out, but the mean resultant is 0: the circle may be cut
 * anywhere, and T be any angle. */
static double without_resultant(const float *x, size_t inputs)
{
    const double far = fabs((double)x[1]);
    (void)inputs;
    return far < 0.4853510471104503 ? 20 : far < 1.1386367307759011 ? 160 : -90;
}

/* Means: 1 or -1, and the mean is at the edge of the tolerance. */
static double even_mean(const float *x, size_t inputs)
{
    return 2 * even_half(x, inputs) - 1;
}

static const struct {
    const char *name;
    double (*output)(const float *, size_t);
    int32_t statistic, kind;
    const double *ends;
    double prediction, tolerance, width;
} laws[] = {/* name, output, statistic, kind, ends, prediction, tolerance, width */
            {"even", even_half, CERTREG_STATISTIC_MEDIAN, 0, NULL, 0, 0.5, 0},
            {"mixed", mixed_half, CERTREG_STATISTIC_MEDIAN, 0, NULL, 0, 0.5, 0},
            {"ties", tied_half, CERTREG_STATISTIC_MEDIAN, 0, NULL, 0, 0.5, 0},
            {"angle", even_half, CERTREG_STATISTIC_MEDIAN, 1, turn, 0, 0.5, 0},
            {"no resultant", without_resultant, CERTREG_STATISTIC_MEDIAN, 1, turn, 0, 10, 0},
            {"mean", even_mean, CERTREG_STATISTIC_MEAN, 0, unit_range, -0.5, 0.5, 0},
            {"Huber", even_mean, CERTREG_STATISTIC_HUBER, 0, NULL, -0.5, 0.5, 0.1}};

static void open_law(victim *v, size_t k)
{
    certreg_model m = kit_model(victim_model, v, INPUTS, 1);
    m.kind = &laws[k].kind, m.batch = 64;
    if (laws[k].ends) m.lo = laws[k].ends, m.hi = laws[k].ends + 1;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = SIZE_MAX, p.constraints = CERTREG_CONSTRAINT_MEAN;
    *v = (victim){.output = laws[k].output};
    v->e = kit_create(NULL, &m, &p);
    v->a = attack_on(v->e, CALLS);
}

TEST_ROWS(attack_calls_what_is_inside_broken_with_at_most_alpha, laws)
{
    static const float along[INPUTS] = {1, 0, 0};
    victim v;
    uint64_t broken = 0;
    certreg_question q = kit_question(laws[_i].tolerance);
    q.statistic = laws[_i].statistic, q.huber_width = laws[_i].width;
    q.prediction = &laws[_i].prediction;
    open_law(&v, (size_t)_i);
    for (uint64_t run = 0; run < RUNS; run++) {
        certreg_attack_options o = attack_options(CALLS);
        certreg_attack_result r = attack_result();
        o.alpha = alpha, o.direction = along;
        coverage_begin(v.e, run);
        KIT_OK(v.e, certreg_estimator_sample(v.e, 0, SAMPLES));
        ATTACK_OK(v.a, certreg_attack_run(v.a, &q, &o, NULL, &r));
        broken += r.outcome == CERTREG_ATTACK_BROKEN;
    }
    coverage_check(laws[_i].name, broken, RUNS, alpha, 1e-3, 0.4);
    certreg_attack_destroy(v.a);
    certreg_estimator_destroy(v.e);
}

/* ---- both ends together, where the truth is known */
static double sloped(const float *x, size_t inputs)
{
    (void)inputs;
    return (double)x[0] + 0.5 * (double)x[1];
}

static double stepped(const float *x, size_t inputs)
{
    return floor(4 * sloped(x, inputs) + 0.5) / 4;
}

static const struct {
    double (*output)(const float *, size_t);
    double tolerance, breaks;
} known[] = {{sloped, 1, 1 / 1.118033988749895}, {stepped, 1, 0.875 / 1.118033988749895}};

TEST_ROWS(attack_and_certificate_enclose_the_true_radius, known)
{
    static const double center = 0;
    victim v = {.output = known[_i].output};
    uint64_t too_long = 0, too_short = 0, found = 0;
    certreg_question q = kit_question(known[_i].tolerance);
    certreg_model m = kit_model(victim_model, &v, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES * 5);
    q.prediction = &center, q.alpha = alpha;
    v.e = kit_create(NULL, &m, &p);
    v.a = attack_on(v.e, CALLS);
    for (uint64_t run = 0; run < RUNS / 3; run++) {
        const certreg_attack_options o = attack_options(CALLS);
        certreg_attack_result r = attack_result();
        certreg_certificate c = kit_certificate();
        coverage_begin(v.e, run);
        KIT_OK(v.e, certreg_certify(v.e, SAMPLES * 5, &q, 1, &c));
        ATTACK_OK(v.a, certreg_attack_run(v.a, &q, &o, NULL, &r));
        too_long += c.radius > known[_i].breaks;
        too_short += r.radius < known[_i].breaks;
        found += r.radius < 1.8 * known[_i].breaks;
    }
    coverage_check("certified too long", too_long, RUNS / 3, alpha, 1e-3, 0);
    coverage_check("broken too short", too_short, RUNS / 3, alpha, 1e-3, 0);
    ck_assert_double_gt((double)found, 0.9 * RUNS / 3);
    certreg_attack_destroy(v.a);
    certreg_estimator_destroy(v.e);
}

TEST_MAIN("attack")
