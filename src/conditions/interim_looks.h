/* When the record is examined for a target radius, and the tests of theory 6 at those looks. */
#ifndef CR_CONDITIONS_INTERIM_LOOKS_H
#define CR_CONDITIONS_INTERIM_LOOKS_H
#include "conditions/conditions.h"

/* The radius that a passed test proves goes through a search that rounds down; the margin keeps it
 * from falling short of the target. Without a test, what may just be in reach is not given up. */
#define CR_TARGET_MARGIN 1e-7

void cr_looks_make(cr_view *, const cr_question *, cr_looks *out);
/* Upper bound of the failure probability of a two-valued score that the group-sequential test has
 * proven so far; 1: none. */
double cr_looks_upper(cr_view *, const cr_conditions *, const cr_condition *);
/* The same by the mixture, at every number of samples. */
double cr_looks_anytime(cr_view *, const cr_conditions *, const cr_condition *, double alpha);
/* Whether this number of failures among this number of samples, pilot included, proves the target
 * radius for this condition; the group-sequential test has it at its looks only. */
int cr_looks_passed(cr_view *, const cr_conditions *, const cr_condition *, uint64_t samples,
                    uint64_t failures);
/* No continuation of the record can prove the target radius; known of two-valued scores only. */
int cr_looks_hopeless(cr_view *, cr_conditions *);

#endif
