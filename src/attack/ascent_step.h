/* One step of an attack: pairs of samples at a shifted input, under noise and its opposite. */
#ifndef CR_ATTACK_ASCENT_STEP_H
#define CR_ATTACK_ASCENT_STEP_H
#include "attack/violation_gradient.h"
#include "statistics/betting_bounds.h"

typedef struct cr_attack_state { /* one attack */
    certreg_attack *attack;
    const cr_conditions *conditions;
    cr_violation_gradient slope;
    double sigma;
    double alpha;
    uint64_t seed; /* of its noise; the steps are levels of it */
    size_t budget; /* calls of the model */
    size_t used;
    int directed;   /* the direction is given */
    int floats_end; /* 1: at the point of the last step, float is too coarse for the noise */
    int32_t steps;  /* so far: each has noise of its own */
    cr_running_moments seen[2]; /* averages of the last step, of `beyond` and of the guard: for
                                   stakes */
    float *shift;               /* inputs: the shortest proved one; NULL: the caller needs none */
    double radius;              /* of this shift; INFINITY: none so far */
} cr_attack_state;

typedef struct cr_ascent_step {
    size_t pairs;
    double radius; /* length of the requested shift */
    double level;  /* link of the mean of `beyond` there */
    double spread; /* deviation of its averages over pairs */
} cr_ascent_step;

/* Calls the model 2*pairs times at z + radius*D*direction, and judges. Outputs stay in the attack's
 * `forward` and the probe's record until the next step. Fails as certreg_estimator_sample. */
certreg_status cr_ascent_step_take(cr_attack_state *, double radius, size_t pairs,
                                   cr_ascent_step *out);
/* Adds the gradient at this point to the sum of gradients, unless the direction is given, and
 * renews the direction. */
certreg_status cr_ascent_step_learn(cr_attack_state *, const cr_ascent_step *);
/* The average of one score over pair i of the last step. */
double cr_ascent_step_average(const cr_attack_state *, const cr_score *, size_t i);

#endif
