/* Chooses the weights of theory 12.3: a linear program on a grid, under a guess of the scores, with
 * the proof of tail_majorant.c. Without a shift and with equal numbers of samples no program is
 * needed: the exact weights are known from split conformal prediction. */
#include "conformal/weight_function.h"
#include "conformal/binomial_tail.h"
#include "statistics/normal.h"
#include "conformal/simplex.h"
#include <math.h>
#include <stddef.h>

/* ---- levels */
int cr_weights_levels(uint64_t samples, uint64_t above[CR_WEIGHTS_LEVELS])
{
    static const double farthest = 3.4, dense = 0.3; /* quantiles; closer in the middle */
    if (samples <= CR_WEIGHTS_LEVELS) {
        for (uint64_t l = 0; l < samples; l++) above[l] = l + 1;
        return (int)samples;
    }
    for (int l = 0; l < CR_WEIGHTS_LEVELS; l++) {
        const double u = 2.0 * l / (CR_WEIGHTS_LEVELS - 1) - 1,
                     x = farthest * u * (dense + (1 - dense) * u * u * u * u);
        const uint64_t rank = (uint64_t)ceil(cr_normal_cdf(x) * (double)samples),
                       least = l ? above[l - 1] + 1 : 1,
                       most = samples - (uint64_t)(CR_WEIGHTS_LEVELS - 1 - l);
        above[l] = rank < least ? least : rank > most ? most : rank;
    }
    return CR_WEIGHTS_LEVELS;
}

/* ---- the linear program on points t */
enum { FIXED = 160, NARROW = 32, ROUNDS = 5 };
static const double lp_band = 5, lp_narrow = 6, tolerance = 1e-4;
/* The guess of the scores, which only decides between weights: residuals are standard normal, and
 * the noise moves outputs by `spread`. */
static const double spread = 0.7, farthest = 12;

typedef struct problem {
    const cr_weights_setting *s;
    cr_tail_majorant m;
    uint64_t sample; /* k, on which a depends */
    int fixed;       /* number of rows that do not */
    double t[FIXED];
    cr_linear_program program;
} problem;

static void add_row(problem *p, double t)
{
    cr_linear_program *program = &p->program;
    if (program->rows == CR_PROGRAM_ROWS) return;
    float *row = program->row[program->rows];
    row[0] = 1;
    for (int l = 0; l < p->m.count; l++) row[l + 1] = (float)cr_binomial_tail_value(p->m.b + l, t);
    program->least[program->rows++] = cr_binomial_tail_value(&p->m.a, t);
}

/* Returns the number of points of a grid, which is kept if it fits. */
static int grid_of(problem *p, double share)
{
    cr_tail_ramp rises[CR_WEIGHTS_LEVELS] = {{0}};
    int count = 0;
    for (int l = 0; l < p->m.count; l++) rises[l] = cr_tail_rise(p->m.b + l, lp_band);
    for (double t = rises->begin; t < INFINITY && count <= FIXED; count++) {
        if (count < FIXED) p->t[count] = t;
        t = cr_tail_next(rises, p->m.count, t, share);
    }
    return count;
}

static void begin(problem *p, const cr_weights_setting *s)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    p->s = s;
    p->m.count = cr_weights_levels(s->calibration, above);
    for (int l = 0; l < p->m.count; l++)
        p->m.b[l] = cr_binomial_tail_of(s->calibration, above[l], 0);
    double share = 0.1;
    while ((p->fixed = grid_of(p, share)) > FIXED) share *= 1.2;
    p->program.unknowns = p->m.count + 1;
    p->program.rows = 0;
    p->m.a = p->m.b[0]; /* for now */
    for (int i = 0; i < p->fixed; i++) add_row(p, p->t[i]);
}

static void take_sample(problem *p, uint64_t sample)
{
    const cr_weights_setting *s = p->s;
    cr_linear_program *program = &p->program;
    p->sample = sample;
    p->m.a = cr_binomial_tail_of(s->samples, s->samples - sample + 1, s->shift);
    program->rows = p->fixed;
    for (int i = 0; i < p->fixed; i++) program->least[i] = cr_binomial_tail_value(&p->m.a, p->t[i]);
    const cr_tail_ramp rise = cr_tail_rise(&p->m.a, lp_narrow);
    for (int i = 0; s->samples > s->calibration && i < NARROW; i++)
        add_row(p, rise.begin + (rise.end - rise.begin) * i / (NARROW - 1));
    for (int i = 0; i <= p->m.count; i++) program->row[program->rows][i] = 1;
    program->least[program->rows++] = 1;
}

static double rise_of(const cr_tail_majorant *m)
{
    double sum = 0;
    for (int l = 0; l < m->count; l++) sum += m->step[l];
    return sum;
}

static void solve(problem *p, const double *cost)
{
    double x[CR_PROGRAM_MOST];
    cr_simplex_solve(&p->program, cost, tolerance * p->s->alpha, x);
    p->m.floor = x[0];
    for (int l = 0; l < p->m.count; l++) p->m.step[l] = x[l + 1];
}

/* Makes the weights large enough. If that takes much, adds the points with too little weight to the
 * program, and returns 0. */
static int prove(problem *p)
{
    cr_violations lacks;
    p->m.floor += 5 * tolerance * p->s->alpha + 4e-9;
    /* 1e-6: for the rounding of sums over the points */
    const double scale = cr_majorant_scale(&p->m, &lacks) * (1 + 1e-6);
    for (int i = 0; i < lacks.count; i++) add_row(p, lacks.t[i]);
    p->m.floor *= scale;
    for (int l = 0; l < p->m.count; l++) p->m.step[l] *= scale;
    return scale < 1.002;
}

/* ---- weights for many points: the least threshold of the guess */
static double above_at(const cr_tail_majorant *m, const float *row)
{
    double sum = 0;
    for (int l = 0; l < m->count; l++) sum += m->step[l] * (double)row[l + 1];
    return sum;
}

static double guessed(double t, double q)
{
    const double x = spread * t + q;
    return x > 0 ? 1 - 2 * cr_normal_sf(x) : 0;
}

/* Returns the fraction of the points that the guess places next to t[i]. */
static double share_of(const problem *p, int i, double q)
{
    const double right = i + 1 < p->fixed ? guessed(0.5 * (p->t[i] + p->t[i + 1]), q) : 1,
                 left = i ? guessed(0.5 * (p->t[i] + p->t[i - 1]), q) : 0;
    return right - left;
}

static void solve_for(problem *p, double q)
{
    const double m = (double)p->s->points, rest = 1 / (m + 1);
    double cost[CR_PROGRAM_MOST] = {1};
    for (int l = 1; l <= p->m.count; l++) cost[l] = rest;
    for (int i = 0; q < farthest && i < p->fixed; i++) {
        const double share = share_of(p, i, q) * m * rest;
        for (int l = 1; share > 0 && l <= p->m.count; l++)
            cost[l] += share * (double)p->program.row[i][l];
    }
    solve(p, cost);
}

/* The least threshold that the guess allows with the present weights. */
static double threshold_of(const problem *p)
{
    double above[FIXED], lo = 0, hi = farthest;
    const double m = (double)p->s->points,
                 allowed = (p->s->alpha - p->m.floor) * (m + 1) - rise_of(&p->m);
    if (!(allowed >= 0)) return INFINITY;
    for (int i = 0; i < p->fixed; i++) above[i] = m * above_at(&p->m, p->program.row[i]);
    for (int halving = 0; halving < 20; halving++) {
        const double q = 0.5 * (lo + hi);
        double sum = 0;
        for (int i = 0; i < p->fixed; i++) sum += share_of(p, i, q) * above[i];
        if (sum > allowed) lo = q;
        else hi = q;
    }
    return hi;
}

/* Finds in turn the weights for a threshold, and the threshold for the weights. */
static double improve(problem *p)
{
    double q = farthest;
    for (int i = 0; i < 6; i++) {
        const cr_tail_majorant before = p->m;
        solve_for(p, q);
        const double found = threshold_of(p);
        if (i && !(found < q)) p->m = before;
        if (!(found < q - 1e-3)) return fmin(found, i ? q : INFINITY);
        q = found;
    }
    return q;
}

/* Half the length of an interval by the guess. */
static double length_with(problem *p, uint64_t sample)
{
    take_sample(p, sample);
    const double share = ((double)sample - 0.5) / (double)p->s->samples;
    return improve(p) + spread * cr_normal_quantile_sf(share);
}

typedef struct tried { /* a rank, and the normal quantile of its fraction */
    double z, length;
    uint64_t sample;
} tried;

static void try_at(problem *p, double z, tried *best)
{
    const double n = (double)p->s->samples;
    const uint64_t sample = (uint64_t)fmax(1, floor(cr_normal_sf(z) * n + 0.5));
    if (sample == p->sample || sample == best->sample) return;
    const double length = length_with(p, sample);
    if (length < best->length) *best = (tried){z, length, sample};
}

/* Tries ranks around Phi(-shift), the best fraction for infinitely many samples. */
static uint64_t shortest(problem *p)
{
    enum { TRIED = 24, HALVINGS = 4 };
    const double to = p->s->shift + 0.5, run = to - fmax(0, p->s->shift - 0.5);
    tried best = {.length = INFINITY};
    p->sample = 0;
    for (int i = 0; i <= TRIED; i++) try_at(p, to - run * i / TRIED, &best);
    for (double step = 0.5 * run / TRIED; step > run / (TRIED << HALVINGS); step *= 0.5) {
        const double middle = best.z;
        try_at(p, middle - step, &best);
        try_at(p, middle + step, &best);
    }
    return best.sample ? best.sample : 1;
}

/* ---- the weights that need the fewest points */
/* The input to come counts as a point. */
static uint64_t least_of(double points)
{
    static const double most_points = 1e15; /* nobody has more */
    return points < most_points ? (uint64_t)fmax(1, ceil(points) - 1) : 0;
}

static double points_for(const cr_tail_majorant *m, double alpha)
{
    return rise_of(m) / fmax(alpha - m->floor, 0);
}

/* The best weights for a number of points may allow fewer points, for which other weights are best;
 * or no number, and then more points are tried. */
static void solve_for_few(problem *p)
{
    double cost[CR_PROGRAM_MOST] = {1};
    double points = 1 / p->s->alpha, before = INFINITY;
    for (int i = 0; i < 20; i++) {
        for (int l = 1; l <= p->m.count; l++) cost[l] = 1 / points;
        solve(p, cost);
        const double found = points_for(&p->m, p->s->alpha);
        if (found >= 0.999 * before && found < INFINITY) break;
        points = found < INFINITY ? found : 8 * points;
        before = found;
    }
}

/* Without a shift, and with samples = calibration, a truth is missed like a calibration point: the
 * two are exchangeable. */
static int is_split(const cr_weights_setting *s)
{
    return !(s->shift > 0) && s->samples == s->calibration;
}

static cr_weight_function split(const cr_weights_setting *s)
{
    uint64_t above[CR_WEIGHTS_LEVELS] = {0};
    const int middle = cr_weights_levels(s->calibration, above) / 2;
    cr_weight_function w = {.sample = s->samples - above[middle] + 1};
    w.step[middle] = 1;
    w.least_points = least_of(1 / s->alpha);
    w.least_points += cr_weights_budget(&w, s->alpha, w.least_points) < 0; /* 1/alpha rounds */
    return w;
}

static cr_weight_function weights_of(const problem *p)
{
    cr_weight_function w = {.floor = p->m.floor, .sample = p->sample};
    for (int l = 0; l < p->m.count; l++) w.step[l] = p->m.step[l];
    return w;
}

static cr_weight_function for_few(problem *p)
{
    take_sample(p, 1);
    for (int round = 0; round < ROUNDS; round++) {
        solve_for_few(p);
        if (prove(p)) break;
    }
    cr_weight_function w = weights_of(p);
    w.least_points = least_of(points_for(&p->m, p->s->alpha) * (1 + 1e-12));
    return w;
}

uint64_t cr_weights_least_points(const cr_weights_setting *s)
{
    problem p;
    if (is_split(s)) return split(s).least_points;
    begin(&p, s);
    return for_few(&p).least_points;
}

double cr_weights_budget(const cr_weight_function *w, double alpha, uint64_t points)
{
    double rise = 0;
    for (int l = 0; l < CR_WEIGHTS_LEVELS; l++) rise += w->step[l];
    return alpha * ((double)points + 1) - (w->floor * ((double)points + 1) + rise);
}

cr_weight_function cr_weights_choose(const cr_weights_setting *s)
{
    problem p;
    if (is_split(s)) {
        cr_weight_function w = split(s);
        if (!w.least_points || s->points < w.least_points) w.sample = 0;
        return w;
    }
    begin(&p, s);
    cr_weight_function few = for_few(&p);
    if (!few.least_points || s->points < few.least_points) {
        few.sample = 0;
        return few;
    }
    take_sample(&p, shortest(&p));
    for (int round = 0; round < ROUNDS; round++) {
        improve(&p);
        if (prove(&p)) break;
    }
    cr_weight_function w = weights_of(&p);
    w.least_points = few.least_points;
    return cr_weights_budget(&w, s->alpha, s->points) >= 0 ? w : few;
}
