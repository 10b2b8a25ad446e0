/* Wrong features (theory 1.12): how often the certificates of masked models are false against the
 * worst model, all numbers of wrong units together; and that this model is the worst. */
#include "statistics/normal.h"
#include "support/coverage.h"

enum { UNITS = 8, INPUTS = UNITS + 1, SAMPLES = 404, ATTACKED = 100000 };
#define ALPHA 0.25
static const float marker = -7;

/* ---- masks, and the worst model of k wrong units: out if one of the first k is shown and large,
 * or if all of them are hidden and the noise of the last feature, which has no unit, is beyond an
 * edge */
typedef struct worst {
    const char *name;
    size_t shown;
    double probability, out; /* of a unit; the share of samples that are out */
    size_t k;
    uint64_t asked; /* question.faults */
    size_t served;
    double seen, edge; /* set by open_worst: 1 - w */
} worst;

static const worst models[] = {
    {"2 of 8 units, one wrong", .shown = 2, .out = 0.1, .k = 1},
    {"2 of 8 units, one wrong, as asked", .shown = 2, .out = 0.1, .k = 1, .asked = 1},
    {"2 of 8 units, two wrong", .shown = 2, .out = 0.02, .k = 2},
    {"each of 8 units, one wrong", .probability = 0.25, .out = 0.1, .k = 1},
    {"each of 8 units, two wrong, asked for one", .probability = 0.25, .out = 0.03, .k = 2,
     .asked = 1},
    {"2 of 8 units, one wrong, served", .shown = 2, .out = 0.03, .k = 1, .served = 25},
    {"2 of 8 units, none wrong", .shown = 2, .out = 0.2, .k = 0}};

static int is_out(const worst *w, const float *x, int attacked)
{
    int hidden = 1;
    for (size_t u = 0; u < w->k; u++) hidden &= x[u] == marker;
    return hidden ? (double)x[UNITS] > w->edge : attacked;
}

static int evaluate(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++) b->y[i] = is_out(user, b->x + i * INPUTS, 0) ? 9 : 0;
    return 0;
}

static certreg_estimator *open_worst(worst *w, size_t samples)
{
    static const int32_t unit[INPUTS] = {0, 1, 2, 3, 4, 5, 6, 7, -1};
    double each[UNITS], shown = (double)w->shown, hidden = 1;
    for (int u = 0; u < UNITS; u++) each[u] = w->probability;
    const certreg_masks masks = STRUCT(certreg_masks, .marker = marker, .units = UNITS,
                                       .unit = unit, .shown = w->shown,
                                       .probability = w->shown ? NULL : each);
    certreg_model m = KIT_MODEL(evaluate, w, INPUTS, 1, .masks = &masks);
    const certreg_plan p = PLAN(.seed = 5, .max_samples = samples, .pilot = SIZE_MAX);
    for (size_t i = 0; i < w->k; i++)
        hidden *= w->shown ? (UNITS - shown - (double)i) / (UNITS - (double)i) : 1 - w->probability;
    w->seen = 1 - hidden;
    w->edge = cr_normal_quantile_sf(w->out / hidden);
    return kit_create(NULL, &m, &p);
}

/* The shift that makes out as probable as T, or a served value, allows. */
static double breaks_at(const worst *w)
{
    double least = 0, most = 1;
    for (int i = 0; w->served && i < 60; i++) { /* 13 of 25 outputs are out */
        const double middle = 0.5 * (least + most);
        if (1 - coverage_binomial(12, 25, middle) > 0.05) most = middle;
        else least = middle;
    }
    const double allowed = w->served ? least : 0.5;
    return w->edge - cr_normal_quantile_sf((allowed - w->seen) / (1 - w->seen));
}

/* ---- how often it is false */
static unsigned run_worst(void *of, uint64_t run, double spend)
{
    const struct {
        certreg_estimator *e;
        const worst *w;
    } *t = of;
    const certreg_serving served =
        STRUCT(certreg_serving, .samples = t->w->served, .failure_rate = 0.1);
    const certreg_question q = QUESTION(.tolerance = 1, .alpha = ALPHA * spend,
                                        .faults = t->w->asked, .prediction = asks_prediction(0),
                                        .serving = t->w->served ? &served : NULL);
    const certreg_certificate c = coverage_ask(t->e, run, SAMPLES, q);
    return c.fault_radius[t->w->k] * (1 - 1e-9) > breaks_at(t->w);
}

TEST_ROWS(worst_models_of_wrong_units_are_false_as_often_as_expected, models)
{
    worst w = models[_i];
    struct {
        certreg_estimator *e;
        const worst *w;
    } t = {open_worst(&w, SAMPLES), &w};
    ck_assert_double_gt(breaks_at(&w), 0.2);
    coverage_row(ALPHA, coverage_rate(SAMPLES, w.out, w.out, ALPHA), 800, run_worst, &t,
                 "wrong features, %s", w.name);
}

/* ---- what the worst values do: at that shift, T is about to leave the tolerance */
TEST_ROWS(worst_values_do_to_worst_models_what_is_proved, models)
{
    static float x[ATTACKED][INPUTS];
    worst w = models[_i];
    certreg_estimator *e = open_worst(&w, ATTACKED);
    w.served = 0;
    const double radius = breaks_at(&w);
    double out = 0;
    coverage_begin(e, 7);
    KIT_OK(e, certreg_estimator_draw(e, 0, ATTACKED, *x));
    for (int i = 0; i < ATTACKED; i++) {
        x[i][UNITS] += (float)radius;
        out += is_out(&w, x[i], 1);
    }
    ck_assert_double_eq_tol(out / ATTACKED, 0.5, 4 * sqrt(0.25 / ATTACKED));
}

KIT_MAIN("faults")
