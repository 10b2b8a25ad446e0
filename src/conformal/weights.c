/* Weights for prediction intervals under attack (theory 12.3): tails, the proof that one lies
 * above another, a linear program, and the choice. */
#include "base/constants.h"
#include "conformal/conformal.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <math.h>
#include <stddef.h>

/* ======== Binomial tails as functions of the normal quantile of a probability, by the
 * incomplete beta function, and the grid on which the weights of prediction intervals are found
 * and proved (theory 12.3). */
typedef struct cr_tail_ramp { /* where a tail rises */
    double samples, shift, begin, end;
} cr_tail_ramp;

cr_binomial_tail cr_binomial_tail_of(uint64_t samples, uint64_t above, double shift)
{
    return (cr_binomial_tail){(double)above, (double)(samples - above) + 1, shift};
}

/* Return the tail at t, its density, and the mode of the density. */
static double cr_binomial_tail_value(const cr_binomial_tail *f, double t)
{
    const double x = t + f->shift;
    return cr_beta_cdf(f->above, f->rank, cr_normal_cdf(x), cr_normal_sf(x));
}

static double cr_binomial_tail_density(const cr_binomial_tail *f, double t)
{
    const double x = t + f->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x);
    if (!(p > 0 && q > 0)) return 0;
    return exp(cr_beta_log_term(f->above, f->rank, p, q)) / (p * q) * cr_normal_pdf(x);
}

/* The derivative of the density's logarithm. */
static double log_density_slope(const cr_binomial_tail *f, double t)
{
    const double x = t + f->shift, pdf = cr_normal_pdf(x);
    return (f->above - 1) * pdf / cr_normal_cdf(x) - (f->rank - 1) * pdf / cr_normal_sf(x) - x;
}

enum { TAIL_HALVINGS = 60 };

static double cr_binomial_tail_mode(const cr_binomial_tail *f)
{
    double lo = -10 - f->shift, hi = 10 - f->shift;
    for (int i = 0; i < TAIL_HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (log_density_slope(f, t) > 0) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

/* Returns the t at which the tail reaches the value, in (0, 1). */
static double cr_binomial_tail_quantile(const cr_binomial_tail *f, double value)
{
    double lo = -38 - f->shift, hi = 38 - f->shift;
    for (int i = 0; i < TAIL_HALVINGS; i++) {
        const double t = 0.5 * (lo + hi);
        if (cr_binomial_tail_value(f, t) < value) lo = t;
        else hi = t;
    }
    return 0.5 * (lo + hi);
}

/* ---- the grid */
static const double min_ramp_quantile = -8, max_ramp_quantile = 8.5; /* limits of ramps, as
                                                                        quantiles */

/* The arc sine of the root of a fraction has a standard deviation that depends on the number of
 * samples only, 1/(2 sqrt(samples)). */
static double quantile_at_angle(double angle)
{
    const double clamped = fmin(fmax(angle, 0), 0.5 * CR_PI), sine = sin(clamped),
                 cosine = cos(clamped);
    const double t = sine < cosine ? cr_normal_quantile(sine * sine)
                                   : cr_normal_quantile_sf(cosine * cosine);
    return fmin(fmax(t, min_ramp_quantile), max_ramp_quantile);
}

/* Returns the rise up to `band` standard deviations from its center. */
static cr_tail_ramp cr_tail_ramp_of(const cr_binomial_tail *f, double band)
{
    const double n = f->above + f->rank - 1, center = asin(sqrt((f->above - 0.5) / n)),
                 half = 0.5 * band / sqrt(n);
    return (cr_tail_ramp){n, f->shift, quantile_at_angle(center - half) - f->shift,
                          quantile_at_angle(center + half) - f->shift};
}

/* Returns the next point, `step_fraction` of a standard deviation from t or less; infinite after
 * the last rise. */
static double cr_tail_ramp_next(const cr_tail_ramp *ramps, int count, double t,
                                double step_fraction)
{
    double next_step = INFINITY;
    for (int i = 0; i < count; i++) {
        const cr_tail_ramp *r = ramps + i;
        if (t < r->begin) next_step = fmin(next_step, r->begin - t);
        if (t < r->begin || t >= r->end) continue;
        const double x = t + r->shift, p = cr_normal_cdf(x), q = cr_normal_sf(x),
                     deviation = sqrt(p * q / r->samples) / cr_normal_pdf(x);
        next_step = fmin(next_step, step_fraction * fmin(deviation, 0.5));
    }
    return t + next_step;
}

/* ======== Proof on cells that weights of prediction intervals are large enough (theory 12.3):
 * polygons from chords and tangents of tails are compared at their corners. A comparison of the
 * tails on a grid would prove nothing between its points. */
static const double tail_cutoff = 1e-10; /* no grid for tails nearer than this to 0 or 1 */
static const double rounding = 1e-9, band = 7, grid_fraction = 0.1, negligible_ratio = 1.0005;

typedef struct curve { /* a tail, from one point of the grid to the next */
    cr_binomial_tail f;
    double mode, step;
    struct {
        double value, density;
    } at, next;
} curve;

static void evaluate_at(curve *c, double t)
{
    c->at = c->next;
    c->next.value = cr_binomial_tail_value(&c->f, t);
    c->next.density = cr_binomial_tail_density(&c->f, t);
}

/* Bounds the distance of the chord from the tail: by the distance of the point at which the
 * tangents at the ends meet, and by the rise of the tail. */
static double chord_error(const curve *c, double width)
{
    const double rise = c->next.value - c->at.value, slope = rise / width,
                 density_change = c->next.density - c->at.density,
                 product = width * (slope - c->at.density) * (c->next.density - slope);
    return density_change != 0 ? fmin(fabs(product / density_change), fabs(rise)) : 0;
}

/* The tails with a positive weight, and a as the last. */
static int set_curves(const cr_tail_majorant *m, curve *curves, cr_tail_ramp *ramps)
{
    int count = 0;
    for (int i = 0; i < m->count; i++)
        if (m->step[i] > 0) curves[count++] = (curve){.f = m->b[i], .step = m->step[i]};
    curves[count++] = (curve){.f = m->a};
    for (int i = 0; i < count; i++) {
        curves[i].mode = cr_binomial_tail_mode(&curves[i].f);
        ramps[i] = cr_tail_ramp_of(&curves[i].f, band);
    }
    return count;
}

static double next_point(const curve *curves, const cr_tail_ramp *ramps, int count, double t,
                         double last)
{
    double next = fmin(cr_tail_ramp_next(ramps, count, t, grid_fraction), last);
    for (int i = 0; i < count; i++)
        if (t < curves[i].mode && curves[i].mode < next) next = curves[i].mode;
    return next;
}

typedef struct losses { /* loss of polygons: below the weighted tails, and above a */
    double below, above;
} losses;

static losses polygon_losses(const curve *curves, int count, double from, double to)
{
    losses c = {0, 0};
    for (int i = 0; i + 1 < count; i++)
        if (to <= curves[i].mode) c.below += curves[i].step * chord_error(curves + i, to - from);
    if (from >= curves[count - 1].mode) c.above = chord_error(curves + count - 1, to - from);
    return c;
}

/* Ratio of the needed to the present value at a corner between two cells. */
static double ratio_at(const cr_tail_majorant *m, const curve *curves, int count, losses left,
                       losses right)
{
    double present = m->floor - fmax(left.below, right.below);
    for (int i = 0; i + 1 < count; i++) present += curves[i].step * curves[i].at.value;
    const double needed = curves[count - 1].at.value + fmax(left.above, right.above) + rounding;
    return present > 0 ? needed / present : INFINITY;
}

static void record_violation(cr_violations *violations, double t, double ratio, double *worst)
{
    if (ratio <= negligible_ratio) *worst = negligible_ratio;
    if (!(ratio > *worst)) return;
    if (*worst == negligible_ratio && violations->count < CR_MAJORANT_MAX_VIOLATIONS)
        violations->count++;
    violations->t[violations->count - 1] = t;
    *worst = ratio;
}

double cr_majorant_scale(const cr_tail_majorant *m, cr_violations *violations)
{
    curve curves[CR_MAJORANT_TAILS + 1];
    cr_tail_ramp ramps[CR_MAJORANT_TAILS + 1];
    const int count = set_curves(m, curves, ramps);
    violations->count = 0;
    if (count == 1) return 1 / m->floor;
    double t = cr_binomial_tail_quantile(&m->a, tail_cutoff), worst = negligible_ratio;
    const double last = fmax(t, cr_binomial_tail_quantile(&curves[count - 2].f, 1 - tail_cutoff));
    double scale = (tail_cutoff + rounding) / m->floor;
    for (int i = 0; i < count; i++) evaluate_at(curves + i, t);
    losses left = {0, 0};
    while (t < last) {
        const double next = next_point(curves, ramps, count, t, last);
        for (int i = 0; i < count; i++) evaluate_at(curves + i, next);
        const losses right = polygon_losses(curves, count, t, next);
        const double ratio = ratio_at(m, curves, count, left, right);
        scale = fmax(scale, ratio);
        record_violation(violations, t, ratio, &worst);
        left = right;
        t = next;
    }
    for (int i = 0; i < count; i++) evaluate_at(curves + i, t);
    curves[count - 1].at.value = 1; /* right of the grid */
    return fmax(scale, ratio_at(m, curves, count, left, left));
}

/* ======== The simplex algorithm on the dual: maximise bound*y over y >= 0 subject to rows^T*y
 * <= cost, from the basis of slacks. x is the prices. The result is a proposal:
 * the choice below makes it valid by the proof above. */
enum { CR_PROGRAM_MAX_UNKNOWNS = 26, CR_PROGRAM_MAX_ROWS = 256 };
typedef struct cr_linear_program {
    int unknowns, rows;
    float row[CR_PROGRAM_MAX_ROWS][CR_PROGRAM_MAX_UNKNOWNS];
    double bound[CR_PROGRAM_MAX_ROWS];
} cr_linear_program;

enum { MAX_STEPS = 500 };

typedef struct basis {
    const cr_linear_program *program;
    int column[CR_PROGRAM_MAX_UNKNOWNS]; /* a row of the program; -1 - i: the slack of unknown i */
    double inverse[CR_PROGRAM_MAX_UNKNOWNS][CR_PROGRAM_MAX_UNKNOWNS];
    double value[CR_PROGRAM_MAX_UNKNOWNS];
} basis;

static void init_basis(basis *b, const double *cost)
{
    for (int i = 0; i < b->program->unknowns; i++) {
        for (int k = 0; k < b->program->unknowns; k++) b->inverse[i][k] = i == k;
        b->column[i] = -1 - i;
        b->value[i] = cost[i];
    }
}

static void compute_dual_prices(const basis *b, double *x)
{
    for (int k = 0; k < b->program->unknowns; k++) x[k] = 0;
    for (int i = 0; i < b->program->unknowns; i++) {
        if (b->column[i] < 0) continue;
        const double bound = b->program->bound[b->column[i]];
        for (int k = 0; k < b->program->unknowns; k++) x[k] += bound * b->inverse[i][k];
    }
}

/* Returns the most violated row, or -1 - i if x[i] is the most negative price. */
static int entering_column(const basis *b, const double *x, double tolerance)
{
    int entering = CR_PROGRAM_MAX_ROWS;
    for (int i = 0; i < b->program->unknowns; i++) {
        if (!(-x[i] > tolerance)) continue;
        tolerance = -x[i];
        entering = -1 - i;
    }
    for (int r = 0; r < b->program->rows; r++) {
        double violation = b->program->bound[r];
        for (int k = 0; k < b->program->unknowns; k++)
            violation -= (double)b->program->row[r][k] * x[k];
        if (!(violation > tolerance)) continue;
        tolerance = violation;
        entering = r;
    }
    return entering;
}

/* Sets the change of the basis by one unit of the column. Returns the row that first reaches 0,
 * or -1. */
static int ratio_test(const basis *b, int column, double *column_change)
{
    int pivot_row = -1;
    double min_ratio = INFINITY;
    for (int i = 0; i < b->program->unknowns; i++) {
        double sum = column < 0 ? b->inverse[i][-1 - column] : 0;
        for (int k = 0; column >= 0 && k < b->program->unknowns; k++)
            sum += b->inverse[i][k] * (double)b->program->row[column][k];
        column_change[i] = sum;
        if (!(sum > 1e-11 && b->value[i] / sum < min_ratio)) continue;
        min_ratio = b->value[i] / sum;
        pivot_row = i;
    }
    return pivot_row;
}

static void pivot(basis *b, int pivot_row, int column, const double *column_change)
{
    const int count = b->program->unknowns;
    b->value[pivot_row] /= column_change[pivot_row];
    for (int k = 0; k < count; k++) b->inverse[pivot_row][k] /= column_change[pivot_row];
    for (int i = 0; i < count; i++) {
        if (i == pivot_row) continue;
        for (int k = 0; k < count; k++)
            b->inverse[i][k] -= column_change[i] * b->inverse[pivot_row][k];
        b->value[i] = fmax(0, b->value[i] - column_change[i] * b->value[pivot_row]);
    }
    b->column[pivot_row] = column;
}

/* Sets x to a solution in which rows are violated by at most `tolerance`, or by more if 500 steps
 * do not suffice. Costs are > 0. */
static void cr_simplex_solve(const cr_linear_program *program, const double *cost, double tolerance,
                             double *x)
{
    basis b = {.program = program};
    double column_change[CR_PROGRAM_MAX_UNKNOWNS];
    init_basis(&b, cost);
    compute_dual_prices(&b, x);
    for (int step = 0; step < MAX_STEPS; step++) {
        const int column = entering_column(&b, x, tolerance);
        const int pivot_row = column == CR_PROGRAM_MAX_ROWS ? -1
                                                            : ratio_test(&b, column, column_change);
        if (pivot_row < 0) break;
        pivot(&b, pivot_row, column, column_change);
        compute_dual_prices(&b, x);
    }
    for (int k = 0; k < program->unknowns; k++) x[k] = fmax(0, x[k]);
}

/* ======== Chooses the weights of theory 12.3: a linear program on a grid, under a guess of the
 * scores, with the proof above. Without a shift and with equal numbers of samples
 * no program is needed: the exact weights are known from split conformal prediction. */
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
