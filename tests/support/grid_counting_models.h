/* Models that count cells of the grid: each answers 0 where its count of a row is unusual, which
 * Gaussian noise makes it in just less than half of the rows, so that T is 10. The counts are of
 * independent events whose probability is known exactly. Where the noise prefers some cells, or
 * couples features, the answer 0 becomes frequent enough to be certified. */
#ifndef SUPPORT_CELLS_H
#define SUPPORT_CELLS_H
#include <certreg/certreg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cells_group { /* features with the same center and noise */
    size_t first, count;
    float z, scale;
    double ratio, part; /* sigma*scale in cells; where z lies in its cell, from -1/2 to 1/2 */
} cells_group;

enum { CELLS_GROUPS = 6, CELLS_MOST = 64 };

typedef struct cells_statistic {
    const char *name;
    const cells_group *group;
    uint32_t (*count)(const int32_t *m, size_t features, size_t lag);
    size_t lag;
    double low, high; /* answers 0 with a count up to low, or from high on: two models */
} cells_statistic;

typedef struct cells_models { /* two outputs for each statistic */
    size_t inputs, outputs, statistics;
    float *z, *scale;
    int32_t *cell;
    cells_group group[CELLS_GROUPS];
    cells_statistic statistic[CELLS_MOST];
} cells_models;

/* `inputs`: a multiple of 4096. The noise is scale itself: sigma is 1. */
void cells_make(cells_models *, size_t inputs);
void cells_free(cells_models *);
int cells_evaluate(void *models, const certreg_batch *);

#endif
