/* guarantees.h: what else the finite-sample median's record guarantees: radii of served estimates,
 * and output bounds at given radii. */
#ifndef DEMO_GUARANTEES_H
#define DEMO_GUARANTEES_H
#include <certreg/question.h>

enum { SERVED = 2, BOUNDED = 2, GUARANTEES = SERVED + BOUNDED };

extern const certreg_serving serving[SERVED];
extern const double bounds_at[BOUNDED]; /* the radii of the output bounds */

/* From the record that the estimator holds; certificates of served estimates come first. */
certreg_status guarantees_certify(certreg_estimator *e, double tolerance, double alpha,
                                  certreg_certificate *out);
/* Degrees either way, from output bounds; infinite if there are none. */
double guarantees_width(const certreg_certificate *bounds);
#endif
