/* guarantees.h: what else the median's record guarantees: radii of served estimates, and output
 * bounds at given radii. */
#ifndef DEMO_GUARANTEES_H
#define DEMO_GUARANTEES_H
#include <certreg/certreg.h>
#include <stdio.h>

#include "results.h"

enum { SERVED = 2, BOUNDED = 2, GUARANTEES = SERVED + BOUNDED };

struct guarantees {
    size_t sigmas, images;
    double radius[MOST_SIGMAS][SERVED]; /* sums over the images */
    double width[MOST_SIGMAS][BOUNDED]; /* degrees; sums over the images with output bounds */
    size_t known[MOST_SIGMAS][BOUNDED];
};

extern const double bounds_at[BOUNDED]; /* the radii of the output bounds */
/* Writes GUARANTEES questions. */
void guarantees_questions(double tolerance, double alpha, certreg_question *out);
void guarantees_heading(FILE *rows);
void guarantees_add(struct guarantees *g, size_t sigma, size_t image, const certreg_certificate *c,
                    FILE *rows);
void guarantees_print(const struct guarantees *g, const struct results *r, FILE *out);
#endif
