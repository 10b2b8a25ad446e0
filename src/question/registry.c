/* The definition of each statistic, method, center and constraint, one row each, and the valid
 * combinations of them. */
#include "base/struct_sizes.h"
#include "question/question.h"
#include "statistics/serving.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ======== The rows of all statistics, methods, centers and constraints. */
enum {
    PREDICTION = CR_ONE_OF(CERTREG_CENTER_PREDICTION),
    TRUE_MEAN = CR_ONE_OF(CERTREG_CENTER_TRUE_MEAN),
    SAMPLE_MEDIAN = CR_ONE_OF(CERTREG_CENTER_SAMPLE_MEDIAN),
    OUTPUT = CR_SUPPORTS_NUMBER | CR_SUPPORTS_ANGLE,
    TARGET = CR_SUPPORTS_TARGET,
    RELATIVE = CR_SUPPORTS_RELATIVE,
    ANYTHING = ~0u >> 1,
    /* supported for one output */
    ONE = CR_SUPPORTS_SERVING | TARGET | CR_SUPPORTS_OUTPUT_BOUNDS | CR_SUPPORTS_ATTACK |
          CR_SUPPORTS_EPISODE,
    /* supported by methods that bound scores */
    SCORES = OUTPUT | CR_SUPPORTS_VECTOR | CR_SUPPORTS_SERVING | CR_SUPPORTS_OUTPUT_BOUNDS |
             CR_SUPPORTS_ATTACK | RELATIVE | CR_SUPPORTS_EPISODE | CR_SUPPORTS_WIDTH,
    FAULTS = CR_SUPPORTS_FAULTS,
    GAPS = CR_SUPPORTS_GAPS
};

/* ---- statistics (theory 1.1, 7 and 9) */
enum {
    METHODS = CR_ONE_OF(CERTREG_METHOD_FINITE) | CR_ONE_OF(CERTREG_METHOD_ASYMPTOTIC) |
              CR_ONE_OF(CERTREG_METHOD_ANYTIME),
    PAPER = CR_ONE_OF(CERTREG_METHOD_PAPER),
    BASELINE = CR_ONE_OF(CERTREG_METHOD_BASELINE)
};

static double median_of(const cr_question *q, const cr_values *values)
{
    (void)q;
    return cr_location_median(values);
}

static double huber_of(const cr_question *q, const cr_values *values)
{
    return cr_location_huber(values, q->given.huber_width);
}

static double mean_of(const cr_question *q, const cr_values *values)
{
    (void)q;
    return cr_location_mean(values);
}

/* The values of an angle are counted from its circular mean. */
static double circular_mean_of(const cr_question *q, const cr_values *values)
{
    (void)q;
    (void)values;
    return 0;
}

static double trimmed_mean_of(const cr_question *q, const cr_values *values)
{
    const uint64_t cut = cr_serving_trim_count(cr_location_count(values), q->given.serving_trim);
    return cr_location_trimmed_mean(values, (size_t)cut);
}

static const cr_statistic median = {.row = {"MEDIAN", OUTPUT | CR_SUPPORTS_VECTOR |
                                                          CR_SUPPORTS_GROUP_TEST | RELATIVE | ONE |
                                                          FAULTS | GAPS},
                                    .methods = METHODS | BASELINE,
                                    .centers = PREDICTION | SAMPLE_MEDIAN,
                                    .score = CR_SCORE_SIGN,
                                    .level = 0.5,
                                    .angle = CR_ANGLE_UNROLLED,
                                    .prediction = CR_PREDICT_BALANCED,
                                    .bounds = CR_BOUNDS_BY_ORDER,
                                    .net = CR_NET_COORDINATES,
                                    .estimate = median_of};

static const cr_statistic huber = {
    .row = {"HUBER", OUTPUT | CR_SUPPORTS_VECTOR | CR_SUPPORTS_WIDTH | ONE | GAPS},
    .methods = METHODS,
    .centers = PREDICTION,
    .score = CR_SCORE_HUBER,
    .angle = CR_ANGLE_UNROLLED,
    .prediction = CR_PREDICT_BALANCED,
    .bounds = CR_BOUNDS_BY_TOLERANCE,
    .net = CR_NET_COORDINATES,
    .estimate = huber_of};

static const cr_statistic mean = {.row = {"MEAN", OUTPUT | CR_SUPPORTS_VECTOR | RELATIVE | ONE},
                                  .methods = METHODS | PAPER,
                                  .centers = PREDICTION | TRUE_MEAN,
                                  .score = CR_SCORE_LINEAR,
                                  .angle = CR_ANGLE_AS_NUMBER,
                                  .prediction = CR_PREDICT_STATISTIC,
                                  .bounds = CR_BOUNDS_OF_MEAN,
                                  .net = CR_NET_MEANS,
                                  .estimate = mean_of};

static const cr_statistic circular_mean = {.row = {"CIRCULAR_MEAN", CR_SUPPORTS_ANGLE | ONE},
                                           .methods = METHODS,
                                           .centers = PREDICTION,
                                           .score = CR_SCORE_SINE,
                                           .angle = CR_ANGLE_CIRCULAR,
                                           .prediction = CR_PREDICT_STATISTIC,
                                           .bounds = CR_BOUNDS_BY_TOLERANCE,
                                           .estimate = circular_mean_of};

static const cr_statistic trimmed_mean = {
    .row = {"TRIMMED_MEAN", OUTPUT | CR_SUPPORTS_PUBLISHED_SERVING | CR_SUPPORTS_TRIM},
    .methods = BASELINE,
    .centers = PREDICTION,
    .score = CR_SCORE_WITHIN,
    .level = 0.5,
    .angle = CR_ANGLE_UNROLLED,
    .prediction = CR_PREDICT_NOISE_FREE,
    .estimate = trimmed_mean_of};

/* If more than half of the outputs lie within a third of the tolerance, every center lies within
 * the whole of it. */
static const cr_statistic ball_center = {
    .row = {"BALL_CENTER", CR_SUPPORTS_ALL | CR_SUPPORTS_PUBLISHED_SERVING},
    .methods = BASELINE,
    .centers = PREDICTION,
    .score = CR_SCORE_BALL,
    .level = 0.5,
    .tolerance_divisor = 3,
    .prediction = CR_PREDICT_CENTER};

static const cr_statistic projection_median = {
    .row = {"PROJECTION_MEDIAN", GAPS | CR_SUPPORTS_VECTOR | CR_SUPPORTS_SERVING | TARGET |
                                     CR_SUPPORTS_GROUP_TEST | RELATIVE | CR_SUPPORTS_EPISODE |
                                     FAULTS},
    .methods = METHODS,
    .centers = PREDICTION,
    .score = CR_SCORE_SIGN,
    .level = 0.5,
    .prediction = CR_PREDICT_BALANCED,
    .net = CR_NET_PROJECTIONS,
    .estimate = median_of};

const cr_statistic *cr_statistic_of(int32_t value)
{
    switch ((enum certreg_statistic)value) {
    case CERTREG_STATISTIC_MEDIAN: return &median;
    case CERTREG_STATISTIC_HUBER: return &huber;
    case CERTREG_STATISTIC_MEAN: return &mean;
    case CERTREG_STATISTIC_CIRCULAR_MEAN: return &circular_mean;
    case CERTREG_STATISTIC_TRIMMED_MEAN: return &trimmed_mean;
    case CERTREG_STATISTIC_BALL_CENTER: return &ball_center;
    case CERTREG_STATISTIC_PROJECTION_MEDIAN: return &projection_median;
    }
    return NULL;
}

/* ---- methods (theory 5, 6, 9 and 10) */
enum {
    /* The moment stands for mean and variance together. */
    ECM = CERTREG_CONSTRAINTS_ECM | CERTREG_CONSTRAINT_MOMENT,
    ECGM = ECM | CERTREG_CONSTRAINT_GRADIENT
};

/* Without normality the gradient hardly ever pays for its share of alpha, so that it is used only
 * if a question names it. */
static const cr_method finite_sample = {
    .row = {"FINITE", SCORES | TARGET | CR_SUPPORTS_GROUP_TEST | FAULTS},
    .centers = PREDICTION | TRUE_MEAN,
    .constraints = ECGM,
    .default_families = CERTREG_CONSTRAINTS_ECM,
    .neutral = CERTREG_CONSTRAINT_RANGE,
    .has_order_statistics = 1};

static const cr_method asymptotic = {.row = {"ASYMPTOTIC", SCORES},
                                     .centers = PREDICTION | TRUE_MEAN,
                                     .constraints = ECGM,
                                     .default_families = CERTREG_CONSTRAINTS_ECGM,
                                     .neutral = ECM,
                                     .normality = 1};

static const cr_method paper = {.row = {"PAPER", OUTPUT},
                                .centers = TRUE_MEAN,
                                .constraints = ECGM,
                                .default_families = CERTREG_CONSTRAINTS_ECGM,
                                .required = CERTREG_CONSTRAINT_GRADIENT,
                                .neutral = ECM,
                                .normality = 2};

static const cr_method anytime = {.row = {"ANYTIME", SCORES | TARGET | FAULTS},
                                  .centers = PREDICTION | TRUE_MEAN,
                                  .constraints = ECM,
                                  .default_families = CERTREG_CONSTRAINTS_ECM,
                                  .neutral = CERTREG_CONSTRAINT_RANGE,
                                  .is_anytime = 1};

static const cr_method baseline = {.row = {"BASELINE", OUTPUT | CR_SUPPORTS_ALL |
                                                           CR_SUPPORTS_PUBLISHED_SERVING |
                                                           CR_SUPPORTS_TRIM},
                                   .centers = PREDICTION | SAMPLE_MEDIAN,
                                   .default_families = CERTREG_CONSTRAINTS_ECM,
                                   .published = 1};

const cr_method *cr_method_of(int32_t value)
{
    switch ((enum certreg_method)value) {
    case CERTREG_METHOD_FINITE: return &finite_sample;
    case CERTREG_METHOD_ASYMPTOTIC: return &asymptotic;
    case CERTREG_METHOD_PAPER: return &paper;
    case CERTREG_METHOD_ANYTIME: return &anytime;
    case CERTREG_METHOD_BASELINE: return &baseline;
    }
    return NULL;
}

/* ---- centers: the value from which a tolerance is measured */
static const cr_center prediction = {.row = {"PREDICTION", ANYTHING}};

static const cr_center true_mean = {
    .row = {"TRUE_MEAN", OUTPUT | CR_SUPPORTS_VECTOR | TARGET | CR_SUPPORTS_EPISODE},
    .about_estimate = 1,
    .bounds_output = 1};

/* Median smoothing as its authors coded it. */
static const cr_center sample_median = {
    .row = {"SAMPLE_MEDIAN", OUTPUT}, .about_estimate = 1, .includes_pilot = 1};

const cr_center *cr_center_of(int32_t value)
{
    switch ((enum certreg_center)value) {
    case CERTREG_CENTER_PREDICTION: return &prediction;
    case CERTREG_CENTER_TRUE_MEAN: return &true_mean;
    case CERTREG_CENTER_SAMPLE_MEDIAN: return &sample_median;
    }
    return NULL;
}

/* ---- constraints, in the order of their bits */
enum { NO_GROUP_TEST = ANYTHING & ~CR_SUPPORTS_GROUP_TEST };

static const cr_capabilities rows[] = {{"MEAN", ANYTHING},          {"VARIANCE", ANYTHING},
                                       {"GRADIENT", NO_GROUP_TEST}, {"RANGE", ANYTHING},
                                       {NULL, 0} /* no such bit */, {"MOMENT", ANYTHING}};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(CR_ONE_OF(ROWS) > CR_CONSTRAINTS_ALL, "every constraint has a row");

static const cr_capabilities *cr_constraint_of(int32_t bit)
{
    return bit >= 0 && bit < ROWS ? rows + bit : NULL;
}

/* ======== Checks combinations by the rows of the registry: of statistic, method and center with
 * each other, with what the question requires, and with the constraints that it names. */
/* ---- the tables */
static const cr_capabilities *statistic_row(int32_t value)
{
    const cr_statistic *s = cr_statistic_of(value);
    return s ? &s->row : NULL;
}

static const cr_capabilities *method_row(int32_t value)
{
    const cr_method *m = cr_method_of(value);
    return m ? &m->row : NULL;
}

static const cr_capabilities *center_row(int32_t value)
{
    const cr_center *c = cr_center_of(value);
    return c ? &c->row : NULL;
}

typedef struct table {
    const char *field, *prefix;
    const cr_capabilities *(*row)(int32_t value);
} table;

static const table statistics = {"statistic", "CERTREG_STATISTIC", statistic_row},
                   methods = {"method", "CERTREG_METHOD", method_row},
                   centers = {"center", "CERTREG_CENTER", center_row},
                   constraints = {"constraints", "CERTREG_CONSTRAINT", cr_constraint_of};

/* Returns the set of values with one of these capabilities. */
static uint32_t supporting(const table *t, uint32_t supports)
{
    uint32_t set = 0;
    const cr_capabilities *row;
    for (int32_t value = 0; (row = t->row(value)); value++)
        if (row->supports & supports) set |= CR_ONE_OF(value);
    return set;
}

/* "CERTREG_METHOD_FINITE, _ASYMPTOTIC or _ANYTIME". */
static void list(const table *t, uint32_t set, char *out, size_t room)
{
    size_t length = (size_t)snprintf(out, room, "%s", t->prefix);
    for (int32_t value = 0; set && length < room; value++) {
        if (!(set & CR_ONE_OF(value))) continue;
        set &= ~CR_ONE_OF(value);
        const int last_follows = !(set & (set - 1));
        const char *next = !set ? "" : last_follows ? " or " : ", ";
        length += (size_t)snprintf(out + length, room - length, "_%s%s", t->row(value)->name, next);
    }
}

static certreg_status refuse(const table *t, const char *what, const char *name, uint32_t set,
                             certreg_error *why)
{
    char values[200];
    list(t, set, values, sizeof values);
    return cr_error_set(why, CERTREG_E_INVALID, "question.%s: for %s%s use %s", t->field, what,
                        name, values);
}

/* ---- statistic, method and center */
static const struct {
    uint32_t capability;
    const char *name;
} requirements[] = {{CR_SUPPORTS_NUMBER, "an output that is no angle (model.kind)"},
                    {CR_SUPPORTS_ANGLE, "an angle"},
                    {CR_SUPPORTS_VECTOR, "a vector"},
                    {CR_SUPPORTS_ALL, "a vector of all outputs"},
                    {CR_SUPPORTS_SERVING, "serving"},
                    {CR_SUPPORTS_PUBLISHED_SERVING, "serving with CERTREG_METHOD_BASELINE"},
                    {CR_SUPPORTS_TARGET, "a target"},
                    {CR_SUPPORTS_GROUP_TEST, "a target without CERTREG_METHOD_ANYTIME"},
                    {CR_SUPPORTS_OUTPUT_BOUNDS, "output bounds"},
                    {CR_SUPPORTS_ATTACK, "an attack"},
                    {CR_SUPPORTS_RELATIVE, "a relative tolerance"},
                    {CR_SUPPORTS_EPISODE, "an episode (CERTREG_PLAN_EPISODE)"},
                    {CR_SUPPORTS_WIDTH, "a question.huber_width other than 0"},
                    {CR_SUPPORTS_TRIM, "a question.serving->trim or core other than 0"},
                    {CR_SUPPORTS_FAULTS, "features with arbitrary values (question.faults)"}};

certreg_status cr_compatibility_check(const cr_question *q, uint32_t required, certreg_error *why)
{
    const struct {
        const table *table;
        const cr_capabilities *row;
    } of[] = {{&statistics, &q->statistic->row},
              {&methods, &q->method->row},
              {&centers, &q->center->row}};
    const cr_statistic *s = q->statistic;
    const cr_method *m = q->method;
    if (!(s->methods & CR_ONE_OF(q->given.method)))
        return refuse(&methods, "CERTREG_STATISTIC_", s->row.name, s->methods, why);
    if (!(s->centers & CR_ONE_OF(q->given.center)))
        return refuse(&centers, "CERTREG_STATISTIC_", s->row.name, s->centers, why);
    if (!(m->centers & CR_ONE_OF(q->given.center)))
        return refuse(&centers, "CERTREG_METHOD_", m->row.name, m->centers, why);
    for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++)
        for (size_t j = 0; j < sizeof of / sizeof *of; j++)
            if (required & requirements[i].capability & ~of[j].row->supports)
                return refuse(of[j].table, "", requirements[i].name,
                              supporting(of[j].table, requirements[i].capability), why);
    return CERTREG_OK;
}

/* ---- constraints */
uint32_t cr_compatibility_constraints(const cr_question *q)
{
    uint32_t set = 0;
    const cr_capabilities *row;
    const int counts = q->is_group_sequential || (q->given.serving_pairs && q->is_binomial);
    for (int32_t bit = 0; (row = cr_constraint_of(bit)); bit++)
        if (!counts || row->supports & CR_SUPPORTS_GROUP_TEST) set |= CR_ONE_OF(bit);
    return set;
}

certreg_status cr_compatibility_check_constraints(const cr_question *q, uint32_t plan,
                                                  certreg_error *why)
{
    const cr_method *m = q->method;
    const uint32_t unused = q->given.constraints &
                            ~(m->constraints & cr_compatibility_constraints(q)),
                   needed = q->given.constraints ? q->given.constraints : m->required,
                   lacking = needed & CERTREG_CONSTRAINT_GRADIENT & ~plan;
    char names[200];
    if (!unused && !lacking) return CERTREG_OK;
    list(&constraints, unused ? unused : lacking, names, sizeof names);
    if (unused)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.constraints: CERTREG_METHOD_%s does not use %s here; leave it out",
            m->row.name, names);
    return cr_error_set(why, CERTREG_E_INVALID,
                        "question.constraints: CERTREG_METHOD_%s uses %s, which plan.constraints "
                        "lacks; add it there, or name other constraints",
                        m->row.name, names);
}
