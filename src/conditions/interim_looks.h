/* Interim looks at a record for a target radius: their schedule, and the tests of theory 6.7
 * and 6.8 at them. */
#ifndef CR_CONDITIONS_INTERIM_LOOKS_H
#define CR_CONDITIONS_INTERIM_LOOKS_H
#include "conditions/conditions.h"

/* A test aims at a radius that is longer by this part, because the search that follows rounds down.
 * Without a test, a target that is this much shorter counts as in reach. */
#define CR_TARGET_MARGIN 1e-7

/* Sets the numbers of samples, pilot included, at which the question has a look: the given ones, or
 * the default ones. */
void cr_looks_schedule(cr_view *, const cr_question *, cr_looks *out);
/* Returns the upper bound of the failure probability of a two-valued score that the
 * group-sequential test has proved so far; 1: none. */
double cr_looks_group_sequential_upper(cr_view *, const cr_conditions *, const cr_condition *);
/* The same by the mixture: its bounds hold at all numbers of samples together. */
double cr_looks_anytime_upper(cr_view *, const cr_conditions *, const cr_condition *, double alpha);
/* Returns 1 if this number of failures among this number of samples, pilot included, proves the
 * target radius for this condition, else 0; the group-sequential test only at its looks. */
int cr_looks_passed(cr_view *, const cr_conditions *, const cr_condition *, uint64_t samples,
                    uint64_t failures);
/* Returns 1 if no continuation of the record can prove the target radius, else 0; always 0 for
 * scores that do not have two values. The conditions may then be about another direction. */
int cr_looks_futile(cr_view *, cr_conditions *);

#endif
