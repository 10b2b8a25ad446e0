/* From the bounds of a question's conditions to a radius: all that this room needs of the solver.
 */
#ifndef CR_CERTIFY_CONDITION_RADIUS_H
#define CR_CERTIFY_CONDITION_RADIUS_H
#include "bounds/bounds.h"
#include "estimator/context.h"

typedef struct cr_condition_radius { /* all zero: nothing is proven */
    int32_t outcome;
    int32_t limiting_side;
    size_t direction;
    int limiting; /* index of the condition */
    double radius;
    uint32_t constraints; /* of its bounds */
} cr_condition_radius;

typedef struct cr_evaluation { /* of one question. Questions that differ in constraints or tolerance
                                  may share the bounds of the one before. */
    cr_conditions conditions;
    cr_bound bounds[CR_CONDITIONS];
    int known, abstained;
    cr_condition_radius proven;
    int told; /* some question reported an answer or an estimate, maybe from main samples */
} cr_evaluation;

/* The largest radius at which all conditions hold; at least `enough` if it is longer. INFEASIBLE;
 * DEADLINE. */
certreg_status cr_condition_radius_find(const cr_context *, const cr_evaluation *, double enough,
                                        cr_condition_radius *out);
/* The range of the output's mean within a radius. */
certreg_status cr_condition_radius_range(const cr_context *, const cr_evaluation *, double radius,
                                         double *least, double *greatest);

#endif
