/* What the record says of the way out: the gradient at the input, and how far the exit may be
 * (theory 11.1). */
#ifndef CR_ATTACK_SLOPE_H
#define CR_ATTACK_SLOPE_H
#include "attack/attack.h"
#include "attack/exit.h"

typedef struct cr_slope { /* of one exit */
    cr_exit exit;
    double level;     /* link of the mean at the input: below 0 inside */
    double steepness; /* growth of the link with radius/sigma along the gradient; 0: unknown */
    double rise;      /* of the smooth score: growth with radius/sigma along a given direction; else
                         the square of the length of its gradient */
    double cosine;    /* of the record's gradient and the true one; 0: unknown */
} cr_slope;

/* Radius at which the link would reach 0; NaN where the steepness is unknown. */
double cr_slope_forecast(const cr_slope *, double sigma);
/* The slope of the nearer exit. Leaves its gradient in a->total, unless a direction is given, whose
 * unit vector is in a->direction. DEADLINE where it was given up. */
certreg_status cr_slope_find(certreg_attack *, const cr_conditions *, int directed, cr_slope *out);
/* `count` samples of the target's record, from `first` on, times their noise, for so many
 * functions: to a->halves + place*CR_REPLAY_FUNCTIONS*inputs. The weights are in the probe's
 * host.weights. */
certreg_status cr_slope_replay(certreg_attack *, size_t first, size_t count, size_t functions,
                               size_t place);

#endif
