/* The true radius of a promise about the synthetic functions of the paper in two dimensions,
 * found without the library: the promise is broken at a shift where the mean score about an end of
 * the promised interval changes its sign (theory 1). That mean is integrated by Gauss-Legendre
 * panels cut at every kink. Slice and sandwich see the first coordinate alone; the square of the
 * norm sees the distance from the origin, whose law is Rice's. The search walks outward in steps
 * and needs no monotonicity. */
#ifndef SUPPORT_TRUE_RADIUS_H
#define SUPPORT_TRUE_RADIUS_H

enum { FUNCTIONS = 3 };
static const double sigma = 0.3, pi = 3.14159265358979323846;

typedef struct target {
    const char *name;
    double (*value)(double); /* of the first coordinate, or of the distance from the origin */
    int radial;
    double tolerance, lo, hi;
} target;

extern const target targets[FUNCTIONS];

/* The score of a location: width 0 is the sign, infinite the difference itself. Half-open ends
 * count as broken on their side. */
double score(double t, double width, int side);

/* Mean score about theta of the outputs at an input that the function sees at `at`. */
double mean_score(const target *t, double at, double theta, double width, int side);

double true_radius(const target *t, double at, double prediction, double width);

#endif
