#include "attack/gate.h"
#include "statistics/binomial.h"
#include <float.h>
#include <math.h>

static const double evaluation = 1 + 1e-9; /* more than the relative error of a tail */

size_t cr_gate_least(double alpha)
{
    return (size_t)ceil(log2(1 / alpha) + 1e-9);
}

/* Among pairs that agree, both out against both in: at most a fair coin where T may be inside. */
static int passes_count(const cr_hunt *h, size_t pairs, double alpha)
{
    uint64_t out = 0, in = 0;
    for (size_t i = 0; i < pairs; i++) {
        const double average = cr_step_average(h, &h->slope.exit.beyond, i);
        out += average > 0.5;
        in += average < -0.5;
    }
    return out > in && cr_binomial_cdf(in, in + out, 0.5) * evaluation <= alpha;
}

typedef struct seat { /* of a bet on averages of pairs */
    const cr_hunt *hunt;
    const cr_score *score;
} seat;

static double average_at(const void *of, size_t i)
{
    const seat *s = of;
    return cr_step_average(s->hunt, s->score, i);
}

static int passes_mean(const cr_hunt *h, const cr_score *score, double lo, double hi, size_t pairs,
                       const cr_seen *stakes, double alpha)
{
    const seat s = {h, score};
    const cr_bet bet = {
        .value = average_at, .of = &s, .lo = lo, .hi = hi, .count = pairs, .pilot = *stakes};
    return cr_betting_lower(&bet, alpha, 0) > 1e-12 * (hi - lo);
}

int cr_gate_passes(const cr_hunt *h, size_t pairs, const cr_seen stakes[2], double alpha)
{
    const cr_exit *x = &h->slope.exit;
    if (x->guarded && !passes_mean(h, &x->guard, -1, 1, pairs, stakes + 1, alpha)) return 0;
    return cr_exit_is_counted(x) ? passes_count(h, pairs, alpha)
                                 : passes_mean(h, &x->beyond, x->lo, x->hi, pairs, stakes, alpha);
}

/* Both are float, so their difference is exact in double except where one is negligible. */
double cr_gate_radius(const cr_hunt *h)
{
    const certreg_attack *a = h->attack;
    const cr_input *input = &a->target.record->input;
    const size_t d = a->target.record->model.inputs;
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        if (!(input->scale[j] > 0)) continue;
        const double shift = ((double)a->point[j] - (double)input->z[j]) / (double)input->scale[j];
        sum += shift * shift;
    }
    const double up = sqrt(sum + (double)d * DBL_MIN) * (1 + ((double)d + 8) * DBL_EPSILON);
    return sum > 0 ? up : 0;
}
