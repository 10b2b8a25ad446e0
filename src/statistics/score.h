/* The scalar functions of outputs that are certified: one output itself, and the scores u of theory
 * 1, 7 and 9. */
#ifndef CR_STATISTICS_SCORE_H
#define CR_STATISTICS_SCORE_H
#include "base/deadline.h"
#include "statistics/direction_net.h"
#include <stdint.h>

enum cr_score_kind {
    CR_SCORE_OUTPUT = 0, /* f itself */
    CR_SCORE_LINEAR,     /* t + tolerance */
    CR_SCORE_HUBER,      /* clip((t + tolerance)/width, -1, 1) */
    CR_SCORE_SIGN,       /* 1 if t > -tolerance, else -1 */
    CR_SCORE_SINE,       /* sin(t + tolerance), angles */
    CR_SCORE_ARC,        /* 1 if -arc <= t <= branch_cut, else -1, angles */
    CR_SCORE_WITHIN,     /* 1 if |t| < tolerance, else -1 */
    CR_SCORE_BALL        /* 1 if all outputs lie within tolerance of the center, else -1 */
};

typedef struct cr_score_traits {
    int bounded;    /* a failed output still has a score, the least one */
    int two_valued; /* it is 1 or -1, so that its mean is bounded by counting */
    int sides;      /* there is one for each side of the prediction */
    int clipped;    /* it is constant but for a step or a slope */
} cr_score_traits;

cr_score_traits cr_score_traits_of(enum cr_score_kind); /* all 0 for the output itself */

/* t is side*(y - prediction), on the circle if period > 0. With a period, HUBER is -1 for |t| >=
 * branch_cut, and SIGN for t >= branch_cut: there the moving cut of the line could change the
 * branch (theory 7.2). An output that failed has the least score on both sides. Along a direction
 * the output is v.(y - center), and the prediction is 0 (theory 7.3). */
typedef struct cr_score {
    enum cr_score_kind kind;
    int32_t side; /* +1 is u_+, -1 is u_- */
    double prediction, tolerance, width, period, branch_cut, arc;
    double rounding; /* of recorded angles, at most; 0 without a period */
    double band;     /* outputs within it of out count as out (theory 15); two-valued scores only */
    double required_probability; /* ARC: the probability of 1 that keeps the circular mean near */
    const double *center;        /* BALL and directions: one number for each output; NULL: 0 */
    size_t outputs;              /* BALL and directions: their number; 0: one output */
    double unit_vector[CR_NET_MAX_BLOCK]; /* v */
} cr_score;

/* Returns the score of y: one output, or all outputs of a sample for BALL and along a direction. */
double cr_score_value(const cr_score *, const float *y);
/* Returns the score of the prediction itself. */
double cr_score_of_prediction(const cr_score *);
/* Sets the range of the score for outputs in [lo, hi]; lo and hi are of one output, or of each. */
void cr_score_range(const cr_score *, const double *lo, const double *hi, double *min_score,
                    double *max_score);
/* Returns more than rounding can change a score that is linear along a direction, for outputs in
 * [lo, hi]; 0 if the range is not finite. */
double cr_score_rounding_error(const cr_score *, const double *lo, const double *hi);

/* ---- Samples of one recorded output, or of all, seen through a score. All statistics read
 * outputs in this form. */
typedef struct cr_samples {
    const float *y; /* of sample 0; the next sample is `stride` further */
    size_t stride;
    size_t first, count; /* samples first .. first+count-1 */
    const cr_score *score;
    double center;         /* subtracted from every score */
    cr_deadline *deadline; /* NULL: no deadline */
} cr_samples;

/* Returns score i about the center, 0 <= i < count. */
static inline double cr_samples_at(const cr_samples *s, size_t i)
{
    return cr_score_value(s->score, s->y + (s->first + i) * s->stride) - s->center;
}

/* Returns 1 if there is a sample i and the deadline has not passed. Every pass begins with
 * for (size_t i = 0; cr_samples_has(s, i); i++). */
static inline int cr_samples_has(const cr_samples *s, size_t i)
{
    return i < s->count && !cr_deadline_ends(s->deadline, i);
}

/* Returns the number of negative scores; the center is not used. */
uint64_t cr_samples_count_negative(const cr_samples *);

#endif
