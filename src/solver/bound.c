#include "solver/bound.h"
#include "solver/formula.h"
#include "solver/second_order.h"
#include <math.h>

static double attempt(const cr_rise *rise, double weight, cr_box *box)
{
    cr_box_search(rise, weight, CR_FINAL_GAIN, box);
    return cr_box_prove(rise, weight, box);
}

int cr_bound_find(const cr_rise *rise, double weight, int wanted, cr_box box[2], double *bound)
{
    cr_rise first = *rise, second = *rise;
    double unused;
    int tight = 0;
    first.second = INFINITY;
    *bound = fmin(cr_formula_bound(rise, weight, &unused), cr_formula_cap(rise, weight));
    if (wanted & CR_FIRST) {
        *bound = fmin(*bound, attempt(&first, weight, box));
        if (box->tight) tight |= CR_FIRST;
    }
    if (wanted & CR_SECOND) {
        box[1].count = 0;
        if (rise->r > 0) /* V does not fall as r grows (theory 2.3) */
            second.r = fmax(rise->r, CR_LEAST_SECOND_ORDER_RADIUS);
        *bound = fmin(*bound, attempt(&second, weight, box + 1));
        if (box[1].tight) tight |= CR_SECOND;
    }
    return tight;
}
