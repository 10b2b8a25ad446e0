/* Queues: how often the certificate of a set of alternatives is false (theory 1.11); how much the
 * audit (theory 15) finds of models that are no function of the row; that it refuses no other; and
 * how often a certificate is false if outputs were moved by as much as passes, chosen against it.
 */
#include "support/coverage.h"
#include "support/queue_kit.h"

enum { SEEDS = 20, MOST = 1000 };
static const double alpha = 0.25;

/* ---- sets: one alternative much tighter than the others, or one part of it, which attains alpha;
 * and all equally tight. The records of many sets share calls */
enum { COUNT = 5, SETS = 200 };

typedef struct tight { /* T moves by `shift`, and is within 1 of 0 up to 1 - shift */
    const char *name;
    float shift[COUNT];
    double margin, target;
    uint32_t halvings;
    double truth, expected; /* the true radius of the set */
    int everywhere;         /* all of its parts are as tight */
} tight;

static int write(void *user, certreg_alternative *a)
{
    const tight *l = user;
    if (!a->number) return 0;
    a->z[2] = a->path && !l->everywhere ? 0 : l->shift[a->number - 1];
    a->margin = l->margin; /* larger than need be for the parts */
    return 0;
}

static void run_sets(tight *l, uint64_t first, double spend, answer *found)
{
    static const float z[D], scale[D] = {1};
    static certreg_queue_input in[SETS];
    static certreg_alternatives sets[SETS];
    const certreg_target t = TARGET(.radius = l->target);
    const certreg_question asked = QUESTION(.tolerance = 1, .alpha = alpha * spend,
                                            .prediction = asks_prediction(0), .prediction_count = 1,
                                            .target = l->target > 0 ? &t : NULL);
    for (uint64_t i = 0; i < SETS; i++) {
        sets[i] = QUEUE_SET(.count = COUNT, .write = write, .user = l, .halvings = l->halvings,
                            .first_noise_id = UINT64_C(1) << 63 | (first + i) << 8);
        in[i] = input_of(i, z, &asked, sets + i);
        in[i].sigma = 1, in[i].noise_id = first + i;
    }
    run_all(QUEUE(.batch = 256, .capacity = 40, .samples = 100, .pilot = SIZE_MAX, .scale = scale),
            in, SETS, found);
    kit_close_all();
}

static unsigned run_set(void *of, uint64_t run, double spend)
{
    static answer found[SETS];
    tight *l = of;
    if (run % SETS == 0) run_sets(l, run, spend, found);
    return found[run % SETS].c->radius > l->truth;
}

static const tight tights[] = {
    {"one tight alternative", {0, 0, 0.8f, 0, 0}, 0, 0, 0, 0.2, 0.250, 0},
    {"all equally tight", {0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, 0, 0, 0, 0.5, 0.005, 0},
    {"one tight alternative, margins", {0, 0, 0.5f, 0, 0}, 0.3, 0, 0, 0.2, 0.240, 0},
    {"a target out of reach, margins", {0, 0, 0, 0, 0.5f}, 0.1, 0.41, 0, 0.4, 0.164, 0},
    {"a target out of reach by a little", {0, 0, 0, 0, 0.6f}, 0, 0.41, 0, 0.4, 0.205, 0},
    {"the same in the first of parts", {0, 0, 0, 0, 0.6f}, 0, 0.41, 2, 0.4, 0.226, 0},
    /* parts with noise of their own: all of them have to be wrong */
    {"every part out of reach", {0, 0, 0, 0, 0.6f}, 0, 0.41, 2, 0.4, 0.115, 1},
};

TEST_ROWS(sets_are_false_as_often_as_expected, tights)
{
    tight l = tights[_i];
    coverage_row(alpha, l.expected, 800, run_set, &l, "%s", l.name);
}

/* ---- models: y of n rows */
static struct state {
    size_t calls, rows, kept, next, at;
    int keys[40][2];
    float values[40], last;
    double mean;
} s;

static double mean_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i * D];
    return sum / (double)n;
}

#define MODEL_OF(name, before, value)                                 \
    static void name(const float *x, size_t n, float *y)              \
    {                                                                 \
        before;                                                       \
        for (size_t i = 0; i < n; i++, x += D) y[i] = (float)(value); \
    }

static float cached_sum(const float *x)
{
    const int key[2] = {(int)rintf(x[0]), (int)rintf(x[1])};
    for (size_t i = 0; i < s.kept; i++)
        if (!memcmp(s.keys[i], key, sizeof key)) return s.values[i];
    s.kept += s.kept < 40;
    memcpy(s.keys[s.next % 40], key, sizeof key);
    return s.values[s.next++ % 40] = x[0] + x[1];
}

static void outliers(const float *x, size_t n, float *y)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i * D] + x[i * D + 1];
        sum += (double)y[i], squares += (double)y[i] * (double)y[i];
    }
    const double mean = sum / (double)n, far = 3 * sqrt(fmax(0, squares / (double)n - mean * mean));
    for (size_t i = 0; i < n && n > 2; i++)
        if (fabs((double)y[i] - mean) > far) y[i] = (float)mean;
}

#define IF(condition) ((condition) ? 2.0f : 0)
MODEL_OF(right, (void)n, x[0])
MODEL_OF(rounded, const float f = 1 + 1e-7f * (float)(n % 3), f *(x[0] + 3))
MODEL_OF(centred, const double m = n >= 8 ? mean_of(x, n) : 0, (double)x[0] - m)
MODEL_OF(cached, (void)n, cached_sum(x))
MODEL_OF(quota, (void)n, s.rows <= 5000 ? x[0] : 9)
MODEL_OF(seventh, const float kept = s.last; s.last = x[0] + x[1], s.calls % 7 ? x[0] + x[1] : kept)
MODEL_OF(filled, float last = 0, (last = x[0] < 2.5f ? x[0] : last) + 0.1f * x[1])
MODEL_OF(running, s.mean += (mean_of(x, n) - s.mean) * (double)n / (1e6 + (double)s.rows),
         2 * ((double)x[0] - s.mean))
MODEL_OF(over, (void)n, x[0] + IF(n > s.at))
MODEL_OF(behind, (void)n, x[0] + IF(i >= s.at))
MODEL_OF(drifts, (void)n, x[0] + 0.001f * (float)s.calls)

/* ---- tables: rows of N(center, spread^2), two of which are at `at`, a number of rows or places
 * for other models. The shares are those of a prototype. */
static const struct kind {
    const char *name;
    void (*model)(const float *, size_t, float *);
    size_t rows, samples, batch;
    double tolerance, sigma, center, spread;
    size_t at;
    double share;
} kinds[] = {
    {"right", right, 40, 300, 1000, .5, .25, 0, 1, 0, 0},
    {"right, 1000 rows", right, 1000, 100, 1000, .5, .25, 0, 1, 0, 0},
    {"rounded to float32", rounded, 40, 300, 1000, .5, .25, 0, 1, 0, 0},
    {"mean, 5 rows", centred, 5, 400, 2000, .5, .25, 3, 1, 0, 1},
    {"bounded cache", cached, 60, 400, 1000, .3, .25, 0, 4, 0, 1},
    {"quota, one call", quota, 40, 300, 12000, .5, .25, 0, 1, 0, 1},
    {"quota, calls of 1000", quota, 40, 300, 1000, .5, .25, 0, 1, 0, 1},
    {"every 7th call", seventh, 6, 300, 100, .3, .25, 0, 1, 0, 1},
    {"outliers, 2 of 1000", outliers, 1000, 200, 4096, .5, .25, 0, .1, 6, .95},
    {"forward fill, 2 of 300", filled, 300, 100, 4096, .5, .1, 0, 1, 4, 1},
    {"running mean, 300 rows", running, 300, 1000, 4096, .3, .25, 2, 1, 0, 1},
    {"more than 8 rows", over, 5, 400, 2000, .5, .25, 0, 1, 8, 1},
    {"more than 19", over, 5, 400, 2000, .5, .25, 0, 1, 19, 1},
    {"more than 49", over, 5, 400, 2000, .5, .25, 0, 1, 49, 1},
    {"more than 100", over, 40, 400, 4096, .5, .25, 0, 1, 100, 1},
    {"place from 8 on", behind, 40, 300, 4096, .5, .25, 0, 1, 8, 1},
    {"place from 60 on", behind, 40, 300, 4096, .5, .25, 0, 1, 60, 1},
    {"drift", drifts, 40, 1600, 1024, .5, .25, 0, 1, 0, 1},
};

static int evaluate(void *kind, const certreg_batch *b)
{
    s.calls++, s.rows += b->rows;
    ((const struct kind *)kind)->model(b->x, b->rows, b->y);
    return 0;
}

/* Found: no certificate is left, by a refusal, or by differences by which all abstain. */
TEST_ROWS(audit_finds_models_that_are_no_function_of_the_row, kinds)
{
    static certreg_queue_input in[MOST];
    static float z[MOST][D];
    static answer got[MOST];
    static const float scale[D] = {1, 1, 0};
    const size_t rows = kinds[_i].rows;
    const int fills = kinds[_i].model == filled, has_odd = fills || kinds[_i].model == outliers;
    const certreg_question asked = QUESTION(.tolerance = kinds[_i].tolerance);
    uint64_t missed = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        simulate_source source;
        int refused = 0, claims = 0;
        simulate_seed(&source, seed), s = (struct state){.at = kinds[_i].at};
        for (size_t i = 0; i < 2 * rows; i++) {
            const double y = kinds[_i].center + kinds[_i].spread * simulate_normal(&source);
            z[i / 2][i % 2] = fminf((float)y, fills ? 2 : INFINITY);
        }
        for (int half = 0; half < 2 && has_odd; half++) {
            float *odd = z[(size_t)((simulate_uniform(&source) + half) * (double)(rows / 2))];
            odd[0] = (float)s.at, odd[1] = fills ? odd[1] : odd[0];
        }
        for (size_t i = 0; i < rows; i++)
            in[i] = input_of(i, z[i], &asked, NULL), in[i].sigma = kinds[_i].sigma;
        run_all(QUEUE(.audit = 1, .seed = seed + 1, .eval = evaluate, .user = (void *)(kinds + _i),
                      .batch = kinds[_i].batch, .capacity = 2 * rows, .scale = scale,
                      .samples = kinds[_i].samples),
                in, rows, got);
        for (size_t i = 0; i < rows; i++) {
            refused |= got[i].r.status == CERTREG_E_MODEL_FAILED;
            claims |= got[i].c->radius > 0;
            ck_assert(got[i].c->radius == 0 || got[i].c->audited);
        }
        ck_assert(!refused || !claims);
        missed += (uint64_t)claims;
        kit_close_all();
    }
    printf("%-24s found %.2f, at least %.2f\n", kinds[_i].name, 1 - (double)missed / SEEDS,
           kinds[_i].share);
    ck_assert_uint_le(missed, simulate_most_misses(SEEDS, 1 - kinds[_i].share, 1e-3));
    ck_assert(kinds[_i].share > 0 || missed == SEEDS);
}

/* ---- coverage: outputs x0 are out above 1, and calls of whole batches move them towards 0 */
static int moves(void *by, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows * b->columns; i++)
        b->y[i] = b->x[i / b->columns] - (b->rows == 256 ? *(float *)by : 0);
    return 0;
}

typedef struct moved {
    certreg_estimator *estimator;
    size_t outputs; /* the second is a copy: both leave together */
    int audited;
} moved;

static unsigned run_moved(void *of, uint64_t run, double spend)
{
    static const double zeros[2];
    const moved *m = of;
    const certreg_question q = QUESTION(.tolerance = m->outputs > 1 ? sqrt(2) : 1,
                                        .alpha = alpha * spend, .prediction = zeros,
                                        .prediction_count = m->outputs, .output_count = m->outputs);
    KIT_OK(m->estimator, certreg_estimator_begin(m->estimator, (const float[]){0.5f}, 1, run));
    const certreg_certificate c = kit_ask(m->estimator, 4096, q);
    ck_assert(!c.audited == !m->audited && !(c.audit_band > 0) == !m->audited);
    return c.radius > 0.5;
}

/* Bits of row: two outputs; audited, or else without the band, which is false too often. */
TEST_TIMES(audit_bands_make_up_for_outputs_that_were_moved, 4)
{
    static const double expected[] = {0.532, 0.532, 0.005, 0.005};
    static const char *const names[] = {"moved, no band", "moved, no band, two outputs",
                                        "moved, band", "moved, band, two outputs"};
    float by = 0.99f / 64;
    moved m = {.outputs = (size_t)_i % 2 + 1, .audited = _i / 2};
    const certreg_plan p =
        PLAN(.seed = 7, .max_samples = 4096, .pilot = SIZE_MAX, .audit = (uint32_t)_i / 2);
    m.estimator = kit_begun(kit_model(moves, &by, 1, m.outputs), p, (const float[]){0.5f}, 1, 0);
    coverage_row(_i > 1 ? alpha : 1, expected[_i], 400, run_moved, &m, "%s", names[_i]);
}

KIT_MAIN("queues")
