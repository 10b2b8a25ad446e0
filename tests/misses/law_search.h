/* The search for the law that a setting misses most often, and what fresh runs say of it.
 *
 * Runs that selected a law say nothing about it: those of the p-value have seeds of their own.
 * Where it is below .001, runs with seeds of their own, ten times as many, have to say the same at
 * 1e-8. A setting that keeps its promise fails with probability at most 1e-3*1e-8, so that up to
 * 1e5 settings give a false alarm with probability at most 1e-6. */
#ifndef MISSES_CLIMB_H
#define MISSES_CLIMB_H
#include "misses/evidence.h"
#include "misses/trial.h"

static const double climb_suspicious = 1e-3, climb_confirmed = 1e-8;

typedef struct finding {
    law law;
    evidence fresh;
    double p_value, confirmed; /* of the fresh runs; of those that confirm, 1 if there are none */
    uint64_t certificates;
    double silent; /* part of the fresh runs in which nothing was claimed; exact: 1 if no count
                      claims anything */
    int excess;
} finding;

void climb(const setting *s, finding *out);

/* The same where counts decide: the probability of a miss is a sum, and no run is made. */
void exact_search(const setting *s, finding *out);

#endif
