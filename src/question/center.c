/* From what a tolerance is measured. */
#include "question/rows.h"
#include <stddef.h>

enum { ANYTHING = ~0u >> 1, OUTPUT = CR_OFFERS_NUMBER | CR_OFFERS_ANGLE };

static const cr_center prediction = {.row = {"PREDICTION", ANYTHING}};

static const cr_center true_mean = {
    .row = {"TRUE_MEAN", OUTPUT | CR_OFFERS_VECTOR | CR_OFFERS_TARGET},
    .by_estimate = 1,
    .about_output = 1};

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
