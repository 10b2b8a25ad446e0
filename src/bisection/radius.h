/* The largest radius, on the caller's stack: what the public handle wraps and certify calls. */
#ifndef CR_BISECTION_RADIUS_H
#define CR_BISECTION_RADIUS_H
#include "base/watch.h"
#include "certreg/solver.h"
#include "solver/effort.h"

#define CR_REMEMBERED 16 /* searches of a call whose radii may be remembered */

typedef struct cr_bisection {
    double accuracy, cap;     /* relative; in units of sigma */
    uint32_t max_evaluations; /* for each function */
    cr_watch *watch;      /* asked between searches: CERTREG_E_DEADLINE once late. NULL: never */
    double *remembered;   /* NULL, or CR_REMEMBERED radii in units of sigma, which the call
                             before has left and this one replaces; 0: none */
    cr_effort effort;     /* what the call has spent, for all functions */
    uint32_t warm_starts; /* searches that began at a remembered radius */
} cr_bisection;

/* The defaults, from a cold start. */
cr_bisection cr_bisection_default(cr_watch *watch);
/* As the public functions. *out is written in any case; after a failure it claims nothing. `why`
 * may be NULL. */
certreg_status cr_bisection_within(cr_bisection *, const certreg_bounds *, uint32_t constraints,
                                   double tolerance, certreg_radius *out, certreg_error *why);
certreg_status cr_bisection_above(cr_bisection *, const certreg_bounds *, const double *threshold,
                                  size_t count, uint32_t constraints, certreg_radius *out,
                                  certreg_error *why);

#endif
