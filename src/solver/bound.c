#include "solver/bound.h"
#include "solver/closed.h"
#include "solver/second.h"
#include <math.h>

static double attempt(const cr_side *side, double weight, cr_box *box)
{
    cr_box_search(side, weight, CR_FINAL_GAIN, box);
    return cr_box_prove(side, weight, box);
}

double cr_bound_find(const cr_side *side, double weight, cr_box *box, int *tight)
{
    cr_side first = *side, second = *side;
    double unused;
    first.second = INFINITY;
    const double best = attempt(&first, weight, box);
    if (!box->tight) *tight &= ~CR_TIGHT_FIRST;
    if (!(side->second < INFINITY)) return best;
    cr_box other = {.count = 0};
    if (side->r > 0) second.r = fmax(side->r, CR_LEAST_SECOND_RADIUS); /* V does not fall as r grows (theory 2.3) */
    const double with_second = attempt(&second, weight, &other);
    if (!other.tight) *tight &= ~CR_TIGHT_SECOND;
    return fmin(best, fmin(cr_closed_bound(side, weight, &unused), with_second));
}
