/* Whether what a certificate says is true of a law. A miss is found at a shift where the promise is
 * broken by the definition of its statistic; shifts in between are not searched, so that a miss can
 * be overlooked, and a certificate that holds is never called one. */
#ifndef MISSES_PROMISE_H
#define MISSES_PROMISE_H
#include "misses/setting.h"

/* What was said about one question: [ends] about a prediction within a radius. */
typedef struct claim {
    double radius; /* nothing is said beyond it */
    double center[MOST_OUTPUTS], low, high;
    int64_t closed;
} claim;

int promise_is_broken(const setting *s, const part *p, const law *l, double sigma,
                      const claim *said);
/* The same for several questions that are served together: is any of them broken? */
int promise_is_broken_together(const setting *s, const law *l, double sigma, const claim *said);

/* The least radius at which it is broken, about the given center; infinite if none was found. */
double promise_true_radius(const setting *s, const law *l, double sigma, const claim *said);

#endif
