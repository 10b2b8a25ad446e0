/* How the probability beta that a served estimate fails is divided among the conditions (theory 1,
 * "both sides together"). */
#ifndef CR_QUESTION_DIVISION_H
#define CR_QUESTION_DIVISION_H
#include "question/conditions.h"

typedef struct cr_division {
    double side, near;   /* parts of beta: of either side, and of either near condition */
    double either, both; /* greatest shares, at the shifted input, of outputs that count on either
                            side, and of an angle's that count on both; 0: no such conditions */
} cr_division;

enum { CR_DIVISIONS_OF_ANGLE = 2, CR_DIVISIONS_UNEVEN = 3 };

/* Both sides alike; of the line there is one. */
cr_division cr_division_even(int angle, int which);
/* From an even one: most of what the sides have is for the one with more outputs beyond the
 * tolerance. either and both are still to be found. */
cr_division cr_division_uneven(const cr_division *even, int which);
/* A part for each condition that is at least what any of them gives it: of forecasts, which must
 * not be too low, and no division at all. */
cr_division cr_division_most(int angle);

/* Radius in units of sigma if the pilot were the truth; conditions of both sides together are left
 * out. */
double cr_division_pilot_radius(cr_view *, const cr_conditions *);
/* Sets either and both such that the pilot expects them not to shorten that radius; `room` is what
 * they may be in all. Zero: there is no such choice. */
int cr_division_fits(cr_view *, const cr_conditions *, double room, cr_division *);

#endif
