/* One step of an attack: pairs of samples at a shifted input, under noise and its opposite. */
#ifndef CR_ATTACK_ASCENT_STEP_H
#define CR_ATTACK_ASCENT_STEP_H
#include "attack/violation_gradient.h"
#include "statistics/betting_bounds.h"

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

typedef struct cr_ascent_step {
    size_t pairs;
    double radius;         /* length of the requested shift */
    double level;          /* link of the mean of `outside` there */
    double pair_deviation; /* deviation of its averages over pairs */
} cr_ascent_step;

/* Calls the model 2*pairs times at z + radius*D*direction, and estimates the level. Outputs stay in
 * the attack's `forward` and the probe's record until the next step. Fails as
 * certreg_estimator_sample. */
certreg_status cr_ascent_step_evaluate(cr_attack_state *, double radius, size_t pairs,
                                       cr_ascent_step *out);
/* Adds the gradient at this point to the sum of gradients, unless the direction is given, and
 * renews the direction. */
certreg_status cr_ascent_step_update_direction(cr_attack_state *, const cr_ascent_step *);
/* The average of one score over pair i of the last step. */
double cr_ascent_step_average(const cr_attack_state *, const cr_score *, size_t i);

#endif
