/* Misses of sequential certificates of the median, where the caller looks again and again and
 * stops at the worst moment: a run counts as missed if its radius ever exceeds the true one.
 * Outputs are drawn from laws whose tails about any prediction are known. */
#include "statistics/normal.h"
#include "support/coverage.h"

enum { CAPACITY = 400, PILOT = 40, RUNS = 200 };
#define ALPHA 0.1
static const double pi = 3.14159265358979323846;

/* ---- laws */
typedef struct output_law {
    const char *name;
    double (*draw)(simulate_source *);
    double (*below)(double y), (*above)(double y); /* P(Y <= y), P(Y >= y) */
} output_law;

/* A half-space at distance 1: its true radius about 0 is exactly 1. */
static double draw_half_space(simulate_source *s)
{
    return simulate_normal(s) > 1 ? 10 : 0;
}
static double below_half_space(double y)
{
    return y >= 10 ? 1 : y >= 0 ? cr_normal_cdf(1) : 0;
}
static double above_half_space(double y)
{
    return y <= 0 ? 1 : y <= 10 ? cr_normal_sf(1) : 0;
}

/* Rarer than the samples are many. */
static double draw_rare(simulate_source *s)
{
    return simulate_uniform(s) < 1.0 / CAPACITY ? 5 : 0;
}
static double below_rare(double y)
{
    return y >= 5 ? 1 : y >= 0 ? 1 - 1.0 / CAPACITY : 0;
}
static double above_rare(double y)
{
    return y <= 0 ? 1 : y <= 5 ? 1.0 / CAPACITY : 0;
}

static double draw_cauchy(simulate_source *s)
{
    return 0.25 * tan(pi * (simulate_uniform(s) - 0.5));
}
static double below_cauchy(double y)
{
    return 0.5 + atan(y / 0.25) / pi;
}
static double above_cauchy(double y)
{
    return below_cauchy(-y);
}

/* Ties, some of them exactly one tolerance from 0. */
static double draw_atoms(simulate_source *s)
{
    const double u = simulate_uniform(s);
    return u < 0.1 ? -1 : u < 0.2 ? -0.5 : u < 0.85 ? 0 : 1;
}
static double below_atoms(double y)
{
    return y >= 1 ? 1 : y >= 0 ? 0.85 : y >= -0.5 ? 0.2 : y >= -1 ? 0.1 : 0;
}
static double above_atoms(double y)
{
    return y <= -1 ? 1 : y <= -0.5 ? 0.9 : y <= 0 ? 0.8 : y <= 1 ? 0.15 : 0;
}

static double draw_normal(simulate_source *s)
{
    return 0.7 * simulate_normal(s);
}
static double below_normal(double y)
{
    return cr_normal_cdf(y / 0.7);
}
static double above_normal(double y)
{
    return cr_normal_sf(y / 0.7);
}

static const output_law laws[] = {
    {"half-space", draw_half_space, below_half_space, above_half_space},
    {"rare", draw_rare, below_rare, above_rare},
    {"Cauchy", draw_cauchy, below_cauchy, above_cauchy},
    {"atoms", draw_atoms, below_atoms, above_atoms},
    {"normal", draw_normal, below_normal, above_normal},
};
enum { LAW_COUNT = 5 };

static double true_radius(const output_law *law, double prediction)
{
    const double tail = fmax(law->below(prediction - 1), law->above(prediction + 1));
    return tail < 0.5 ? cr_normal_quantile_sf(tail) : 0;
}

/* ---- one run */
typedef struct manner { /* how it is asked */
    int32_t method;
    int pilot;
    double part; /* FINITE: this part of the wish is the least radius that is too large */
} manner;

static certreg_estimator *make(const manner *how)
{
    certreg_model m = kit_model(NULL, NULL, 1, 1);
    m.batch = 10;
    certreg_plan p = kit_plan(CAPACITY);
    p.constraints = CERTREG_CONSTRAINT_MEAN;
    p.pilot = how->pilot ? PILOT : SIZE_MAX;
    return kit_create(NULL, &m, &p);
}

static certreg_question question_of(const output_law *law, const manner *how)
{
    certreg_question q = kit_question(1);
    q.alpha = ALPHA, q.method = how->method, q.prediction = how->pilot ? NULL : asks_prediction(0);
    static const uint64_t last[] = {CAPACITY};
    /* only when it is asked: that is fast */
    if (how->method == CERTREG_METHOD_ANYTIME)
        q.target = asks_target(9), q.target = asks_looks(q.target->radius, last, 1);
    else q.target = asks_target(fmin(true_radius(law, 0), 9) / how->part * (1 + 1e-6));
    return q;
}

/* Bound of the probability of the tail that this side counts, which the radius is made of. */
static double tail_bound(certreg_estimator *e, const certreg_question *q, int32_t side)
{
    certreg_bounds b = {.struct_size = sizeof b};
    KIT_OK(e, certreg_estimator_bounds(e, q, side, &b));
    return 0.5 * (1 - b.mean_lo);
}

/* Records sample after sample and looks: at every one at first, then less often. The radius is
 * too large where both bounds lie below the heavier tail. */
static int run_misses(certreg_estimator *e, const output_law *law, const certreg_question *q,
                      simulate_source *source)
{
    certreg_certificate c = kit_certificate();
    const size_t pilot = q->prediction ? 0 : PILOT;
    double heavier = 1;
    for (size_t i = 0; i < CAPACITY; i++) {
        const float y = i || !pilot ? (float)law->draw(source) : 0;
        KIT_OK(e, certreg_estimator_record(e, i, 1, &y));
        const size_t main = i + 1 > pilot ? i + 1 - pilot : 0;
        if (main == 1) {
            KIT_OK(e, certreg_certify(e, 0, q, 1, &c));
            heavier = fmin(0.5, fmax(law->below(c.prediction - 1), law->above(c.prediction + 1))) *
                      (1 - 1e-7);
        }
        if (!main || (main > 20 && (i + 1) % 20)) continue;
        if (tail_bound(e, q, CERTREG_SIDE_UPPER) < heavier &&
            tail_bound(e, q, CERTREG_SIDE_LOWER) < heavier)
            return 1;
    }
    KIT_OK(e, certreg_certify(e, 0, q, 1, &c)); /* and that is what the radius says */
    ck_assert_double_le(c.radius, true_radius(law, c.prediction) * (1 + 1e-6));
    return 0;
}

static const manner manners[] = {
    {CERTREG_METHOD_ANYTIME, 0, 1},  {CERTREG_METHOD_ANYTIME, 1, 1},  {CERTREG_METHOD_FINITE, 0, 1},
    {CERTREG_METHOD_FINITE, 0, 0.6}, {CERTREG_METHOD_FINITE, 1, 0.8},
};
enum { MANNERS = 5 };

TEST_TIMES(radii_are_ever_too_large_in_a_share_alpha_of_runs_at_most, LAW_COUNT *MANNERS)
{
    const output_law *law = laws + _i / MANNERS;
    const manner *how = manners + _i % MANNERS;
    certreg_estimator *e = make(how);
    const certreg_question q = question_of(law, how);
    simulate_source source;
    simulate_seed(&source, 900 + (uint64_t)_i);
    uint64_t misses = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        coverage_begin(e, run);
        misses += run_misses(e, law, &q, &source) != 0;
    }
    printf("%-8s pilot %d part %.1f: ", how->method == CERTREG_METHOD_FINITE ? "group" : "anytime",
           how->pilot, how->part);
    coverage_check(law->name, misses, RUNS, ALPHA, 0.01 / (LAW_COUNT * MANNERS), 0);
}

/* ---- the library stops by itself */
static int half_space(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (double)b->x[i] > 1 ? 10 : 0;
    return 0;
}

TEST_TIMES(a_wish_just_beyond_the_truth_is_granted_in_a_share_alpha_of_runs_at_most, 2)
{
    enum { MANY = 800 };
    certreg_model m = kit_model(half_space, NULL, 1, 1);
    m.batch = 10;
    certreg_plan p = kit_plan(CAPACITY);
    p.constraints = CERTREG_CONSTRAINT_MEAN, p.pilot = SIZE_MAX, p.seed = 77 + (uint64_t)_i;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(1);
    q.alpha = ALPHA, q.prediction = asks_prediction(0), q.target = asks_target(1 + 1e-6);
    q.method = _i ? CERTREG_METHOD_ANYTIME : CERTREG_METHOD_FINITE;
    uint64_t granted = 0;
    for (uint64_t run = 0; run < MANY; run++) {
        const certreg_certificate c = coverage_ask(e, run, CAPACITY, q);
        granted += c.radius > 1;
        ck_assert((c.radius > 1) == (c.stop == CERTREG_STOP_TARGET));
    }
    coverage_check(_i ? "anytime" : "closed", granted, MANY, ALPHA, 0.005, _i ? 0 : 0.6);
}

KIT_MAIN("coverage of sequential certificates")
