/* The scalar functions of one output that are certified: the output itself, and the scores u of
 * theory 1 and 7. */
#ifndef CR_STATISTICS_SCORE_H
#define CR_STATISTICS_SCORE_H
#include <stdint.h>

enum {
    CR_SCORE_OUTPUT = 0, /* f itself */
    CR_SCORE_LINEAR,     /* t + tolerance */
    CR_SCORE_HUBER,      /* clip((t + tolerance)/width, -1, 1) */
    CR_SCORE_SIGN,       /* 1 where t > -tolerance, else -1 */
    CR_SCORE_SINE,       /* sin(t + tolerance), angles */
    CR_SCORE_ARC         /* 1 where -arc <= t <= cut, else -1, angles */
};

/* t is side*(y - prediction), on the circle where period > 0. With a period, HUBER is -1 wherever
 * |t| >= cut and SIGN wherever t >= cut: there the moving cut of the line could change the branch
 * (theory 7). An output that failed has the least score on both sides. */
typedef struct cr_score {
    int32_t kind, side; /* side +1 is u_+, -1 is u_- */
    double prediction, tolerance, width, period, cut, arc;
    double needed; /* ARC: the share of 1 that keeps the circular mean near */
} cr_score;

double cr_score_value(const cr_score *, float y);
/* Range of the score for outputs in [lo, hi]. */
void cr_score_range(const cr_score *, double lo, double hi, double *least, double *greatest);
/* Whether a failed output still has a score, the least one. */
int cr_score_is_bounded(const cr_score *);

#endif
