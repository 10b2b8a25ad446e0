/* How often an attack claims what is not true, at laws on the edge: T is inside at every shift, and
 * by so little that violation tests reach their level. The outputs depend on inputs across the
 * direction that the attack is told to follow, so their law is the same at every shift. */
#include "support/attack_kit.h"
#include "support/coverage.h"
#include "statistics/normal.h"
#include <certreg/attack.h>
#include <certreg/sampling.h>

enum { INPUTS = 3, SAMPLES = 60, CALLS = 300, RUNS = 800 };
static const double alpha = 0.25, turn[2] = {-180, 180}, unit_range[2] = {-1, 1};

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
    double prediction, tolerance, width, expected;
} laws[] = {{"even", even_half, CERTREG_STATISTIC_MEDIAN, 0, NULL, 0, 0.5, 0, 0.189},
            {"mixed", mixed_half, CERTREG_STATISTIC_MEDIAN, 0, NULL, 0, 0.5, 0, 0.139},
            {"ties", tied_half, CERTREG_STATISTIC_MEDIAN, 0, NULL, 0, 0.5, 0, 0.189},
            {"angle", even_half, CERTREG_STATISTIC_MEDIAN, 1, turn, 0, 0.5, 0, 0.189},
            {"no resultant", without_resultant, CERTREG_STATISTIC_MEDIAN, 1, turn, 0, 10, 0, 0.229},
            {"mean", even_mean, CERTREG_STATISTIC_MEAN, 0, unit_range, -0.5, 0.5, 0, 0.182},
            {"Huber", even_mean, CERTREG_STATISTIC_HUBER, 0, NULL, -0.5, 0.5, 0.1, 0.169}};

static void open_law(victim *v, size_t k)
{
    certreg_model m = KIT_MODEL(victim_model, v, INPUTS, 1, .kind = &laws[k].kind, .batch = 64);
    if (laws[k].ends) m.lo = laws[k].ends, m.hi = laws[k].ends + 1;
    certreg_plan p = kit_plan(SAMPLES);
    p.pilot = SIZE_MAX, p.constraints = CERTREG_CONSTRAINT_MEAN;
    *v = (victim){.output = laws[k].output};
    v->e = kit_create(NULL, &m, &p);
    v->a = attack_on(v->e, CALLS);
}

typedef struct bench {
    victim victim;
    int row;
} bench;

static unsigned run_attack(void *of, uint64_t run, double spend)
{
    static const float along[INPUTS] = {1, 0, 0};
    bench *b = of;
    victim *v = &b->victim;
    certreg_question q = kit_question(laws[b->row].tolerance);
    certreg_attack_options o = attack_options(CALLS);
    q.statistic = laws[b->row].statistic, q.huber_width = laws[b->row].width;
    q.prediction = &laws[b->row].prediction;
    o.alpha = alpha * spend, o.direction = along;
    coverage_begin(v->e, run);
    KIT_OK(v->e, certreg_estimator_sample(v->e, 0, SAMPLES));
    return attack_found(v->a, q, o, NULL).outcome == CERTREG_ATTACK_BROKEN;
}

TEST_ROWS(attack_calls_what_is_inside_broken_as_often_as_expected, laws)
{
    bench b = {.row = _i};
    open_law(&b.victim, (size_t)_i);
    coverage_row(alpha, laws[_i].expected, RUNS, run_attack, &b, "attack, %s", laws[_i].name);
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
    const char *name;
    double (*output)(const float *, size_t);
    double tolerance, breaks;
    double certified, broken; /* of runs: certified too long, broken too short */
} known[] = {{"sloped", sloped, 1, 1 / 1.118033988749895, 0.021, 0.005},
             {"stepped", stepped, 1, 0.875 / 1.118033988749895, 0.029, 0.005}};

static uint64_t found; /* runs in which the attack was not far from the truth */

static unsigned run_both(void *of, uint64_t run, double spend)
{
    static const double center = 0;
    bench *b = of;
    victim *v = &b->victim;
    const double breaks = known[b->row].breaks;
    certreg_question q = kit_question(known[b->row].tolerance);
    certreg_attack_options o = attack_options(CALLS);
    q.prediction = &center, q.alpha = o.alpha = alpha * spend;
    const certreg_certificate c = coverage_ask(v->e, run, SAMPLES * 5, q);
    const certreg_attack_result r = attack_found(v->a, q, o, NULL);
    found += r.radius < 1.8 * breaks;
    return (c.radius > breaks) | (unsigned)(r.radius < breaks) << 1;
}

TEST_ROWS(attack_and_certificate_enclose_the_true_radius, known)
{
    bench b = {.row = _i, .victim.output = known[_i].output};
    const certreg_model m = kit_model(victim_model, &b.victim, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES * 5);
    b.victim.e = kit_create(NULL, &m, &p);
    b.victim.a = attack_on(b.victim.e, CALLS);
    found = 0;
    const coverage_claim claims[] = {{"certified too long", alpha, known[_i].certified, 0},
                                     {"broken too short", alpha, known[_i].broken, 0}};
    coverage_of(known[_i].name, claims, 2, RUNS, run_both, &b);
    ck_assert_double_gt((double)found, 0.9 * RUNS);
}

KIT_MAIN("attack")
