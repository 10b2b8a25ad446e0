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
    static const double max_quantile = 3.4, center_density = 0.3; /* closer in the middle */
    if (samples <= CR_WEIGHTS_LEVELS) {
        for (uint64_t l = 0; l < samples; l++) above[l] = l + 1;
        return (int)samples;
    }
    for (int l = 0; l < CR_WEIGHTS_LEVELS; l++) {
        const double u = 2.0 * l / (CR_WEIGHTS_LEVELS - 1) - 1,
                     x = max_quantile * u * (center_density + (1 - center_density) * u * u * u * u);
        const uint64_t rank = (uint64_t)ceil(cr_normal_cdf(x) * (double)samples),
                       min = l ? above[l - 1] + 1 : 1,
                       max = samples - (uint64_t)(CR_WEIGHTS_LEVELS - 1 - l);
        above[l] = rank < min ? min : rank > max ? max : rank;
    }
    return CR_WEIGHTS_LEVELS;
}

/* ---- the linear program on points t */
enum { MAX_GRID_POINTS = 160, RAMP_POINTS = 32, MAX_ROUNDS = 5 };
static const double grid_band = 5, ramp_band = 6, tolerance = 1e-4;
/* The guess of the scores, which only decides between weights: residuals are standard normal, and
 * the noise moves outputs by `assumed_spread`. */
static const double assumed_spread = 0.7, max_threshold = 12;

typedef struct problem {
    const cr_weights_setting *setting;
    cr_tail_majorant majorant;
    uint64_t rank;  /* k, on which a depends */
    int grid_count; /* number of rows that do not */
    double grid[MAX_GRID_POINTS];
    cr_linear_program program;
} problem;

static void add_row(problem *p, double t)
{
    cr_linear_program *program = &p->program;
    if (program->rows == CR_PROGRAM_MAX_ROWS) return;
    float *row = program->row[program->rows];
    row[0] = 1;
    for (int l = 0; l < p->majorant.count; l++)
        row[l + 1] = (float)cr_binomial_tail_value(p->majorant.b + l, t);
    program->bound[program->rows++] = cr_binomial_tail_value(&p->majorant.a, t);
}

/* Returns the number of points of a grid, which is kept if it fits. */
static int set_grid(problem *p, double fraction)
{
    cr_tail_ramp ramps[CR_WEIGHTS_LEVELS] = {{0}};
    int count = 0;
    for (int l = 0; l < p->majorant.count; l++)
        ramps[l] = cr_tail_ramp_of(p->majorant.b + l, grid_band);
    for (double t = ramps->begin; t < INFINITY && count <= MAX_GRID_POINTS; count++) {
        if (count < MAX_GRID_POINTS) p->grid[count] = t;
        t = cr_tail_ramp_next(ramps, p->majorant.count, t, fraction);
    }
    return count;
}

static void init_problem(problem *p, const cr_weights_setting *s)
{
    uint64_t above[CR_WEIGHTS_LEVELS];
    p->setting = s;
    p->majorant.count = cr_weights_levels(s->calibration, above);
    for (int l = 0; l < p->majorant.count; l++)
        p->majorant.b[l] = cr_binomial_tail_of(s->calibration, above[l], 0);
    double fraction = 0.1;
    while ((p->grid_count = set_grid(p, fraction)) > MAX_GRID_POINTS) fraction *= 1.2;
    p->program.unknowns = p->majorant.count + 1;
    p->program.rows = 0;
    p->majorant.a = p->majorant.b[0]; /* for now */
    for (int i = 0; i < p->grid_count; i++) add_row(p, p->grid[i]);
}

static void set_rank(problem *p, uint64_t rank)
{
    const cr_weights_setting *s = p->setting;
    cr_linear_program *program = &p->program;
    p->rank = rank;
    p->majorant.a = cr_binomial_tail_of(s->samples, s->samples - rank + 1, s->shift);
    program->rows = p->grid_count;
    for (int i = 0; i < p->grid_count; i++)
        program->bound[i] = cr_binomial_tail_value(&p->majorant.a, p->grid[i]);
    const cr_tail_ramp ramp = cr_tail_ramp_of(&p->majorant.a, ramp_band);
    for (int i = 0; s->samples > s->calibration && i < RAMP_POINTS; i++)
        add_row(p, ramp.begin + (ramp.end - ramp.begin) * i / (RAMP_POINTS - 1));
    for (int i = 0; i <= p->majorant.count; i++) program->row[program->rows][i] = 1;
    program->bound[program->rows++] = 1;
}

static double total_increase(const cr_tail_majorant *m)
{
    double sum = 0;
    for (int l = 0; l < m->count; l++) sum += m->step[l];
    return sum;
}

static void solve_program(problem *p, const double *cost)
{
    double x[CR_PROGRAM_MAX_UNKNOWNS];
    cr_simplex_solve(&p->program, cost, tolerance * p->setting->alpha, x);
    p->majorant.floor = x[0];
    for (int l = 0; l < p->majorant.count; l++) p->majorant.step[l] = x[l + 1];
}

/* Makes the weights large enough. If that takes much, adds the points with too little weight to the
 * program, and returns 0. */
static int prove_majorant(problem *p)
{
    cr_violations violations;
    p->majorant.floor += 5 * tolerance * p->setting->alpha + 4e-9;
    /* 1e-6: for the rounding of sums over the points */
    const double scale = cr_majorant_scale(&p->majorant, &violations) * (1 + 1e-6);
    for (int i = 0; i < violations.count; i++) add_row(p, violations.t[i]);
    p->majorant.floor *= scale;
    for (int l = 0; l < p->majorant.count; l++) p->majorant.step[l] *= scale;
    return scale < 1.002;
}

/* ---- weights for many points: the smallest threshold of the guess */
static double increase_at(const cr_tail_majorant *m, const float *row)
{
    double sum = 0;
    for (int l = 0; l < m->count; l++) sum += m->step[l] * (double)row[l + 1];
    return sum;
}

static double assumed_cdf(double t, double q)
{
    const double x = assumed_spread * t + q;
    return x > 0 ? 1 - 2 * cr_normal_sf(x) : 0;
}

/* Returns the fraction of the points that the guess places next to t[i]. */
static double assumed_probability(const problem *p, int i, double q)
{
    const double right = i + 1 < p->grid_count ? assumed_cdf(0.5 * (p->grid[i] + p->grid[i + 1]), q)
                                               : 1,
                 left = i ? assumed_cdf(0.5 * (p->grid[i] + p->grid[i - 1]), q) : 0;
    return right - left;
}

static void solve_for_threshold(problem *p, double q)
{
    const double m = (double)p->setting->points, unit_cost = 1 / (m + 1);
    double cost[CR_PROGRAM_MAX_UNKNOWNS] = {1};
    for (int l = 1; l <= p->majorant.count; l++) cost[l] = unit_cost;
    for (int i = 0; q < max_threshold && i < p->grid_count; i++) {
        const double fraction = assumed_probability(p, i, q) * m * unit_cost;
        for (int l = 1; fraction > 0 && l <= p->majorant.count; l++)
            cost[l] += fraction * (double)p->program.row[i][l];
    }
    solve_program(p, cost);
}

/* The smallest threshold that the guess allows with the present weights. */
static double smallest_threshold(const problem *p)
{
    double above[MAX_GRID_POINTS], lo = 0, hi = max_threshold;
    const double m = (double)p->setting->points,
                 budget = (p->setting->alpha - p->majorant.floor) * (m + 1) -
                          total_increase(&p->majorant);
    if (!(budget >= 0)) return INFINITY;
    for (int i = 0; i < p->grid_count; i++)
        above[i] = m * increase_at(&p->majorant, p->program.row[i]);
    for (int iteration = 0; iteration < 20; iteration++) {
        const double q = 0.5 * (lo + hi);
        double sum = 0;
        for (int i = 0; i < p->grid_count; i++) sum += assumed_probability(p, i, q) * above[i];
        if (sum > budget) lo = q;
        else hi = q;
    }
    return hi;
}

/* Finds in turn the weights for a threshold, and the threshold for the weights. */
static double improve_weights(problem *p)
{
    double q = max_threshold;
    for (int i = 0; i < 6; i++) {
        const cr_tail_majorant previous = p->majorant;
        solve_for_threshold(p, q);
        const double found = smallest_threshold(p);
        if (i && !(found < q)) p->majorant = previous;
        if (!(found < q - 1e-3)) return fmin(found, i ? q : INFINITY);
        q = found;
    }
    return q;
}

/* Half the length of an interval by the guess. */
static double length_at_rank(problem *p, uint64_t rank)
{
    set_rank(p, rank);
    const double fraction = ((double)rank - 0.5) / (double)p->setting->samples;
    return improve_weights(p) + assumed_spread * cr_normal_quantile_sf(fraction);
}

typedef struct candidate { /* a rank, and the normal quantile of its fraction */
    double z, length;
    uint64_t rank;
} candidate;

static void try_rank(problem *p, double z, candidate *best)
{
    const double n = (double)p->setting->samples;
    const uint64_t rank = (uint64_t)fmax(1, floor(cr_normal_sf(z) * n + 0.5));
    if (rank == p->rank || rank == best->rank) return;
    const double length = length_at_rank(p, rank);
    if (length < best->length) *best = (candidate){z, length, rank};
}

/* Tries ranks around Phi(-shift), the best fraction for infinitely many samples. */
static uint64_t best_rank(problem *p)
{
    enum { RANKS_TRIED = 24, HALVINGS = 4 };
    const double to = p->setting->shift + 0.5, width = to - fmax(0, p->setting->shift - 0.5);
    candidate best = {.length = INFINITY};
    p->rank = 0;
    for (int i = 0; i <= RANKS_TRIED; i++) try_rank(p, to - width * i / RANKS_TRIED, &best);
    for (double step = 0.5 * width / RANKS_TRIED; step > width / (RANKS_TRIED << HALVINGS);
         step *= 0.5) {
        const double middle = best.z;
        try_rank(p, middle - step, &best);
        try_rank(p, middle + step, &best);
    }
    return best.rank ? best.rank : 1;
}

/* ---- the weights that need the fewest points */
/* The input to come counts as a point. */
static uint64_t points_needed(double points)
{
    static const double max_points = 1e15; /* nobody has more */
    return points < max_points ? (uint64_t)fmax(1, ceil(points) - 1) : 0;
}

static double points_of_weights(const cr_tail_majorant *m, double alpha)
{
    return total_increase(m) / fmax(alpha - m->floor, 0);
}

/* The best weights for a number of points may allow fewer points, for which other weights are best;
 * or no number, and then more points are tried. */
static void minimize_points(problem *p)
{
    double cost[CR_PROGRAM_MAX_UNKNOWNS] = {1};
    double points = 1 / p->setting->alpha, previous = INFINITY;
    for (int i = 0; i < 20; i++) {
        for (int l = 1; l <= p->majorant.count; l++) cost[l] = 1 / points;
        solve_program(p, cost);
        const double found = points_of_weights(&p->majorant, p->setting->alpha);
        if (found >= 0.999 * previous && found < INFINITY) break;
        points = found < INFINITY ? found : 8 * points;
        previous = found;
    }
}

/* Beyond this shift, where the tail of new samples is alpha, those of a calibration point are below
 * 1e-1000: no number of points is enough. From 1e15 on, sums with the shift would no longer tell
 * points of the grid apart. */
static const double longest_shift = 100;

/* Without a shift, and with samples = calibration, a truth is missed like a calibration point: the
 * two are exchangeable. */
static int is_exchangeable(const cr_weights_setting *s)
{
    return !(s->shift > 0) && s->samples == s->calibration;
}

static cr_weight_function split_conformal_weights(const cr_weights_setting *s)
{
    uint64_t above[CR_WEIGHTS_LEVELS] = {0};
    const int middle = cr_weights_levels(s->calibration, above) / 2;
    cr_weight_function w = {.sample_rank = s->samples - above[middle] + 1};
    w.step[middle] = 1;
    w.min_points = points_needed(1 / s->alpha);
    w.min_points += cr_weights_budget(&w, s->alpha, w.min_points) < 0; /* 1/alpha rounds */
    return w;
}

static cr_weight_function weights_of(const problem *p)
{
    cr_weight_function w = {.floor = p->majorant.floor, .sample_rank = p->rank};
    for (int l = 0; l < p->majorant.count; l++) w.step[l] = p->majorant.step[l];
    return w;
}

static cr_weight_function weights_of_fewest_points(problem *p)
{
    set_rank(p, 1);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        minimize_points(p);
        if (prove_majorant(p)) break;
    }
    cr_weight_function w = weights_of(p);
    w.min_points = points_needed(points_of_weights(&p->majorant, p->setting->alpha) * (1 + 1e-12));
    return w;
}

uint64_t cr_weights_min_points(const cr_weights_setting *s)
{
    problem p;
    if (s->shift > longest_shift) return 0;
    if (is_exchangeable(s)) return split_conformal_weights(s).min_points;
    init_problem(&p, s);
    return weights_of_fewest_points(&p).min_points;
}

double cr_weights_budget(const cr_weight_function *w, double alpha, uint64_t points)
{
    double increase = 0;
    for (int l = 0; l < CR_WEIGHTS_LEVELS; l++) increase += w->step[l];
    return alpha * ((double)points + 1) - (w->floor * ((double)points + 1) + increase);
}

cr_weight_function cr_weights_choose(const cr_weights_setting *s)
{
    problem p;
    if (s->shift > longest_shift) return (cr_weight_function){0};
    if (is_exchangeable(s)) {
        cr_weight_function w = split_conformal_weights(s);
        if (!w.min_points || s->points < w.min_points) w.sample_rank = 0;
        return w;
    }
    init_problem(&p, s);
    cr_weight_function fewest = weights_of_fewest_points(&p);
    if (!fewest.min_points || s->points < fewest.min_points) {
        fewest.sample_rank = 0;
        return fewest;
    }
    set_rank(&p, best_rank(&p));
    for (int round = 0; round < MAX_ROUNDS; round++) {
        improve_weights(&p);
        if (prove_majorant(&p)) break;
    }
    cr_weight_function w = weights_of(&p);
    w.min_points = fewest.min_points;
    return cr_weights_budget(&w, s->alpha, s->points) >= 0 ? w : fewest;
}
