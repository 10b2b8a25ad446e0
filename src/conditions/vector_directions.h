/* The directions of a vector: it is certified as a number along each in turn (theory 7.3), so that
 * memory does not grow with the number of directions. */
#ifndef CR_CONDITIONS_VECTOR_DIRECTIONS_H
#define CR_CONDITIONS_VECTOR_DIRECTIONS_H
#include "conditions/conditions.h"
#include "statistics/score.h"

/* Set scratch->block_fractions, the fraction of the tolerance for each block of outputs, with
 * squares that add up to 1: equally; or by the spread of the pilot's outputs, if it is complete and
 * has enough of them. */
void cr_directions_share_equally(const cr_conditions *);
void cr_directions_share_by_spread(cr_view *, const cr_conditions *);
/* Returns the number of noisy samples of the pilot that are out, on one side of one direction at
 * most, of a median about scratch->vector_prediction. */
size_t cr_directions_misses(cr_view *, const cr_conditions *);
/* Returns the tolerance of each direction of the block that has output k. */
double cr_directions_tolerance(const cr_conditions *, size_t k);
/* Sets tolerance, outputs, prediction and center of a score along a direction, from the shares and
 * scratch->vector_prediction. Returns the first output. */
int32_t cr_directions_project_score(cr_view *, const cr_conditions *, size_t direction, cr_score *);

#endif
