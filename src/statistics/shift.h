/* What a shift of normal noise can do to a probability, or to a mean (theory 2.1): radii are in
 * units of sigma. Whoever adds another law of noise begins here. */
#ifndef CR_STATISTICS_SHIFT_H
#define CR_STATISTICS_SHIFT_H

/* An event has probability p without the shift. Its level is Phi^-1(p), which a shift of length r
 * changes by r at most (Neyman and Pearson); the slope is that of p as a function of the level. */
double cr_shift_level(double p);
double cr_shift_slope(double p);
/* The least probability after the shift, rounded down, also where r was rounded to a neighbour. */
double cr_shift_least(double p, double r);
/* The longest shift, of at most `most`, after which an event of probability at most `from` is rarer
 * than `to`, rounded down; 0: there is none. */
double cr_shift_within(double from, double to, double most);

/* Where no bound rests on it, nothing is rounded outward: the shortest shift that can raise a
 * probability (negative if it falls), and the shortest that can take so much off the mean of a
 * function without a range. */
double cr_shift_radius(double from, double to);
double cr_shift_radius_of_mean(double drop, double variance);

#endif
