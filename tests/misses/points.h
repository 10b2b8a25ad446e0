/* Statistics of distributions on few points, by their definitions (theory 1.1, 7, 9), without the
 * library: where every version of a statistic may lie. In doubt, which rounding may cause, the
 * answer is the one that makes a certificate look right. */
#ifndef MISSES_POINTS_H
#define MISSES_POINTS_H
#include <stdint.h>

enum { MOST_POINTS = 24, MOST_OUTPUTS = 3 };

typedef struct points {
    int count, outputs;
    double turn;                             /* 0: numbers; else angles, and one output */
    double value[MOST_POINTS][MOST_OUTPUTS]; /* NaN: failed */
    double weight[MOST_POINTS];              /* probabilities, or numbers of samples */
    /* What rounding may have changed, of a weight (0 for numbers of samples) and of a value. */
    double slack, rounding;
} points;

typedef struct statistic {
    int32_t kind;       /* CERTREG_STATISTIC_... */
    double width, trim; /* HUBER; TRIMMED_MEAN */
    /* Failed points are left out, as a server does; else they may take any values. */
    int leaves_out;
    int cut_at_center; /* an angle's line is cut opposite the prediction: baselines */
} statistic;

/* Whether some version of the statistic lies at or beyond an end of (center - low, center + high);
 * of vectors: whether its distance from the center is at least `high`. closed: beyond it only. */
typedef struct region {
    double center[MOST_OUTPUTS], low, high;
    int closed;
} region;

int points_leave(const points *p, const statistic *s, const region *r);

#endif
