/* Functions of one or two normal variables that are constant on the cells of a grid, and what is
 * true of them: in long double, each number with a bound of what rounding did to it. */
#ifndef CR_TESTS_STEPS_H
#define CR_TESTS_STEPS_H
#include "certreg/certreg.h"
#include "support/interval_arithmetic.h"

enum { STEPS_MOST = 8, STEPS_CELLS = 24 };

typedef struct steps {
    int count[2]; /* of cells along either variable; 1: it does not matter */
    /* count + 1 of either, ascending, the first -INFINITY, the last INFINITY */
    double edge[2][STEPS_MOST + 1];
    double value[STEPS_CELLS]; /* of cell i, j at i + j*count[0] */
} steps;

typedef struct steps_facts {
    double least, greatest;
    double common;    /* the value of most mass, */
    known about;      /* and the mean less it, so that what is rare loses no digits */
    known variance;   /* the error of the mean itself is that of `about` */
    known gradient;   /* ||E f e|| */
    long double mean; /* common + about */
} steps_facts;

steps_facts steps_facts_of(const steps *);
/* E f(e + shift) - E f(e). */
known steps_change(const steps *, const double shift[2]);
/* E (f - center)^2. */
known steps_moment(const steps_facts *, double center);

/* The next double that is surely below, or above. */
double steps_down(known);
double steps_up(known);

#endif
