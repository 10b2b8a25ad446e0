/* The gradient of the smoothed score at the input, and the forecast of the breaking radius, from
 * the record alone (theory 11.1). */
#ifndef CR_ATTACK_VIOLATION_GRADIENT_H
#define CR_ATTACK_VIOLATION_GRADIENT_H
#include "attack/attack.h"
#include "attack/violation_score.h"

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

#endif
