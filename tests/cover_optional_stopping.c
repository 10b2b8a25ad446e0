/* Second tries with one record: whoever asks again after an answer, at a number of samples or by a
 * test that the answer may have chosen. Each policy below ends with one certificate; its radius may
 * be too large in a share alpha of the runs, not in more. A record that refuses to answer makes no
 * mistake. */
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include "support/coverage.h"

enum { SMALL = 400, LARGE = 2000, STEP = 40, RUNS = 1500 };
#define ALPHA 0.05
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
    return beyond <= cr_binomial_critical(samples, rare, ALPHA);
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
} desk;

static certreg_estimator *make(outputs *o, size_t max_samples, size_t pilot)
{
    certreg_model m = kit_model(tell, o, 1, 1);
    m.batch = 20;
    certreg_plan p = kit_plan(max_samples);
    p.constraints = CERTREG_CONSTRAINT_MEAN, p.pilot = pilot;
    return kit_create(NULL, &m, &p);
}

static certreg_question ask_for(double wanted)
{
    certreg_question q = kit_question(1);
    q.alpha = ALPHA, q.prediction = asks_prediction(0), q.target = asks_target(wanted);
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
    q.alpha = 0.1;
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
} policies[] = {
    {"growing until proven", growing_until_proven},
    {"telling until proven", telling_until_proven},
    {"growing until long enough", growing_until_long_enough},
    {"cancelled where it looks good", cancelled_where_it_looks_good},
    {"failed where it looks good", failed_where_it_looks_good},
    {"deadline, then here or at all", stopped_by_a_deadline_then_here_or_at_all},
    {"larger and larger capacities", again_and_again_with_a_larger_capacity},
    {"a look at what is there", once_more_with_a_look_at_what_is_there},
    {"sampled until it failed", sampled_until_it_failed},
};

TEST_ROWS(optional_stopping_is_wrong_with_at_most_alpha, policies)
{
    static desk d;
    simulate_source source;
    simulate_seed(&source, 300 + (uint64_t)_i);
    memset(&d, 0, sizeof d);
    d.truth = cr_normal_quantile_sf(rare);
    d.small = d.outputs.handle = make(&d.outputs, SMALL, SIZE_MAX);
    for (int i = 0; i < CAPACITIES; i++) d.growing[i] = make(&d.outputs, capacities[i], SIZE_MAX);
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        draw(&d.outputs, &source);
        coverage_begin(d.small, run);
        for (int i = 0; i < CAPACITIES; i++) coverage_begin(d.growing[i], run);
        wrong += policies[_i].run(&d) > d.truth;
    }
    coverage_check(policies[_i].name, wrong, RUNS, ALPHA, 0.001, 0);
}

/* ---- noise levels, a stream a tick */
/* The estimate of one tick's last level is the prediction of the next tick's first one: it must not
 * come from the same noise. */
TEST(certify_sigmas_allows_the_last_estimate_as_prediction)
{
    enum { LEVELS = 2, TICKS = 6000, SAMPLES = 400 };
    const double sigmas[LEVELS] = {1, 1.001}, tolerance = 0.15;
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    certreg_plan p = kit_plan(SAMPLES);
    p.constraints = CERTREG_CONSTRAINT_MEAN, p.pilot = SIZE_MAX, p.seed = 4;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(tolerance);
    q.alpha = LEVELS * ALPHA, q.prediction = asks_prediction(0);
    uint64_t wrong = 0;
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        certreg_certificate c[LEVELS] = {kit_certificate()};
        KIT_OK(e, certreg_certify_sigmas(e, (const float[]){0}, sigmas, LEVELS, tick, SAMPLES, &q,
                                         1, c));
        const double truth = fmax(0, tolerance - fabs(c[0].prediction)); /* T is z, which is 0 */
        wrong += c[0].radius > truth;
        q.prediction = asks_prediction(c[1].estimate);
    }
    coverage_check("carried from level to level", wrong, TICKS, ALPHA, 0.001, 0);
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

TEST(output_bounds_allow_a_number_of_samples_by_the_pilot)
{
    enum { MANY = 10000, PILOT = 150, MOST = 1500 };
    certreg_model m = kit_model(sum_up, NULL, 1, 1);
    m.batch = 50;
    certreg_plan p = kit_plan(MOST);
    p.pilot = PILOT, p.seed = 6;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    certreg_question q = kit_question(0);
    q.alpha = ALPHA;
    uint64_t wrong = 0;
    for (uint64_t run = 0; run < MANY; run++) {
        certreg_certificate c = kit_certificate();
        coverage_begin(e, run);
        KIT_OK(e, certreg_estimator_sample(e, 0, PILOT));
        const size_t total = fabs(sum_of_pilot) > sqrt(PILOT) ? PILOT + 10 : MOST;
        KIT_OK(e, certreg_output_bounds(e, total, &q, 1, 1, &c));
        wrong += c.output_lo > -1 || c.output_hi < 1;
    }
    coverage_check("output bounds, as long as the pilot says", wrong, MANY, ALPHA, 0.001, 0);
}

KIT_MAIN("second tries")
