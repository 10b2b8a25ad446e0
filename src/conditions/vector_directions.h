/* A vector as questions about one direction after the other (theory 7.3), so that no memory grows
 * with their number. */
#ifndef CR_CONDITIONS_VECTOR_DIRECTIONS_H
#define CR_CONDITIONS_VECTOR_DIRECTIONS_H
#include "conditions/conditions.h"
#include "statistics/score.h"

/* How the tolerance is divided between the blocks: scratch->share. Their squares add up to 1.
 * Equally, or by the spread of the pilot's outputs, where there are enough of them. */
void cr_directions_share_equally(const cr_conditions *);
void cr_directions_share_by_spread(cr_view *, const cr_conditions *);
/* The most noisy samples of the pilot that are out on one side of one direction, of a median about
 * scratch->center. */
size_t cr_directions_misses(cr_view *, const cr_conditions *);
/* What is left of it for each direction of the block of output k. */
double cr_directions_tolerance(const cr_conditions *, size_t k);
/* Points a score along a direction: its tolerance, its output or outputs, and the prediction, which
 * is in scratch->center. Returns the first output. */
int32_t cr_directions_aim(cr_view *, const cr_conditions *, size_t direction, cr_score *);

#endif
