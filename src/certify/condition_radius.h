/* The evaluation of a question, and the radius at which its conditions hold. No other file of this
 * room uses the solver. */
#ifndef CR_CERTIFY_CONDITION_RADIUS_H
#define CR_CERTIFY_CONDITION_RADIUS_H
#include "bounds/bounds.h"
#include "estimator/context.h"

typedef struct cr_condition_radius { /* all zero: nothing is proved */
    int32_t outcome;                 /* CERTREG_OUTCOME_... */
    int32_t limiting_side;           /* CERTREG_SIDE_... of the limiting condition */
    size_t direction;                /* of a vector, the one with this radius */
    int limiting;                    /* index of the condition that gives the radius */
    double radius;                   /* in the unit of the noise */
    uint32_t constraints;            /* that the bounds of the limiting condition have */
} cr_condition_radius;

typedef struct cr_evaluation { /* of one question */
    cr_conditions conditions;
    cr_bound bounds[CR_CONDITIONS];
    int has_bounds; /* 1: `bounds` are found, and may hold for the next question too */
    int abstained;  /* 1: some score has no bound */
    cr_condition_radius proven;
    int reported; /* 1: some question reported an answer or an estimate, maybe from main samples */
} cr_evaluation;

/* Sets the largest radius at which all conditions hold; at least `enough`, in the unit of the
 * noise, if it is longer. Nothing is proven after a failure: INFEASIBLE, DEADLINE. */
certreg_status cr_condition_radius_find(const cr_context *, const cr_evaluation *, double enough,
                                        cr_condition_radius *out);
/* Sets the range of the output's mean within a radius. */
certreg_status cr_condition_radius_range(const cr_context *, const cr_evaluation *, double radius,
                                         double *least, double *greatest);

#endif
