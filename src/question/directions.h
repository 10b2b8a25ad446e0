/* A vector as questions about one direction after the other (theory 7.3), so that no memory grows
 * with their number. */
#ifndef CR_QUESTION_DIRECTIONS_H
#define CR_QUESTION_DIRECTIONS_H
#include "question/question.h"
#include "statistics/score.h"

size_t cr_directions_count(const certreg_estimator *, const cr_question *);
/* How the tolerance is divided between the blocks: here.share. Their squares add up to 1. Equally,
 * or by the spread of the pilot's outputs, where there are enough of them. */
void cr_directions_share_equally(certreg_estimator *, const cr_question *);
void cr_directions_share_by_spread(certreg_estimator *, const cr_question *);
/* The most noisy samples of the pilot that are out on one side of one direction, of a median about
 * here.center. */
size_t cr_directions_misses(const certreg_estimator *, const cr_question *);
/* What is left of it for each direction of the block of output k. */
double cr_directions_tolerance(const certreg_estimator *, const cr_question *, size_t k);
/* Points a score along a direction: its tolerance, its output or outputs, and the prediction, which
 * is in here.center. Returns the first output. */
int32_t cr_directions_aim(const certreg_estimator *, const cr_question *, size_t direction,
                          cr_score *);

#endif
