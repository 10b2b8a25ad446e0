/* promises.h: what else the median's record can promise: of an estimate as it is served, and where
 * the angle can go. */
#ifndef DEMO_PROMISES_H
#define DEMO_PROMISES_H
#include <certreg/certreg.h>
#include <stdio.h>

#include "results.h"

enum { SERVED = 2, REACHES = 2, PROMISES = SERVED + REACHES };

struct promises {
    size_t sigmas, images;
    double radius[MOST_SIGMAS][SERVED]; /* sums over the images */
    double width[MOST_SIGMAS][REACHES]; /* degrees; of the images that have an answer */
    size_t answers[MOST_SIGMAS][REACHES];
};

extern const double promises_at[REACHES]; /* radii of the last of them */
void promises_questions(double tolerance, double alpha, certreg_question *out); /* PROMISES of them
                                                                                 */
void promises_heading(FILE *rows);
void promises_add(struct promises *p, size_t sigma, size_t image, const certreg_certificate *c,
                  FILE *rows);
void promises_print(const struct promises *p, const struct results *r, FILE *out);
#endif
