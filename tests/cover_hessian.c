/* Simulated coverage of the upper bounds of the second order (theory 8), in dimensions 1 to 300,
 * end to end: outputs are sampled into a record, and the noise is replayed. */
#include "statistics/normal.h"
#include "bounds/hessian.h"
#include "estimator/estimator.h"
#include "support/coverage.h"

typedef struct law {
    const char *name;
    double (*value)(const float *e, size_t d);
    /* 0: |M| is the same in both norms; 1: M is a multiple of the identity; 2: of a swap of
     * two coordinates */
    int spread;
    size_t least;
} law;

static double square_sum(const float *e, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += (double)e[j] * (double)e[j];
    return sum;
}

static double linear(const float *e, size_t d)
{
    (void)d;
    return (double)e[0];
}
static double parabola(const float *e, size_t d)
{
    (void)d;
    return ((double)e[0] * (double)e[0] - 1) / sqrt(2);
}
static double mixed(const float *e, size_t d)
{
    (void)d;
    return (double)e[0] + 0.3 * ((double)e[0] * (double)e[0] - 1) / sqrt(2);
}
static double whole(const float *e, size_t d)
{
    return (square_sum(e, d) - (double)d) / sqrt(2 * (double)d);
}
static double saddle(const float *e, size_t d)
{
    (void)d;
    return (double)e[0] * (double)e[1];
}
static double halfspace(const float *e, size_t d)
{
    (void)d;
    return (double)e[0] > 1 ? 1 : -1;
}
/* A slope of one down from 1 at e_1 = -.2, as a score of a prediction that mostly keeps its
 * tolerance. */
static double clip(const float *e, size_t d)
{
    (void)d;
    const double t = ((double)e[0] + 1.2) / 0.5;
    return t < -1 ? -1 : t > 1 ? 1 : t;
}
static double shell(const float *e, size_t d)
{
    return square_sum(e, d) > (double)d + sqrt(2 * (double)d) ? 1 : 0;
}
static double shell_norm(size_t d)
{
    const double h = (double)d / 2, q = ((double)d + sqrt(2 * (double)d)) / 2;
    return exp(h * log(q) - q - lgamma(h + 1)) / sqrt(2);
}
static double jump(const float *e, size_t d)
{
    return 0.3 * (double)e[0] + ((double)e[d > 1] > 2 ? 3 : 0);
}
static double growth(const float *e, size_t d)
{
    (void)d;
    return exp(0.5 * (double)e[0]);
}

static const law laws[] = {
    {"linear", linear, 0, 1}, {"parabola", parabola, 0, 1}, {"line and parabola", mixed, 0, 1},
    {"|e|^2", whole, 1, 2},   {"saddle", saddle, 2, 2},     {"half-space", halfspace, 0, 1},
    {"clip", clip, 0, 1},     {"shell", shell, 1, 2},       {"jump", jump, 0, 1},
    {"growth", growth, 0, 1},
};
#define LAWS (sizeof laws / sizeof *laws)

/* The true operator norm, by the row of the table. */
static double norm_of(const law *l, size_t d)
{
    switch (l - laws) {
    case 0: return 0;
    case 1: return 1;
    case 2: return 0.3;
    case 3: return 1 / sqrt((double)d);
    case 4: return 1 / sqrt(2);
    case 5: return 2 * cr_normal_pdf(1) / sqrt(2);
    case 6: return (cr_normal_pdf(1.7) - cr_normal_pdf(0.7)) / 0.5 / sqrt(2);
    case 7: return shell_norm(d);
    case 8: return 3 * 2 * cr_normal_pdf(2) / sqrt(2);
    case 9: return exp(0.125) * 0.25 / sqrt(2);
    default: abort();
    }
}

static double frobenius_of(const law *l, size_t d)
{
    return fabs(norm_of(l, d)) * (l->spread == 1 ? sqrt((double)d) : l->spread == 2 ? sqrt(2) : 1);
}

/* ---- one size, one law */
static const struct {
    size_t n, d;
    uint64_t trials;
} sizes[] = {{500, 1, 1500},  {500, 3, 1500},  {2000, 3, 600},  {500, 30, 500}, {2000, 30, 300},
             {5000, 30, 100}, {500, 150, 150}, {1000, 100, 60}, {500, 300, 60}};
static const double tails[] = {0.05, 0.0125};
enum { SIZES = sizeof sizes / sizeof *sizes, TAILS = sizeof tails / sizeof *tails, BOUNDS = 3 };
#define LEVEL                                                                                   \
    (0.01 / (SIZES * (double)LAWS * TAILS * BOUNDS)) /* 1 % for all comparisons of this program \
                                                        together */

typedef struct count {
    uint64_t misses[TAILS][BOUNDS];
    double mean[TAILS][BOUNDS];
} count;
static const char *const names[BOUNDS] = {"Frobenius", "operator", "the less"};

typedef struct view {
    const law *l;
    size_t d;
} view;

static int eval(void *user, const certreg_batch *b)
{
    const view *v = user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = (float)v->l->value(b->x + i * b->inputs, v->d);
    return 0;
}

/* The pilot's mean is the center, and nothing else comes from it. */
static void run(certreg_estimator *e, const law *l, size_t n, size_t d, size_t pilot, count *c)
{
    const cr_score score = {.kind = CR_SCORE_OUTPUT};
    cr_samples job = cr_view_samples(&e->record, &score, 0, pilot, n, 0);
    for (size_t i = 0; i < pilot; i++)
        job.center += (double)cr_view_value(&e->record, i, 0) / (double)pilot;
    cr_hessian s;
    ck_assert_int_eq(cr_hessian_estimate(&e->replay, &job, 0, &s), CERTREG_OK);
    const double frobenius = frobenius_of(l, d), operator_norm = fabs(norm_of(l, d)),
                 dimension = (double)d;
    for (int t = 0; t < TAILS; t++) {
        const double bound[BOUNDS] = {cr_hessian_frobenius(&s, dimension, tails[t]),
                                      cr_hessian_operator(&s, dimension, tails[t]),
                                      cr_hessian_less(&s, dimension, tails[t])};
        for (int k = 0; k < BOUNDS; k++) {
            c->misses[t][k] += bound[k] < (k ? operator_norm : frobenius);
            c->mean[t][k] += bound[k];
        }
    }
}

static void simulate(const law *l, size_t n, size_t d, uint64_t trials, count *c)
{
    const size_t pilot = n * 15 / 85;
    view v = {l, d};
    const certreg_model model = MODEL(.eval = eval, .user = &v, .inputs = d, .outputs = 1);
    const certreg_plan plan = PLAN(.constraints = CERTREG_CONSTRAINT_SECOND_ORDER,
                                   .max_samples = n + pilot, .pilot = SIZE_MAX,
                                   .seed = 7000 + (uint64_t)(l - laws));
    certreg_estimator *e = kit_create(NULL, &model, &plan);
    for (uint64_t t = 0; t < trials; t++) {
        coverage_begin(e, t);
        KIT_OK(e, certreg_estimator_sample(e, 0, n + pilot));
        run(e, l, n, d, pilot, c);
    }
}

TEST_TIMES(misses_of_upper_bounds_of_the_second_order_stay_below_nominal, (int)(LAWS *SIZES))
{
    const law *l = laws + (size_t)_i / SIZES;
    const size_t n = sizes[_i % SIZES].n, d = sizes[_i % SIZES].d;
    const uint64_t trials = sizes[_i % SIZES].trials;
    if (d < l->least) return;
    count c = {.misses = {{0}}};
    simulate(l, n, d, trials, &c);
    printf("%s, n %zu, d %zu, truth %.3f, %.3f\n", l->name, n, d, frobenius_of(l, d),
           fabs(norm_of(l, d)));
    for (int t = 0; t < TAILS; t++)
        for (int k = 0; k < BOUNDS; k++) {
            printf("    mean %.3f: ", c.mean[t][k] / (double)trials);
            coverage_check(names[k], c.misses[t][k], trials, tails[t], LEVEL, 0);
        }
}

KIT_MAIN("coverage of the second order")
