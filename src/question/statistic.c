/* The statistics (theory 1.1, 7 and 9). */
#include "question/question.h"
#include "statistics/served.h"
#include <stddef.h>

enum {
    METHODS = CR_ONE_OF(CERTREG_METHOD_FINITE) | CR_ONE_OF(CERTREG_METHOD_ASYMPTOTIC) |
              CR_ONE_OF(CERTREG_METHOD_ANYTIME),
    PAPER = CR_ONE_OF(CERTREG_METHOD_PAPER),
    BASELINE = CR_ONE_OF(CERTREG_METHOD_BASELINE),
    PREDICTION = CR_ONE_OF(CERTREG_CENTER_PREDICTION),
    TRUE_MEAN = CR_ONE_OF(CERTREG_CENTER_TRUE_MEAN),
    SAMPLE_MEDIAN = CR_ONE_OF(CERTREG_CENTER_SAMPLE_MEDIAN),
    /* of one output */
    ONE = CR_OFFERS_SERVING | CR_OFFERS_TARGET | CR_OFFERS_OUTPUT_BOUNDS | CR_OFFERS_ATTACK
};

/* ---- estimates */
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

/* ---- rows */
static const cr_statistic median = {.row = {"MEDIAN", CR_OFFERS_NUMBER | CR_OFFERS_ANGLE |
                                                          CR_OFFERS_VECTOR | CR_OFFERS_GROUP_TEST |
                                                          ONE},
                                    .methods = METHODS | BASELINE,
                                    .centers = PREDICTION | SAMPLE_MEDIAN,
                                    .score = CR_SCORE_SIGN,
                                    .angle = CR_ANGLE_CUT,
                                    .choice = CR_CHOICE_BALANCED,
                                    .reach = CR_REACH_ORDERS,
                                    .net = CR_NET_COORDINATES,
                                    .estimate = median_of};

static const cr_statistic huber = {
    .row = {"HUBER", CR_OFFERS_NUMBER | CR_OFFERS_ANGLE | CR_OFFERS_VECTOR | ONE},
    .methods = METHODS,
    .centers = PREDICTION,
    .score = CR_SCORE_HUBER,
    .angle = CR_ANGLE_CUT,
    .choice = CR_CHOICE_BALANCED,
    .reach = CR_REACH_TOLERANCES,
    .net = CR_NET_COORDINATES,
    .has_width = 1,
    .estimate = huber_of};

static const cr_statistic mean = {
    .row = {"MEAN", CR_OFFERS_NUMBER | CR_OFFERS_ANGLE | CR_OFFERS_VECTOR | ONE},
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
    .row = {"TRIMMED_MEAN", CR_OFFERS_NUMBER | CR_OFFERS_ANGLE | CR_OFFERS_PUBLISHED_SERVING},
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
            CR_OFFERS_VECTOR | CR_OFFERS_SERVING | CR_OFFERS_TARGET | CR_OFFERS_GROUP_TEST},
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
