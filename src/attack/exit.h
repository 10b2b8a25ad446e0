/* When the statistic has left its tolerance: a score whose mean says so, the mirror of a
 * certificate's conditions (theory 11.2). */
#ifndef CR_ATTACK_EXIT_H
#define CR_ATTACK_EXIT_H
#include "conditions/conditions.h"
#include "statistics/score.h"

typedef struct cr_exit { /* on one side */
    int32_t side;        /* CERTREG_SIDE_UPPER or _LOWER */
    cr_score beyond; /* T is out where its mean is positive: 1 or -1 by the place of the output, or
                        as the statistic's score has it */
    cr_score guard;  /* and where the mean of this one is */
    int guarded;     /* there is a guard: for lines made from a circle */
    double lo, hi;   /* range of `beyond` */
    double width;    /* of the slope that replaces the jump of a two-valued score, where gradients
                        are taken */
} cr_exit;

cr_exit cr_exit_of(cr_view *, const cr_conditions *, int32_t side);
/* The same as `beyond`, with the jump made smooth. */
double cr_exit_smooth(const cr_exit *, const float *y);
static inline double cr_exit_value(const cr_exit *x, const float *y)
{
    return cr_score_value(&x->beyond, y);
}
static inline int cr_exit_is_counted(const cr_exit *x)
{
    return cr_score_nature(x->beyond.kind).two_valued;
}

/* Means of `beyond` on a scale on which they are about linear in the radius: probits of what they
 * are in [-1, 1], except where the score is not bounded; and the derivative. */
double cr_exit_link(const cr_exit *, double mean);
double cr_exit_link_slope(const cr_exit *, double mean);

#endif
