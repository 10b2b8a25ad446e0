/* Second tries with one record: whoever asks again after an answer, at a number of samples or by a
 * test that the answer may have chosen. Each policy below ends with one certificate; its radius may
 * be too large in a share alpha of the runs, not in more. A record that refuses to answer makes no
 * mistake. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "support/coverage.h"

enum { SMALL = 400, LARGE = 2000, STEP = 40, RUNS = 800 };
#define ALPHA 0.1
static double spent = ALPHA;    /* what is asked for */
static const double rare = 0.1; /* outputs beyond the tolerance: the radius is Phi^-1(1 - rare) */

/* ---- a model whose outputs are known beforehand */
typedef struct outputs {
    float y[LARGE];
    int cancels, fails; /* as soon as a plain question would be answered too well, the caller
                           cancels, or the model fails: 1, in the next batch; 2, in this one */
    certreg_estimator *handle;
} outputs;

static int looks_good(const outputs *o, uint64_t samples)
{
    int64_t beyond = 0;
    for (uint64_t i = 0; i < samples; i++) beyond += o->y[i] > 1;
    return beyond <= cr_binomial_critical(samples, rare, spent);
}

static int tell(void *user, const certreg_batch *b)
{
    outputs *o = user;
    const uint64_t end = b->first + b->rows;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = o->y[b->first + i];
    if (o->cancels && looks_good(o, end)) certreg_estimator_cancel(o->handle);
    return o->fails && looks_good(o, o->fails == 1 ? b->first : end);
}

static void draw(outputs *o, simulate_source *source)
{
    for (size_t i = 0; i < LARGE; i++) o->y[i] = (float)(simulate_uniform(source) < rare ? 10 : 0);
}

enum { CAPACITIES = 4 };
static const size_t capacities[CAPACITIES] = {60, 200, 600, LARGE};

typedef struct desk {
    outputs outputs;
    certreg_estimator *small, *growing[CAPACITIES];
    double truth;
    const struct policy *policy;
} desk;

static certreg_estimator *make(outputs *o, size_t max_samples, size_t pilot)
{
    certreg_model m = KIT_MODEL(tell, o, 1, 1, .batch = 20);
    certreg_plan p = kit_plan(max_samples);
    p.constraints = CERTREG_CONSTRAINT_MEAN, p.pilot = pilot;
    return kit_create(NULL, &m, &p);
}

static certreg_question ask_for(double wanted)
{
    certreg_question q = kit_question(1);
    q.alpha = spent, q.prediction = asks_prediction(0), q.target = asks_target(wanted);
    return q;
}

/* The radius, or 0 where the record refuses. */
static double radius_of(certreg_estimator *e, size_t samples, certreg_question q,
                        certreg_status *status)
{
    certreg_certificate c = kit_certificate();
    *status = certreg_certify(e, samples, &q, 1, &c);
    if (*status) ck_assert_int_eq(*status, CERTREG_E_WRONG_STATE);
    return c.radius;
}

static double radius_now(certreg_estimator *e, size_t samples, certreg_question q)
{
    certreg_status unused;
    return radius_of(e, samples, q, &unused);
}

/* At the number that is there, and where that is refused at all of them. */
static double here_or_at_all(certreg_estimator *e)
{
    certreg_status status;
    const double here = radius_of(e, 0, ask_for(0), &status);
    return status ? radius_now(e, SMALL, ask_for(0)) : here;
}

/* ---- policies: the radius that the caller ends with */
/* A wanted radius and an alpha of its own decide where to stop; the certificate is for a fixed
 * number. */
static certreg_question scout(void)
{
    certreg_question q = ask_for(1.28);
    q.alpha = fmin(2 * spent, 0.5);
    return q;
}

static double growing_until_proven(desk *d)
{
    for (size_t n = STEP; n <= SMALL; n += STEP)
        if (radius_now(d->small, n, scout()) >= 1.28) return radius_now(d->small, 0, ask_for(0));
    return radius_now(d->small, 0, ask_for(0));
}

static double telling_until_proven(desk *d)
{
    for (size_t n = 0; n < SMALL; n += STEP) {
        KIT_OK(d->small, certreg_estimator_record(d->small, n, STEP, d->outputs.y + n));
        if (radius_now(d->small, 0, scout()) >= 1.28) break;
    }
    return radius_now(d->small, 0, ask_for(0));
}

static double growing_until_long_enough(desk *d)
{
    double radius = 0;
    for (size_t n = STEP; n <= SMALL && radius <= d->truth; n += STEP)
        radius = radius_now(d->small, n, ask_for(0));
    return radius;
}

static double cancelled_where_it_looks_good(desk *d)
{
    d->outputs.cancels = 1;
    radius_now(d->small, SMALL, ask_for(1.28));
    d->outputs.cancels = 0;
    return here_or_at_all(d->small);
}

static double failed_where_it_looks_good(desk *d)
{
    certreg_certificate c = kit_certificate();
    const certreg_question q = ask_for(0);
    d->outputs.fails = 1;
    certreg_certify(d->small, SMALL, &q, 1, &c);
    d->outputs.fails = 0;
    return here_or_at_all(d->small);
}

/* One batch after the other, until the model fails. */
static double sampled_until_it_failed(desk *d)
{
    const size_t batch = 20;
    size_t n = batch;
    d->outputs.fails = 2;
    while (n < SMALL && !certreg_estimator_sample(d->small, 0, n)) n += batch;
    d->outputs.fails = 0;
    return radius_now(d->small, n, ask_for(0));
}

static double stopped_by_a_deadline_then_here_or_at_all(desk *d)
{
    size_t n = STEP;
    while (n < SMALL && !looks_good(&d->outputs, n)) n += STEP;
    KIT_OK(d->small, certreg_estimator_sample(d->small, 0, n));
    certreg_estimator_set_deadline(d->small, 1e-9);
    radius_now(d->small, SMALL, ask_for(1.28));
    certreg_estimator_set_deadline(d->small, INFINITY);
    return here_or_at_all(d->small);
}

static void carry(certreg_estimator *from, certreg_estimator *to)
{
    static unsigned char record[4 * LARGE + 256];
    KIT_OK(to, certreg_estimator_import(to, record, kit_export(from, record, sizeof record)));
}

static double again_and_again_with_a_larger_capacity(desk *d)
{
    const certreg_question q = ask_for(d->truth * (1 + 1e-6));
    double radius = 0;
    for (int i = 0; i < CAPACITIES && radius <= d->truth; i++) {
        if (i) carry(d->growing[i - 1], d->growing[i]);
        radius = radius_now(d->growing[i], capacities[i], q);
    }
    return radius;
}

static double once_more_with_a_look_at_what_is_there(desk *d)
{
    certreg_certificate c = kit_certificate();
    const certreg_question first = scout();
    KIT_OK(d->small, certreg_certify(d->small, SMALL, &first, 1, &c));
    certreg_question q = ask_for(d->truth * (1 + 1e-6));
    q.target = asks_looks(q.target->radius, &c.samples, 1);
    return radius_now(d->small, 0, q);
}

static const struct policy {
    const char *name;
    double (*run)(desk *);
    double expected;
} policies[] = {
    {"growing until proven", growing_until_proven, 0.077},
    {"telling until proven", telling_until_proven, 0.077},
    {"growing until long enough", growing_until_long_enough, 0.077},
    {"cancelled where it looks good", cancelled_where_it_looks_good, 0.080},
    {"failed where it looks good", failed_where_it_looks_good, 0.094},
    {"deadline, then here or at all", stopped_by_a_deadline_then_here_or_at_all, 0.094},
    {"larger and larger capacities", again_and_again_with_a_larger_capacity, 0.094},
    {"a look at what is there", once_more_with_a_look_at_what_is_there, 0.005},
    {"sampled until it failed", sampled_until_it_failed, 0.005},
};

static unsigned run_policy(void *of, uint64_t run, double spend)
{
    desk *d = of;
    simulate_source source;
    simulate_seed(&source, 300 + (run << 8));
    spent = ALPHA * spend;
    draw(&d->outputs, &source);
    coverage_begin(d->small, run);
    for (int i = 0; i < CAPACITIES; i++) coverage_begin(d->growing[i], run);
    return d->policy->run(d) > d->truth;
}

TEST_ROWS(optional_stopping_is_wrong_as_often_as_expected, policies)
{
    static desk d;
    memset(&d, 0, sizeof d);
    d.truth = cr_normal_quantile_sf(rare), d.policy = policies + _i;
    d.small = d.outputs.handle = make(&d.outputs, SMALL, SIZE_MAX);
    for (int i = 0; i < CAPACITIES; i++) d.growing[i] = make(&d.outputs, capacities[i], SIZE_MAX);
    coverage_row(ALPHA, policies[_i].expected, RUNS, run_policy, &d, "%s", policies[_i].name);
}

/* ---- noise levels, a stream a tick */
/* The estimate of one tick's last level is the prediction of the next tick's first one: it must not
 * come from the same noise. */
enum { LEVELS = 2, LEVEL_SAMPLES = 400 };

static unsigned run_tick(void *of, uint64_t tick, double spend)
{
    static double prediction;
    const double sigmas[LEVELS] = {1, 1.001}, tolerance = 0.15;
    certreg_certificate c[LEVELS] = {kit_certificate()};
    certreg_question q = kit_question(tolerance);
    if (tick == 0) prediction = 0;
    q.alpha = LEVELS * ALPHA * spend, q.prediction = &prediction;
    KIT_OK(of, certreg_certify_sigmas(of, (const float[]){0}, sigmas, LEVELS, tick, LEVEL_SAMPLES,
                                      &q, 1, c));
    prediction = c[1].estimate;
    return c[0].radius > fmax(0, tolerance - fabs(c[0].prediction)); /* T is z, which is 0 */
}

TEST(certify_sigmas_allows_the_last_estimate_as_prediction)
{
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    certreg_plan p = kit_plan(LEVEL_SAMPLES);
    p.constraints = CERTREG_CONSTRAINT_MEAN, p.pilot = SIZE_MAX, p.seed = 4;
    coverage_row(ALPHA, 0.015, 4000, run_tick, kit_create(NULL, &m, &p),
                 "carried from level to level");
}

/* ---- output bounds of a median */
/* Whoever has seen the pilot may choose the number of samples by it: so it must not be in the
 * bounds. The outputs are standard normal; within the radius 1 their median reaches from -1 to 1.
 */
static double sum_of_pilot;

static int sum_up(void *user, const certreg_batch *b)
{
    if (b->first == 0) sum_of_pilot = 0;
    for (size_t i = 0; i < b->rows && b->first + i < 150; i++) sum_of_pilot += (double)b->x[i];
    return kit_identity(user, b);
}

enum { OF_PILOT = 150, MOST = 1500 };

static unsigned run_bounds(void *of, uint64_t run, double spend)
{
    certreg_certificate c = kit_certificate();
    certreg_question q = QUESTION(.tolerance = 0, .alpha = ALPHA * spend);
    coverage_begin(of, run);
    KIT_OK(of, certreg_estimator_sample(of, 0, OF_PILOT));
    const size_t total = fabs(sum_of_pilot) > sqrt(OF_PILOT) ? OF_PILOT + 10 : MOST;
    KIT_OK(of, certreg_output_bounds(of, total, &q, 1, 1, &c));
    return c.output_lo > -1 || c.output_hi < 1;
}

TEST(output_bounds_allow_a_number_of_samples_by_the_pilot)
{
    certreg_model m = kit_model(sum_up, NULL, 1, 1);
    certreg_plan p = kit_plan(MOST);
    m.batch = 50, p.pilot = OF_PILOT, p.seed = 6;
    coverage_row(ALPHA, 0.051, 4000, run_bounds, kit_create(NULL, &m, &p),
                 "output bounds, as long as the pilot says");
}

KIT_MAIN("second tries")
