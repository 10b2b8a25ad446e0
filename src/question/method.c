/* The methods (theory 5, 6, 9 and 10). */
#include "question/rows.h"
#include <stddef.h>

enum {
    PREDICTION = CR_ONE_OF(CERTREG_CENTER_PREDICTION),
    TRUE_MEAN = CR_ONE_OF(CERTREG_CENTER_TRUE_MEAN),
    SAMPLE_MEDIAN = CR_ONE_OF(CERTREG_CENTER_SAMPLE_MEDIAN),
    OUTPUT = CR_OFFERS_NUMBER | CR_OFFERS_ANGLE,
    SCORES = OUTPUT | CR_OFFERS_VECTOR | CR_OFFERS_SERVING | CR_OFFERS_OUTPUT_BOUNDS |
             CR_OFFERS_ATTACK,
    TARGET = CR_OFFERS_TARGET,
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
