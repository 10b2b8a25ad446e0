/* The rows of statistics, methods, centers and constraints. */
#include "question/rows.h"
#include "base/sizes.h"
#include "question/question.h"
#include "statistics/served.h"
#include <stddef.h>

enum {
    PREDICTION = CR_ONE_OF(CERTREG_CENTER_PREDICTION),
    TRUE_MEAN = CR_ONE_OF(CERTREG_CENTER_TRUE_MEAN),
    SAMPLE_MEDIAN = CR_ONE_OF(CERTREG_CENTER_SAMPLE_MEDIAN),
    OUTPUT = CR_OFFERS_NUMBER | CR_OFFERS_ANGLE,
    TARGET = CR_OFFERS_TARGET,
    ANYTHING = ~0u >> 1,
    /* what statistics offer of one output */
    ONE = CR_OFFERS_SERVING | TARGET | CR_OFFERS_OUTPUT_BOUNDS | CR_OFFERS_ATTACK,
    /* what methods about scores offer */
    SCORES = OUTPUT | CR_OFFERS_VECTOR | CR_OFFERS_SERVING | CR_OFFERS_OUTPUT_BOUNDS |
             CR_OFFERS_ATTACK
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
    return cr_location_huber(values, q->huber_width);
}

static double mean_of(const cr_question *q, const cr_values *values)
{
    (void)q;
    return cr_location_mean(values);
}

/* It is the origin from which the values of an angle are counted. */
static double circular_mean_of(const cr_question *q, const cr_values *values)
{
    (void)q, (void)values;
    return 0;
}

static double trimmed_mean_of(const cr_question *q, const cr_values *values)
{
    const uint64_t cut = cr_served_cut(cr_location_count(values), q->served_trim);
    return cr_location_trimmed_mean(values, (size_t)cut);
}

static const cr_statistic median = {
    .row = {"MEDIAN", OUTPUT | CR_OFFERS_VECTOR | CR_OFFERS_GROUP_TEST | ONE},
    .methods = METHODS | BASELINE,
    .centers = PREDICTION | SAMPLE_MEDIAN,
    .score = CR_SCORE_SIGN,
    .angle = CR_ANGLE_CUT,
    .choice = CR_CHOICE_BALANCED,
    .reach = CR_REACH_ORDERS,
    .net = CR_NET_COORDINATES,
    .estimate = median_of};

static const cr_statistic huber = {.row = {"HUBER", OUTPUT | CR_OFFERS_VECTOR | ONE},
                                   .methods = METHODS,
                                   .centers = PREDICTION,
                                   .score = CR_SCORE_HUBER,
                                   .angle = CR_ANGLE_CUT,
                                   .choice = CR_CHOICE_BALANCED,
                                   .reach = CR_REACH_TOLERANCES,
                                   .net = CR_NET_COORDINATES,
                                   .has_width = 1,
                                   .estimate = huber_of};

static const cr_statistic mean = {.row = {"MEAN", OUTPUT | CR_OFFERS_VECTOR | ONE},
                                  .methods = METHODS | PAPER,
                                  .centers = PREDICTION | TRUE_MEAN,
                                  .score = CR_SCORE_LINEAR,
                                  .angle = CR_ANGLE_AS_NUMBER,
                                  .choice = CR_CHOICE_STATISTIC,
                                  .reach = CR_REACH_MEAN,
                                  .net = CR_NET_MEANS,
                                  .estimate = mean_of};

static const cr_statistic circular_mean = {.row = {"CIRCULAR_MEAN", CR_OFFERS_ANGLE | ONE},
                                           .methods = METHODS,
                                           .centers = PREDICTION,
                                           .score = CR_SCORE_SINE,
                                           .angle = CR_ANGLE_ROUND,
                                           .choice = CR_CHOICE_STATISTIC,
                                           .reach = CR_REACH_TOLERANCES,
                                           .estimate = circular_mean_of};

static const cr_statistic trimmed_mean = {
    .row = {"TRIMMED_MEAN", OUTPUT | CR_OFFERS_PUBLISHED_SERVING},
    .methods = BASELINE,
    .centers = PREDICTION,
    .score = CR_SCORE_WITHIN,
    .angle = CR_ANGLE_CUT,
    .choice = CR_CHOICE_NOISE_FREE,
    .trims = 1,
    .estimate = trimmed_mean_of};

/* More than half of the outputs within a third of the tolerance keep every center within all of
 * it. */
static const cr_statistic ball_center = {
    .row = {"BALL_CENTER", CR_OFFERS_ALL | CR_OFFERS_PUBLISHED_SERVING},
    .methods = BASELINE,
    .centers = PREDICTION,
    .score = CR_SCORE_BALL,
    .wider = 3,
    .choice = CR_CHOICE_CENTER};

static const cr_statistic projection_median = {
    .row = {"PROJECTION_MEDIAN",
            CR_OFFERS_VECTOR | CR_OFFERS_SERVING | TARGET | CR_OFFERS_GROUP_TEST},
    .methods = METHODS,
    .centers = PREDICTION,
    .score = CR_SCORE_SIGN,
    .choice = CR_CHOICE_BALANCED,
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

/* Without normality the gradient hardly ever pays for its share of alpha: it is used where it is
 * named. */
static const cr_method finite = {.row = {"FINITE", SCORES | TARGET | CR_OFFERS_GROUP_TEST},
                                 .centers = PREDICTION | TRUE_MEAN,
                                 .constraints = ECGM,
                                 .usual = CERTREG_CONSTRAINTS_ECM,
                                 .neutral = CERTREG_CONSTRAINT_RANGE,
                                 .orders = 1};

static const cr_method asymptotic = {.row = {"ASYMPTOTIC", SCORES},
                                     .centers = PREDICTION | TRUE_MEAN,
                                     .constraints = ECGM,
                                     .usual = CERTREG_CONSTRAINTS_ECGM,
                                     .neutral = ECM,
                                     .normality = 1};

static const cr_method paper = {.row = {"PAPER", OUTPUT},
                                .centers = TRUE_MEAN,
                                .constraints = ECGM,
                                .usual = CERTREG_CONSTRAINTS_ECGM,
                                .demanded = CERTREG_CONSTRAINT_GRADIENT,
                                .neutral = ECM,
                                .normality = 2};

static const cr_method anytime = {.row = {"ANYTIME", SCORES | TARGET},
                                  .centers = PREDICTION | TRUE_MEAN,
                                  .constraints = ECM,
                                  .usual = CERTREG_CONSTRAINTS_ECM,
                                  .neutral = CERTREG_CONSTRAINT_RANGE,
                                  .any_number = 1};

static const cr_method baseline = {
    .row = {"BASELINE", OUTPUT | CR_OFFERS_ALL | CR_OFFERS_PUBLISHED_SERVING},
    .centers = PREDICTION | SAMPLE_MEDIAN,
    .usual = CERTREG_CONSTRAINTS_ECM,
    .published = 1};

const cr_method *cr_method_of(int32_t value)
{
    switch ((enum certreg_method)value) {
    case CERTREG_METHOD_FINITE: return &finite;
    case CERTREG_METHOD_ASYMPTOTIC: return &asymptotic;
    case CERTREG_METHOD_PAPER: return &paper;
    case CERTREG_METHOD_ANYTIME: return &anytime;
    case CERTREG_METHOD_BASELINE: return &baseline;
    }
    return NULL;
}

/* ---- centers: from what a tolerance is measured */
static const cr_center prediction = {.row = {"PREDICTION", ANYTHING}};

static const cr_center true_mean = {
    .row = {"TRUE_MEAN", OUTPUT | CR_OFFERS_VECTOR | TARGET}, .by_estimate = 1, .about_output = 1};

/* Median smoothing as its authors coded it. */
static const cr_center sample_median = {
    .row = {"SAMPLE_MEDIAN", OUTPUT}, .by_estimate = 1, .every_sample = 1};

const cr_center *cr_center_of(int32_t value)
{
    switch ((enum certreg_center)value) {
    case CERTREG_CENTER_PREDICTION: return &prediction;
    case CERTREG_CENTER_TRUE_MEAN: return &true_mean;
    case CERTREG_CENTER_SAMPLE_MEDIAN: return &sample_median;
    }
    return NULL;
}

/* ---- constraints, by the numbers of their bits */
enum { NO_GROUP_TEST = ANYTHING & ~CR_OFFERS_GROUP_TEST };

static const cr_row rows[] = {{"MEAN", ANYTHING},          {"VARIANCE", ANYTHING},
                              {"GRADIENT", NO_GROUP_TEST}, {"RANGE", ANYTHING},
                              {NULL, 0} /* no such bit */, {"MOMENT", ANYTHING}};
enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(CR_ONE_OF(ROWS) > CR_CONSTRAINTS_ALL, "every constraint has a row");

const cr_row *cr_constraint_of(int32_t value)
{
    return value >= 0 && value < ROWS ? rows + value : NULL;
}
