/* What the pipeline tells a bisection besides the public interface. */
#ifndef CR_BISECTION_BISECTION_H
#define CR_BISECTION_BISECTION_H
#include "base/watch.h"
#include "certreg/certreg.h"

/* From now on it asks between conditions whether it is late, and then returns CERTREG_DEADLINE.
 * NULL: no hurry. */
void cr_bisection_hurry(certreg_bisection *, cr_watch *);

#endif
