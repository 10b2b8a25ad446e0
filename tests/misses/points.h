/* Statistics of distributions on few points, by the definitions (theory 1.1, 7, 9) that belong to
 * the scores and levels of their rows, without estimates of the library: where every version may
 * lie. In doubt, which rounding may cause, the answer is the one that makes a certificate look
 * right. */
#ifndef MISSES_POINTS_H
#define MISSES_POINTS_H
#include "question/question.h"

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
    const cr_statistic *row;
    double width, trim; /* if it has them */
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
