/* From the bounds of an answer to a radius or a range: all that this room needs of the solver. */
#ifndef CR_CERTIFY_SOLVE_H
#define CR_CERTIFY_SOLVE_H
#include "estimator/work.h"
#include "question/conditions.h"

typedef struct cr_answer { /* what the question before came down to: questions that differ in
                              constraints or tolerance may share it */
    cr_conditions conditions;
    certreg_bounds bounds[CR_CONDITIONS];
    int known, abstained;
    int told; /* some question reported an answer or an estimate, maybe from main samples */
} cr_answer;

typedef struct cr_solved { /* all zero: nothing is proven */
    int32_t outcome;
    int32_t limiting_side;
    size_t direction;
    int limiting; /* index of the condition */
    double radius;
    uint32_t constraints; /* of its bounds */
} cr_solved;

/* The largest radius at which all conditions hold, or where that is longer, at least `most`.
 * INFEASIBLE; DEADLINE. */
certreg_status cr_solve_radius(const cr_work *, const cr_answer *, double most, cr_solved *out);
/* The least radius of all directions (theory 7.3), of which the bounds of the present one are
 * found. Where one leaves none, the others are not bounded any more. */
certreg_status cr_solve_directions(const cr_work *, cr_answer *, cr_solved *out);
/* One sweep serves this direction and those after it, as far as there is room. The conditions are
 * about this direction again. */
void cr_solve_look_ahead(const cr_work *, cr_conditions *, size_t direction);
/* Where the mean of the output may be within a radius. */
certreg_status cr_solve_mean(const cr_work *, const cr_answer *, double radius, double *least,
                             double *greatest);

#endif
