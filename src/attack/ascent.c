/* The order of an attack: a climb that finds direction and radius, then gates, which test a shift
 * and improve the estimates for the next gate (theory 11.3, 11.4). */
#include "attack/ascent.h"
#include "attack/vector_ops.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <float.h>
#include <math.h>

/* ---- the gate */
static const double evaluation = 1 + 1e-9; /* more than the relative error of a tail */

size_t cr_violation_test_least(double alpha)
{
    return (size_t)ceil(log2(1 / alpha) + 1e-9);
}

/* If T is inside, both outputs of a pair that agrees are out with probability at most 1/2. */
static int passes_count(const cr_attack_state *h, size_t pairs, double alpha)
{
    uint64_t out = 0, in = 0;
    for (size_t i = 0; i < pairs; i++) {
        const double average = cr_ascent_step_average(h, &h->slope.exit.beyond, i);
        out += average > 0.5;
        in += average < -0.5;
    }
    return out > in && cr_binomial_cdf(in, in + out, 0.5) * evaluation <= alpha;
}

typedef struct seat { /* of a bet on averages of pairs */
    const cr_attack_state *hunt;
    const cr_score *score;
} seat;

static double average_at(const void *of, size_t i)
{
    const seat *s = of;
    return cr_ascent_step_average(s->hunt, s->score, i);
}

static int passes_mean(const cr_attack_state *h, const cr_score *score, cr_betting_problem bet,
                       double alpha)
{
    const seat s = {h, score};
    bet.value = average_at;
    bet.context = &s;
    return cr_betting_lower(&bet, alpha, 0) > 1e-12 * (bet.hi - bet.lo);
}

int cr_violation_test_passes(const cr_attack_state *h, size_t pairs,
                             const cr_running_moments stakes[2], double alpha)
{
    const cr_violation_score *x = &h->slope.exit;
    const cr_betting_problem
        guard = {.lo = -1, .hi = 1, .count = pairs, .pilot_moments = stakes[1]},
        beyond = {.lo = x->lo, .hi = x->hi, .count = pairs, .pilot_moments = stakes[0]};
    if (x->guarded && !passes_mean(h, &x->guard, guard, alpha)) return 0;
    return cr_violation_score_is_counted(x) ? passes_count(h, pairs, alpha)
                                            : passes_mean(h, &x->beyond, beyond, alpha);
}

/* Differences of two floats are exact in double unless one of them is negligible. */
double cr_violation_test_radius(const cr_attack_state *h)
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

/* Shares of pairs and of alpha. A given direction is followed only until the radius is known. */
enum { STEPS = 6, STEPS_DIRECTED = 4, GATES = 2, MORE_GATES = 3, LEAST_PAIRS = 5 };
static const double climb_share = 0.5, climb_share_directed = 0.2;
static const size_t many_pairs = 2000; /* for which one more gate pays */
static const double in_sequence = 0.9; /* of alpha: each gate up to the first failure */
/* In standard errors: margins at which a gate passes more often than not. */
static const double first_confidence = 1.4, later_confidence = 1.0, last_confidence = 2.6;
static const double farthest = 20; /* in sigma: the search ends there */
static const double memory = 0.4;  /* weight of an estimate once the direction has improved */

typedef struct course { /* estimates of the exit, from the steps so far */
    double radius;      /* at which the exit is */
    double error;       /* of this radius */
    double steepness;   /* growth of the link with radius/sigma */
    double spread;      /* error of a level at the exit, times the root of the pairs */
    double sum, weight; /* of the radii that later steps estimated */
} course;

typedef struct gate { /* a test at one shift */
    size_t pairs;
    double alpha;
    double confidence; /* margin in standard errors */
} gate;

static int steps_of(const cr_attack_state *h)
{
    return h->directed ? STEPS_DIRECTED : STEPS;
}

static size_t climb_pairs(const cr_attack_state *h)
{
    const double share = h->directed ? climb_share_directed : climb_share;
    const size_t pairs = h->budget / 2;
    return (size_t)(share * (double)pairs) / (size_t)steps_of(h);
}

size_t cr_ascent_least(double alpha, int directed)
{
    const double climb = directed ? climb_share_directed : climb_share;
    const size_t by_gate = (size_t)ceil((double)cr_violation_test_least(in_sequence * alpha) /
                                        ((1 - climb) / GATES)),
                 by_climb = (size_t)ceil(LEAST_PAIRS * (directed ? STEPS_DIRECTED : STEPS) / climb);
    return 2 * ((by_gate > by_climb ? by_gate : by_climb) + 2);
}

/* ---- the climb */
static double steepness_of(const cr_attack_state *h, const cr_ascent_step *step)
{
    const cr_violation_gradient *s = &h->slope;
    const double usual = s->steepness > 0 ? s->steepness : 0.7,
                 most = cr_violation_score_is_counted(&s->exit) ? 1 : 4 * usual;
    if (!(step->radius > 0.05 * h->sigma)) return fmin(usual, most);
    const double chord = (step->level - s->level) * h->sigma / step->radius;
    return fmin(fmax(chord, 0.25 * usual), most);
}

static void note(const cr_attack_state *h, const cr_ascent_step *step, int counts, course *c)
{
    c->steepness = steepness_of(h, step);
    c->spread = step->spread * cr_violation_score_link_slope(&h->slope.exit, 0);
    const double exit = step->radius - h->sigma * step->level / c->steepness;
    c->radius = fmin(fmax(exit, 0.5 * step->radius),
                     fmin(1.7 * step->radius + 0.2 * h->sigma, farthest * h->sigma));
    if (!counts) return;
    const double n = (double)step->pairs;
    c->sum = memory * c->sum + n * c->radius;
    c->weight = memory * c->weight + n;
    c->radius = c->sum / c->weight;
    c->error = h->sigma * c->spread / sqrt(c->weight) / c->steepness;
}

static certreg_status climb(cr_attack_state *h, course *c)
{
    const int steps = steps_of(h);
    for (int k = 0; k < steps; k++) {
        cr_ascent_step step;
        certreg_status status = cr_ascent_step_take(h, c->radius, climb_pairs(h), &step);
        if (status) return status;
        note(h, &step, 2 * k >= steps, c);
        if ((status = cr_ascent_step_learn(h, &step))) return status;
    }
    return CERTREG_OK;
}

/* ---- the gates */
/* A radius at which the gate passes with its confidence. A bet on a mean also has to make up for
 * values that are possible and rare. */
static double radius_for(const cr_attack_state *h, const course *c, gate g)
{
    const cr_violation_score *x = &h->slope.exit;
    const double n = (double)g.pairs, unit = h->sigma / c->steepness,
                 error = unit * c->spread / sqrt(n),
                 rare = cr_violation_score_is_counted(x)
                            ? 0
                            : unit * (x->hi - x->lo) * log(1 / g.alpha) / (3 * n),
                 margin = cr_normal_quantile_sf(g.alpha) * error + rare +
                          g.confidence * sqrt(error * error + c->error * c->error);
    return fmin(fmax(0, c->radius + margin), farthest * h->sigma);
}

/* Keeps the shift of a gate that passed if it is the shortest. */
static void keep(cr_attack_state *h, double at)
{
    const cr_input *input = &h->attack->target.record->input;
    const double radius = cr_violation_test_radius(h);
    if (!(radius < h->radius)) return;
    h->radius = radius;
    for (size_t j = 0; h->shift && j < h->attack->target.record->model.inputs; j++)
        h->shift[j] = (float)(at * (double)input->scale[j] * (double)h->attack->direction[j]);
}

static certreg_status try_gate(cr_attack_state *h, course *c, gate g, int *passed)
{
    cr_ascent_step step;
    const cr_running_moments stakes[2] = {h->seen[0], h->seen[1]};
    const double at = radius_for(h, c, g);
    certreg_status status = cr_ascent_step_take(h, at, g.pairs, &step);
    if (status) return status;
    *passed = cr_violation_test_passes(h, g.pairs, stakes, g.alpha);
    if (*passed) keep(h, at);
    note(h, &step, 1, c);
    return cr_ascent_step_learn(h, &step);
}

/* All gates until the first failure have the same level, since a false one passes only if the first
 * false one does (theory 11.3). If the first gate fails, a last one has the remaining alpha. */
static certreg_status gates(cr_attack_state *h, course *c)
{
    const size_t left = (h->budget - h->used) / 2, count = left < many_pairs ? GATES : MORE_GATES;
    certreg_status status = CERTREG_OK;
    int passed = 1;
    for (size_t k = 0; k < count && passed && !status; k++) {
        const gate next = {left / count, in_sequence * h->alpha,
                           k ? later_confidence : first_confidence};
        status = try_gate(h, c, next, &passed);
    }
    if (status || h->radius < INFINITY) return status;
    const gate last = {(h->budget - h->used) / 2, (1 - in_sequence) * h->alpha, last_confidence};
    return try_gate(h, c, last, &passed);
}

certreg_status cr_climb(cr_attack_state *h)
{
    const double forecast = cr_violation_gradient_forecast(&h->slope, h->sigma);
    course c = {.radius = isnan(forecast) ? h->sigma : fmin(forecast, farthest * h->sigma)};
    if (!h->directed && !cr_vector_direct(h->attack->total, h->attack->target.record->model.inputs,
                                          h->attack->direction))
        return CERTREG_OK; /* there is nowhere to go */
    const certreg_status status = climb(h, &c);
    return status ? status : gates(h, &c);
}
