/* certreg_bisection_... within a call that has the handle already. */
#ifndef CR_BISECTION_BISECTION_H
#define CR_BISECTION_BISECTION_H
#include "base/busy.h"
#include "base/watch.h"
#include "solver/effort.h"

/* cr_busy_enter and cr_busy_leave of the handle. */
certreg_status cr_bisection_enter(certreg_bisection *);
certreg_status cr_bisection_leave(certreg_bisection *, certreg_status);
/* What the last call reported, for whoever runs the one that has the handle. */
const certreg_error *cr_bisection_error(const certreg_bisection *);
/* As the public ones; *out is written where its size is valid. */
certreg_status cr_bisection_within(certreg_bisection *, const certreg_bounds *,
                                   uint32_t constraints, double tolerance, certreg_radius *out);
certreg_status cr_bisection_above(certreg_bisection *, const certreg_bounds *,
                                  const double *threshold, size_t count, uint32_t constraints,
                                  certreg_radius *out);
/* What the last call has spent. */
const cr_effort *cr_bisection_effort(const certreg_bisection *);
/* From now on it asks between conditions whether it is late, and then returns CERTREG_E_DEADLINE.
 * NULL: no hurry. */
void cr_bisection_hurry(certreg_bisection *, cr_watch *);

#endif
