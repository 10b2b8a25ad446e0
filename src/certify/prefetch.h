/* Requests the noise sums of several questions or directions together, so that one sweep over the
 * noise finds them all. Answers are the same without it; failures show when they are answered. */
#ifndef CR_CERTIFY_PREFETCH_H
#define CR_CERTIFY_PREFETCH_H
#include "certify/request.h"
#include "conditions/conditions.h"

/* For question `index` and the following ones, while the cache has room. Returns the index of the
 * first question that is not included. */
size_t cr_prefetch_questions(const cr_context *, const cr_request *, size_t index);
/* For a direction of a vector and the following ones. The conditions are about this direction
 * again. */
void cr_prefetch_directions(const cr_context *, cr_conditions *, size_t direction);

#endif
