/* An attack: its handle, violation scores and their gradient, and the ascent. */
#ifndef CR_ATTACK_ATTACK_H
#define CR_ATTACK_ATTACK_H
#include "certreg/attack.h"
#include "conditions/conditions.h"
#include "estimator/context.h"
#include "statistics/betting_bounds.h"
#include "statistics/score.h"
#include <math.h>
#include <stddef.h>

/* ---- Vectors of the host, as long as the input: summed in index order. */
/* Sets features without noise to 0. */
static inline void cr_vector_mask(double *a, const float *mask, size_t d)
{
    for (size_t j = 0; j < d; j++)
        if (!(mask[j] > 0)) a[j] = 0;
}

/* Writes its unit vector and returns 1; for a zero vector writes zeros and returns 0. */
static inline int cr_vector_normalize(const double *a, size_t d, float *direction)
{
    double max = 0, square = 0;
    for (size_t j = 0; j < d; j++) max = fmax(max, fabs(a[j]));
    for (size_t j = 0; j < d && max > 0; j++) square += (a[j] / max) * (a[j] / max);
    const double length = max > 0 ? sqrt(square) : 1, unit = max > 0 ? max : 1;
    for (size_t j = 0; j < d; j++) direction[j] = (float)(a[j] / unit / length);
    return max > 0;
}

/* ---- The handle of an attack: it reads an estimator's record, and a second estimator, the probe,
 * samples at shifted inputs. */
struct certreg_attack {
    uint64_t tag;      /* CR_HANDLE_TAG */
    cr_context target; /* the caller's estimator; its record stays as it is */
    cr_context probe;  /* our own: the same model, no pilot, and noise of its own */
    size_t max_calls;
    int32_t owns_memory;
    float *direction;     /* inputs: of the shift, in units of the scale; of length 1 */
    float *shifted_input; /* inputs: the shifted input */
    float *forward; /* outputs of the present step; the probe's record has the outputs under the
                       opposite noise */
    double *gradient_sum; /* inputs: the sum of gradients, each by its precision */
    double *half_sums;    /* 2 halves of the record * 2 functions * inputs: sums of function times
                             noise; a step uses the first `inputs` numbers */
};

/* ---- Violation scores: scores with a positive mean if the statistic is out of its tolerance, the
 * mirror of a certificate's conditions (theory 11.2). */
typedef struct cr_violation_score { /* on one side */
    int32_t side;                   /* CERTREG_SIDE_UPPER or _LOWER */
    cr_score outside; /* T is out if its mean is positive: 1 or -1 by the place of the output, or
                         the values of the statistic's score */
    cr_score guard;   /* if there is a guard, its mean has to be positive as well */
    int has_guard;    /* 1: there is a guard, since a circle was cut into a line */
    double lo, hi;    /* range of `outside` */
    double smoothing_width; /* of the slope that replaces the jump of a two-valued score in
                               gradients */
} cr_violation_score;

/* The violation score of one side, with gap and guard as the outputs of the record allow. */
cr_violation_score cr_violation_score_of(cr_view *, const cr_conditions *, int32_t side);
/* The same as `outside`, with the jump made smooth. */
double cr_violation_score_smooth(const cr_violation_score *, const float *y);
/* The score `outside` of an output. */
static inline double cr_violation_score_value(const cr_violation_score *x, const float *y)
{
    return cr_score_value(&x->outside, y);
}
/* Returns 1 if `outside` has two values, so that pairs are counted, else 0. */
static inline int cr_violation_score_is_binomial(const cr_violation_score *x)
{
    return cr_score_traits_of(x->outside.kind).two_valued;
}

/* A mean of `outside` on a scale that is about linear in the radius: its probit, or the mean itself
 * of a score that is a sine or not bounded; and the derivative of the scale. */
double cr_violation_score_link(const cr_violation_score *, double mean);
double cr_violation_score_link_derivative(const cr_violation_score *, double mean);

/* ---- The gradient of the smoothed score at the input, and the forecast of the breaking radius,
 * from the record alone (theory 11.1). */
typedef struct cr_violation_gradient { /* of one side */
    cr_violation_score score;
    double level;        /* link of the mean at the input: below 0 inside */
    double link_slope;   /* growth of the link with radius/sigma along the gradient; 0: unknown */
    double smooth_slope; /* of the smooth score: growth with radius/sigma along a given direction;
                            else the square of the length of its gradient */
    double cosine;       /* of the record's gradient and the true one; 0: unknown */
} cr_violation_gradient;

/* The radius at which the link would reach 0; NaN if its slope is unknown. */
double cr_violation_gradient_forecast(const cr_violation_gradient *, double sigma);
/* Finds the gradient on the nearer side. Writes its gradient to a->gradient_sum, unless a direction
 * is given: then a->direction is its unit vector. DEADLINE if the time is over. */
certreg_status cr_violation_gradient_find(certreg_attack *, const cr_conditions *,
                                          int direction_is_given, cr_violation_gradient *out);
/* Sums the noise of `count` samples of the target's record, from `first` on, times the weights of
 * each function in the probe's host.weights, to a->half_sums +
 * half_index*CR_REPLAY_FUNCTIONS*inputs. */
certreg_status cr_violation_gradient_replay(certreg_attack *, size_t first, size_t count,
                                            size_t functions, size_t half_index);

/* ---- One step of an attack: pairs of samples at a shifted input, under noise and its opposite. */
typedef struct cr_attack_state { /* one attack */
    certreg_attack *attack;
    const cr_conditions *conditions;
    cr_violation_gradient gradient;
    double sigma;
    double alpha;
    uint64_t seed; /* of its noise; the steps are levels of it */
    size_t budget; /* calls of the model */
    size_t calls_used;
    int direction_is_given;
    int float_grid_too_coarse;     /* 1: at the point of the last step, float is too coarse for the
                                      noise */
    int32_t step_count;            /* so far: each has noise of its own */
    cr_running_moments moments[2]; /* averages of the last step, of `outside` and of the guard:
                                      prior moments of bets */
    float *shift;  /* inputs: the shortest proved one; NULL: the caller needs none */
    double radius; /* of this shift; INFINITY: none so far */
} cr_attack_state;

/* ---- An attack as a whole: an ascent that finds direction and radius, then violation tests
 * (theory 11.3, 11.4). */
/* ---- the test that the statistic is out at a shift (theory 11.3) */
/* The smallest number of pairs that can pass a violation test at this level. */
size_t cr_violation_test_min_pairs(double alpha);

/* ---- the attack */
/* The smallest number of calls with which an attack can prove anything. */
size_t cr_ascent_min_calls(double alpha, int direction_is_given);
/* Finds the shortest shift that it can prove, and its radius. Fails as certreg_estimator_sample,
 * and keeps the results of earlier tests. */
certreg_status cr_ascent_run(cr_attack_state *);

#endif
