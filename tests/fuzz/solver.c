/* The solver on functions that are known: its bound covers what they do, within the evaluations of
 * the header. Any multipliers give a bound, so most inputs are asked of a search that ends after a
 * few evaluations. One in THOROUGH is asked of a usual one, and holds one more fact, of how answers
 * to two questions compare. */
#include "fuzz/fuzz.h"
#include "solver/solver.h"
#include "support/function_moments.h"
#include "support/step_functions.h"
#include <certreg/worst_function.h>

const size_t fuzz_most_bytes = 256;

/* ---- a function that is known, bounds that are true of it, and a shift, from bytes */
enum { SETS = 31 }; /* of constraints: their numbers are 1 to SETS */

typedef struct problem {
    steps f;
    steps_facts facts;
    certreg_bounds bounds;
    double r, shift[2]; /* ||shift|| <= r, in units of sigma */
    double radius;      /* sigma*r, rounded up */
    double deviation;
} problem;

/* ---- the function: edges on a grid, next to each other, or anywhere in the tails */
static void fuzz_edges(fuzz_bytes *b, int count, double *edge)
{
    edge[0] = -INFINITY, edge[count] = INFINITY;
    for (int i = 1; i < count; i++) {
        const uint8_t kind = fuzz_byte(b);
        const double at = kind < 96    ? (fuzz_byte(b) - 127.5) / 32
                          : kind < 160 ? (fuzz_byte(b) - 127.5) / 13.5
                          : kind < 208 ? 9.5 * (2 * fuzz_share(b) - 1)
                                       : edge[i - 1] + ldexp(1 + fuzz_share(b), -(kind - 207));
        edge[i] = isfinite(at) ? at : 0;
        for (int j = i; j > 1 && edge[j] < edge[j - 1]; j--) {
            const double other = edge[j];
            edge[j] = edge[j - 1], edge[j - 1] = other;
        }
    }
}

/* Ties, values that nearly tie, values of many magnitudes. */
static double fuzz_value(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    if (kind < 128) return (kind % 8) / 4.0 - 0.75;
    if (kind < 160) return 1 + (kind % 4) * 0x1p-52;
    if (kind < 208) return 2 * fuzz_share(b) - 1;
    return ldexp(2 * fuzz_share(b) - 1, -(kind - 207));
}

static steps fuzz_steps(fuzz_bytes *b)
{
    const uint8_t shape = fuzz_byte(b), unit = fuzz_byte(b), place = fuzz_byte(b);
    steps f = {.count = {1 + shape % 8, shape < 160 ? 1 : 1 + shape / 8 % 3}};
    for (int k = 0; k < 2; k++) fuzz_edges(b, f.count[k], f.edge[k]);
    const int exponent = unit < 192 ? 0 : unit < 224 ? unit - 208 : (unit - 240) * 31;
    const double offset = place < 192 ? 0 : ldexp(place % 2 ? 1 : -1, (place - 192) / 2);
    for (int i = 0; i < f.count[0] * f.count[1]; i++)
        f.value[i] = ldexp(offset + fuzz_value(b), exponent);
    return f;
}

/* ---- its bounds: as close as may be, or wider by any order of magnitude */
static double fuzz_slack(fuzz_bytes *b)
{
    const uint8_t kind = fuzz_byte(b);
    return kind < 128 ? 0 : kind < 250 ? ldexp(1, -(kind - 128) / 3) : ldexp(1, kind - 248);
}

static known fuzz_farther(known x, long double by)
{
    return (known){x.value + by, x.error};
}

static known fuzz_times(known x, long double by)
{
    return (known){x.value * by, x.error * fabsl(by)};
}

static void fuzz_range(fuzz_bytes *b, const steps_facts *s, long double span, certreg_bounds *out)
{
    out->range_lo = steps_down((known){s->least - span * fuzz_slack(b), 0});
    out->range_hi = steps_up((known){s->greatest + span * fuzz_slack(b), 0});
    const uint8_t open = fuzz_byte(b);
    if (open > 240) out->range_hi = INFINITY;
    else if (open > 224) out->range_lo = -INFINITY;
}

static certreg_bounds fuzz_bounds(fuzz_bytes *b, const steps_facts *s)
{
    certreg_bounds out = {.struct_size = sizeof out, .sigma = 1};
    const known mean = {s->mean, s->about.error + 0x1p-62L * fabsl(s->mean)};
    const long double deviation = sqrtl(fmaxl(0, s->variance.value)),
                      span = fmaxl(s->greatest - s->mean, s->mean - s->least);
    const uint32_t set = 1 + fuzz_byte(b) % SETS;
    out.constraints = (set & CERTREG_CONSTRAINTS_ECGM) | (set & 16 ? CERTREG_CONSTRAINT_MOMENT : 0);
    fuzz_range(b, s, span, &out);
    out.mean_lo = steps_down(fuzz_farther(mean, -span * fuzz_slack(b)));
    out.mean_hi = steps_up(fuzz_farther(mean, span * fuzz_slack(b)));
    out.variance_hi = steps_up(fuzz_times(s->variance, 1 + fuzz_slack(b)));
    out.gradient_lo = fmax(0, steps_down(fuzz_times(s->gradient, 1 - fuzz_slack(b))));
    out.gradient_hi = steps_up(fuzz_farther(s->gradient, deviation * fuzz_slack(b)));
    out.moment_center = (double)(s->mean + deviation * fuzz_slack(b) * (fuzz_byte(b) % 2 ? 1 : -1));
    out.moment_hi = steps_up(fuzz_times(steps_moment(s, out.moment_center), 1 + fuzz_slack(b)));
    return out;
}

/* ---- how far, and where to. Along the variable that matters where there is but one. */
static double fuzz_radius(fuzz_bytes *b)
{
    static const double special[] = {0x1p-330, 0x1p-331, 14, 14 + 0x1p-49, 1e-8, 26, 10,
                                     1,        1e-4,     0,  0x1p-400,     0.5};
    const uint8_t kind = fuzz_byte(b);
    if (kind < 200) return exp(log(1e-3) + (log(5) - log(1e-3)) * (kind + fuzz_share(b)) / 200);
    if (kind < 240) return exp(log(1e-7) + (log(25) - log(1e-7)) * fuzz_share(b));
    return special[kind % (sizeof special / sizeof *special)];
}

static void fuzz_shift(fuzz_bytes *b, double r, double shift[2])
{
    const uint8_t way = fuzz_byte(b);
    const double turn = way < 96 ? 0 : way < 192 ? 0.5 : fuzz_share(b), angle = 6.283185307 * turn;
    shift[0] = turn == 0 ? r : turn == 0.5 ? -r : r * cos(angle) * (1 - 0x1p-50);
    shift[1] = turn == 0 || turn == 0.5 ? 0 : r * sin(angle) * (1 - 0x1p-50);
}

static problem fuzz_problem(fuzz_bytes *b)
{
    problem p = {.r = fuzz_radius(b)};
    fuzz_shift(b, p.r, p.shift);
    const uint8_t sigma = fuzz_byte(b);
    p.f = fuzz_steps(b);
    p.facts = steps_facts_of(&p.f);
    p.bounds = fuzz_bounds(b, &p.facts);
    p.bounds.sigma = sigma < 192 ? 1 : ldexp(1 + (sigma % 4) / 3.0, (sigma - 224) * 2);
    p.radius = p.r == 0 ? 0 : nextafter(p.r * p.bounds.sigma, INFINITY);
    p.deviation = (double)sqrtl(fmaxl(0, p.facts.variance.value));
    return p;
}

/* ---- solvers, and what they answer */
enum { THOROUGH = 32 };
static certreg_solver *usual, *other, *hasty, *brief;

void fuzz_prepare(void)
{
    const certreg_solver_plan plan = {.struct_size = sizeof plan,
                                      .max_evaluations = CERTREG_LEAST_WORST_CASE_EVALUATIONS};
    MUST(!certreg_solver_create(NULL, NULL, &usual), "no solver");
    MUST(!certreg_solver_create(NULL, NULL, &other), "no solver");
    MUST(!certreg_solver_create(&plan, NULL, &hasty), "no solver");
    MUST(!certreg_solver_create(&plan, NULL, &brief), "no solver");
}

typedef struct answer {
    certreg_mean_change change;
    certreg_solve_info info;
} answer;

static answer ask(certreg_solver *solver, const certreg_bounds *bounds, double radius)
{
    answer a = {{.struct_size = sizeof a.change}, {.struct_size = sizeof a.info}};
    const certreg_status status = certreg_solver_worst_case(solver, bounds, 0, radius, &a.change);
    MUST(!status, "status %d: %s", status, certreg_solver_error(solver)->text);
    MUST(!certreg_solver_info(solver, &a.info), "no info");
    MUST(a.info.evaluations <= solver->max_evaluations, "%u evaluations", a.info.evaluations);
    MUST(a.change.drop >= 0 && a.change.rise >= 0, "%g %g", a.change.drop, a.change.rise);
    MUST(a.change.mean_least <= a.change.mean_greatest, "%g %g", a.change.mean_least,
         a.change.mean_greatest);
    return a;
}

/* ---- what every answer has to do */
static void covers(const problem *p, const answer *a)
{
    const known change = steps_change(&p->f, p->shift);
    const long double least = change.value - change.error, most = change.value + change.error,
                      mean = p->facts.mean, unsure = p->facts.about.error + 0x1p-60L * fabsl(mean);
    MUST(least <= a->change.rise, "moves by %.21Lg, bound %.17g", least, a->change.rise);
    MUST(-most <= a->change.drop, "moves by %.21Lg, bound -%.17g", most, a->change.drop);
    MUST(mean + least - unsure <= a->change.mean_greatest, "mean %.21Lg, bound %.17g", mean + least,
         a->change.mean_greatest);
    MUST(mean + most + unsure >= a->change.mean_least, "mean %.21Lg, bound %.17g", mean + most,
         a->change.mean_least);
}

/* Without a range there is a function a + c_1 t + c_2 h(t) for all coefficients that the bounds
 * allow (theory 3.6), and its mean rises by this much. */
static void covers_what_has_no_range(const problem *p, const answer *a)
{
    const certreg_bounds *b = &p->bounds;
    const uint32_t used = b->constraints, mean = CERTREG_CONSTRAINT_MEAN;
    const long double r = p->r, x = r * r, T1 = r > 0.1L ? expm1l(x) - x : x * x / 2; /* at least */
    long double C = INFINITY, m = b->moment_center;
    if (used & CERTREG_CONSTRAINT_RANGE || !(r > 1e-9L && r < 10)) return;
    if (used & mean) m = fminl(fmaxl(m, b->mean_lo), b->mean_hi);
    if (used & CERTREG_CONSTRAINT_VARIANCE) C = b->variance_hi;
    if (used & CERTREG_CONSTRAINT_MOMENT)
        C = fminl(C, b->moment_hi - (m - b->moment_center) * (m - b->moment_center));
    if (!(C > 0) || isinf(C)) return;
    long double c1 = r * sqrtl(C / expm1l(x));
    if (used & CERTREG_CONSTRAINT_GRADIENT) c1 = fminl(fmaxl(c1, b->gradient_lo), b->gradient_hi);
    const long double left = C - c1 * c1;
    if (!(left >= 0)) return;
    const long double moves = (r * c1 + sqrtl(left * T1)) * (1 - 1e-12L);
    MUST(moves <= a->change.rise && moves <= a->change.drop, "%.20Lg, bounds %.17g and %.17g",
         moves, a->change.drop, a->change.rise);
}

/* ---- two answers */
static int same_bits(const answer *a, const answer *b)
{
    return !memcmp(&a->change, &b->change, sizeof a->change) &&
           a->info.evaluations == b->info.evaluations && a->info.points == b->info.points &&
           a->info.loose == b->info.loose;
}

/* Less than a rounding of the range lies between the mean and an end of it. */
static int is_at_an_end(const certreg_bounds *b)
{
    const double span = b->range_hi - b->range_lo;
    return isfinite(span) &&
           fmin(b->mean_hi - b->range_lo, b->range_hi - b->mean_lo) < 0x1p-52 * span;
}

/* A search that is loose has not found the best bound, and says so. Beyond the greatest radius of a
 * certificate, and at an end of the range, it may not know. */
static void is_no_more(const problem *p, const answer *tighter, const answer *wider)
{
    const double share = 1e-6, /* and a rounding of the mean */
        off = 0x1p-52 * fmax(fabs(p->bounds.mean_lo), fabs(p->bounds.mean_hi));
    const certreg_mean_change *a = &tighter->change, *b = &wider->change;
    if (p->r > 10 || is_at_an_end(&p->bounds)) return;
    if (tighter->info.loose || tighter->info.fallbacks || wider->info.fallbacks) return;
    MUST(a->rise <= b->rise * (1 + share) + off, "%.17g and %.17g", a->rise, b->rise);
    MUST(a->drop <= b->drop * (1 + share) + off, "%.17g and %.17g", a->drop, b->drop);
}

static void does_not_remember(const problem *p, const answer *first, fuzz_bytes *b)
{
    const problem between = fuzz_problem(b);
    ask(usual, &between.bounds, between.radius);
    const answer again = ask(usual, &p->bounds, p->radius);
    const answer elsewhere = ask(other, &p->bounds, p->radius);
    MUST(same_bits(first, &again) && same_bits(first, &elsewhere), "%.17g, %.17g, %.17g",
         first->change.rise, again.change.rise, elsewhere.change.rise);
}

static void gains_by_constraints(const problem *p, const answer *all, fuzz_bytes *b)
{
    certreg_bounds part = p->bounds;
    part.constraints &= fuzz_byte(b);
    if (!part.constraints) return;
    const answer fewer = ask(usual, &part, p->radius);
    covers(p, &fewer);
    is_no_more(p, all, &fewer);
}

static void gains_by_narrow_boxes(const problem *p, const answer *narrow, fuzz_bytes *b)
{
    certreg_bounds wide = p->bounds;
    const double by = p->deviation;
    wide.mean_lo -= by * fuzz_slack(b), wide.mean_hi += by * fuzz_slack(b);
    wide.variance_hi *= 1 + fuzz_slack(b), wide.moment_hi *= 1 + fuzz_slack(b);
    wide.gradient_lo *= fuzz_share(b), wide.gradient_hi += by * fuzz_slack(b);
    wide.range_lo -= by * fuzz_slack(b), wide.range_hi += by * fuzz_slack(b);
    const answer a = ask(usual, &wide, p->radius);
    covers(p, &a);
    is_no_more(p, narrow, &a);
}

static void grows_with_the_radius(const problem *p, const answer *near, fuzz_bytes *b)
{
    const answer far = ask(usual, &p->bounds, p->radius * (1 + fuzz_slack(b)));
    covers(p, &far);
    is_no_more(p, near, &far);
}

/* ---- units and signs */
static int scale(double *x, int k)
{
    const double before = *x;
    *x = ldexp(before, k);
    return before == 0 || isinf(before) || (isnormal(before) && isnormal(*x));
}

static int scaled(certreg_bounds *b, int k)
{
    double *once[] = {&b->mean_lo,     &b->mean_hi,     &b->range_lo,     &b->range_hi,
                      &b->gradient_lo, &b->gradient_hi, &b->moment_center};
    int exact = scale(&b->variance_hi, 2 * k) & scale(&b->moment_hi, 2 * k);
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) exact &= scale(once[i], k);
    return exact;
}

static void is_free_of_units(const problem *p, const answer *a, fuzz_bytes *b)
{
    const int k = (int)fuzz_byte(b) * 4 - 510;
    certreg_bounds bounds = p->bounds;
    certreg_mean_change want = a->change;
    if (!scaled(&bounds, k)) return;
    const int exact = scale(&want.drop, k) & scale(&want.rise, k) & scale(&want.mean_least, k) &
                      scale(&want.mean_greatest, k);
    const answer got = ask(usual, &bounds, p->radius);
    MUST(!exact || !memcmp(&got.change, &want, sizeof want), "%.17g and %.17g of 2^%d",
         got.change.rise, want.rise, k);
}

static double opposite(double x)
{
    return x == 0 ? 0 : -x; /* without a signed zero */
}

/* To the accuracy of the searches, not bit for bit. */
static void has_no_preferred_sign(const problem *p, const answer *a)
{
    const certreg_bounds *b = &p->bounds;
    certreg_bounds bounds = *b;
    bounds.mean_lo = opposite(b->mean_hi), bounds.mean_hi = opposite(b->mean_lo);
    bounds.range_lo = opposite(b->range_hi), bounds.range_hi = opposite(b->range_lo);
    bounds.moment_center = opposite(b->moment_center);
    const answer got = ask(usual, &bounds, p->radius);
    const answer mirrored = {{.drop = got.change.rise,
                              .rise = got.change.drop,
                              .mean_least = -got.change.mean_greatest,
                              .mean_greatest = -got.change.mean_least},
                             got.info};
    covers(p, &mirrored);
    is_no_more(p, a, &mirrored), is_no_more(p, &mirrored, a);
}

static void is_sound_in_haste(const problem *p, const answer *a)
{
    const answer got = ask(hasty, &p->bounds, p->radius);
    covers(p, &got);
    is_no_more(p, a, &got);
}

/* ---- the worst function */
/* What its multipliers, rounded to double, may leave of the constraints (theory 3.6). */
static void keeps_to(const certreg_bounds *b, const certreg_worst_function *f,
                     const function_moments *m)
{
    const double s = sqrt(fmax(m->variance, 0)), off = 2e-4 * s + 1e-12 * fabs(f->mean);
    const uint32_t used = f->constraints;
    if (used & CERTREG_CONSTRAINT_MEAN)
        MUST(m->mean >= b->mean_lo - off && m->mean <= b->mean_hi + off, "mean %g", m->mean);
    if (used & CERTREG_CONSTRAINT_VARIANCE)
        MUST(m->variance <= b->variance_hi + 2 * s * off, "variance %g", m->variance);
    if (used & CERTREG_CONSTRAINT_GRADIENT)
        MUST(fabs(m->gradient) <= b->gradient_hi + off && fabs(m->gradient) >= b->gradient_lo - off,
             "gradient %g", m->gradient);
    if (used & CERTREG_CONSTRAINT_RANGE)
        MUST(m->least >= b->range_lo - off && m->greatest <= b->range_hi + off, "range %g %g",
             m->least, m->greatest);
    if (used & CERTREG_CONSTRAINT_MOMENT) {
        const double d = m->mean - b->moment_center;
        MUST(m->variance + d * d <= b->moment_hi + 2 * (s + fabs(d)) * off, "moment %g",
             m->variance + d * d);
    }
}

static void has_a_worst_function(const problem *p, const answer *a, fuzz_bytes *b)
{
    const uint8_t what = fuzz_byte(b);
    certreg_worst_function f = {.struct_size = sizeof f};
    const int32_t side = what % 2 ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER;
    const certreg_status status =
        certreg_solver_worst_function(usual, &p->bounds, 0, p->radius, side, &f);
    if (status) {
        MUST(status == CERTREG_E_INVALID, "status %d", status);
        MUST(f.region_count == 0 && f.bound == INFINITY, "%u regions", f.region_count);
        return;
    }
    /* Where evaluations run out, they are divided by two sides in one call and not in the other. */
    const double bound = side == CERTREG_SIDE_LOWER ? a->change.drop : a->change.rise;
    MUST(f.bound == bound || a->info.loose, "bound %.17g and %.17g", f.bound, bound);
    MUST(f.change >= 0 && f.change <= f.bound, "change %.17g of %.17g", f.change, f.bound);
    MUST(f.region_count >= 1 && f.region_count <= CERTREG_MOST_REGIONS, "%u regions",
         f.region_count);
    /* The quadrature of the test has no digits where values hardly differ, or their squares are
     * next to nothing. */
    if (what < 128 || !(p->deviation > 1e-6 * fabs((double)p->facts.mean)) ||
        !(p->deviation > 0x1p-400 && p->deviation < 0x1p400))
        return;
    const double r = p->radius / p->bounds.sigma;
    const function_moments m = function_measure_by(&f, r, 0.05);
    keeps_to(&p->bounds, &f, &m);
    MUST(r < 1e-6 || f.change <= m.change + 1e-3 * (fabs(m.change) + f.change) + 1e-9 * f.bound,
         "change %.17g, measured %.17g", f.change, m.change);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    fuzz_bytes b = {bytes, size};
    const uint8_t what = fuzz_byte(&b);
    const problem p = fuzz_problem(&b);
    const int thorough = fuzz_one_of(THOROUGH, bytes, size);
    brief->max_evaluations = CR_RESERVED_FOR_WORST_CASE + (4u << what % 4);
    const answer a = ask(thorough ? usual : brief, &p.bounds, p.radius);
    covers(&p, &a), covers_what_has_no_range(&p, &a);
    if (!thorough) return;
    switch (what % 9) {
    case 0: does_not_remember(&p, &a, &b); break;
    case 1:
    case 2: gains_by_constraints(&p, &a, &b); break;
    case 3: gains_by_narrow_boxes(&p, &a, &b); break;
    case 4: grows_with_the_radius(&p, &a, &b); break;
    case 5: is_free_of_units(&p, &a, &b); break;
    case 6: has_no_preferred_sign(&p, &a); break;
    case 7: is_sound_in_haste(&p, &a); break;
    default: has_a_worst_function(&p, &a, &b);
    }
}
