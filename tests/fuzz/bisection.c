/* The bisection on functions that are known: whatever is nearer than the radius moves the mean by
 * no more than the tolerance, or leaves it above its threshold. Every eighth input is plain
 * numbers: a refusal that names the field, or an answer that is one. Most searches end after a few
 * evaluations, since any multipliers prove a radius; one input in THOROUGH goes to the usual ones.
 */
#include "bisection/bisection.h"
#include "fuzz/problem.h"
#include "solver/solver.h"
#include "solver/worst_case.h"
#include <certreg/worst_function.h>

const size_t fuzz_most_bytes = 256;

/* The searches that are asked: as usual, ending early, and ending at once. */
enum { USUAL, SHORT, BRIEF, ALL, THOROUGH = 32 };
static certreg_bisection *searches[ALL];
static certreg_solver *solver;
static const double cap[] = {10, 3, 10};
static const uint32_t limit[] = {CERTREG_RADIUS_EVALUATIONS, CERTREG_LEAST_RADIUS_EVALUATIONS,
                                 CERTREG_LEAST_RADIUS_EVALUATIONS};
static int thorough; /* this input */

void fuzz_prepare(void)
{
    for (int i = 0; i < ALL; i++) {
        const certreg_bisection_plan plan = {.struct_size = sizeof plan,
                                             .max_evaluations = limit[i],
                                             .cap = i == SHORT ? cap[i] : 0,
                                             .accuracy = i == USUAL ? 1e-7 : 1e-3};
        MUST(!certreg_bisection_create(&plan, NULL, searches + i), "no bisection");
    }
    MUST(!certreg_solver_create(NULL, NULL, &solver), "no solver");
}

static int which_search(uint8_t what)
{
    searches[BRIEF]->how.evaluations = 8 << what % 4;
    return thorough ? what % BRIEF : BRIEF;
}

/* ---- what every answer has to be */
static certreg_solve_info cost_of(int which, size_t functions)
{
    certreg_solve_info info = {.struct_size = sizeof info};
    MUST(!certreg_bisection_info(searches[which], &info), "no info");
    MUST(info.evaluations <= functions * limit[which], "%u evaluations", info.evaluations);
    return info;
}

static void is_an_answer(int which, const certreg_radius *a, double sigma)
{
    MUST(a->radius >= 0 && a->radius <= cap[which] * sigma, "radius %.17g", a->radius);
    MUST((a->outcome == CERTREG_OUTCOME_ABSTAINED) == (a->radius == 0), "outcome %d, radius %g",
         a->outcome, a->radius);
}

static certreg_radius within(int which, const certreg_bounds *b, double tolerance)
{
    certreg_radius a = {.struct_size = sizeof a};
    const certreg_status status = certreg_bisection_within(searches[which], b, 0, tolerance, &a);
    MUST(!status, "status %d: %s", status, certreg_bisection_error(searches[which])->text);
    is_an_answer(which, &a, b->sigma), cost_of(which, 1);
    return a;
}

/* ---- the function, moved by less than the radius */
static double next_shift(fuzz_bytes *b, double radius, double shift[2])
{
    const uint8_t kind = fuzz_byte(b);
    const double share = kind < 64 ? 1 : kind < 192 ? kind / 192.0 : ldexp(1, 191 - kind);
    const double r = nextafter(radius * (1 - 0x1p-52) * share, 0);
    fuzz_shift(b, r, shift);
    return r;
}

static void stays_within(const problem *p, const certreg_radius *a, double tolerance, fuzz_bytes *b)
{
    for (int i = 0; i < (thorough ? 6 : 2); i++) {
        double shift[2];
        next_shift(b, a->radius / p->bounds.sigma, shift);
        const known change = steps_change(&p->f, shift);
        MUST(fabsl(change.value) - change.error <= tolerance,
             "radius %.17g, moves by %.21Lg, tolerance %.17g", a->radius, change.value, tolerance);
    }
}

static void stays_above(const problem *p, double radius, double threshold, fuzz_bytes *b)
{
    for (int i = 0; i < (thorough ? 4 : 2); i++) {
        double shift[2];
        next_shift(b, radius / p->bounds.sigma, shift);
        const known change = steps_change(&p->f, shift);
        const long double left =
            p->facts.common - (long double)threshold + p->facts.about.value + change.value;
        MUST(left + change.error + p->facts.about.error +
                     0x1p-60L * (fabsl(p->facts.mean) + fabs(threshold)) >
                 0,
             "radius %.17g, %.21Lg above %.17g", radius, left, threshold);
    }
}

/* The worst case within the radius is no more than the tolerance, by another search. */
static void agrees_with_the_solver(const problem *p, const certreg_radius *a, double tolerance)
{
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_solve_info info = {.struct_size = sizeof info};
    MUST(!certreg_solver_worst_case(solver, &p->bounds, 0, a->radius, &change), "refused");
    MUST(!certreg_solver_info(solver, &info), "no info");
    if (info.loose || info.fallbacks) return;
    MUST(change.rise <= tolerance * (1 + 1e-6) && change.drop <= tolerance * (1 + 1e-6),
         "%.17g and %.17g, tolerance %.17g", change.drop, change.rise, tolerance);
}

static void try_within(const problem *p, uint8_t what, fuzz_bytes *b)
{
    const known change = steps_change(&p->f, p->shift);
    const double tolerance =
        (double)(fabsl(change.value) + 1e-3L * p->deviation) * exp2(fuzz_share(b) * 6 - 3);
    if (!(tolerance >= 0x1p-1000)) return;
    const int which = which_search(what);
    certreg_radius a = within(which, &p->bounds, tolerance);
    stays_within(p, &a, tolerance, b);
    if (!thorough) return;
    if (what / 16 % 4 == 0) agrees_with_the_solver(p, &a, tolerance);
    if (what / 16 % 4 == 1) { /* nothing is remembered */
        const certreg_radius again = within(which, &p->bounds, tolerance);
        MUST(!memcmp(&a, &again, sizeof a), "%.17g and %.17g", a.radius, again.radius);
    }
    if (what / 16 % 4 == 2) { /* a wider tolerance */
        const double wider = tolerance * (1 + fuzz_slack(b));
        a = within(which, &p->bounds, wider);
        stays_within(p, &a, wider, b);
    }
}

static void try_above(const problem *p, uint8_t what, fuzz_bytes *b)
{
    const size_t count = what >= 192 ? 2 : 1;
    problem both[2] = {*p, count > 1 ? fuzz_problem(b) : *p};
    certreg_bounds bounds[2];
    double threshold[2];
    both[1].bounds.sigma = p->bounds.sigma;
    for (size_t i = 0; i < count; i++) {
        bounds[i] = both[i].bounds, bounds[i].constraints |= CERTREG_CONSTRAINT_MEAN;
        threshold[i] = (double)(both[i].facts.mean - both[i].deviation * fuzz_slack(b));
    }
    certreg_radius a = {.struct_size = sizeof a};
    const int which = which_search(what);
    const certreg_status status =
        certreg_bisection_above(searches[which], bounds, threshold, count, 0, &a);
    MUST(!status, "status %d: %s", status, certreg_bisection_error(searches[which])->text);
    is_an_answer(which, &a, p->bounds.sigma), cost_of(which, count);
    MUST(a.limiting < count, "function %zu", a.limiting);
    for (size_t i = 0; i < count && a.radius > 0; i++)
        stays_above(both + i, a.radius, threshold[i], b);
}

/* ---- plain numbers */
static certreg_bounds any_bounds(fuzz_bytes *b)
{
    certreg_bounds out = {.struct_size = sizeof out, .constraints = fuzz_byte(b)};
    double *all[] = {&out.sigma,       &out.mean_lo,       &out.mean_hi,  &out.variance_hi,
                     &out.gradient_lo, &out.gradient_hi,   &out.range_lo, &out.range_hi,
                     &out.alpha,       &out.moment_center, &out.moment_hi};
    const uint32_t plain = fuzz_byte(b) | (uint32_t)fuzz_byte(b) << 8;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = plain >> i & 1 ? 2 * fuzz_share(b) - (double)(i % 2) : fuzz_double(b);
    return out;
}

static void is_a_reason(certreg_status status, const certreg_error *why)
{
    MUST(status == CERTREG_E_INVALID || status == CERTREG_E_INFEASIBLE, "status %d", status);
    MUST(why && why->status == status && why->text[0], "no reason of %d", status);
}

static void try_any(fuzz_bytes *b, uint8_t what)
{
    const certreg_bounds bounds[] = {any_bounds(b), any_bounds(b)};
    const uint32_t constraints = fuzz_byte(b) % 3 ? 0 : fuzz_byte(b);
    const double x = fuzz_double(b), threshold[] = {x, fuzz_double(b)};
    const int which = which_search(what);
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_worst_function f = {.struct_size = sizeof f};
    certreg_radius a = {.struct_size = sizeof a};
    certreg_solve_info info = {.struct_size = sizeof info};
    certreg_status status = certreg_solver_worst_case(solver, bounds, constraints, x, &change);
    if (status) is_a_reason(status, certreg_solver_error(solver));
    MUST(change.drop >= 0 && change.rise >= 0, "%g %g", change.drop, change.rise);
    MUST(!status || (change.drop == INFINITY && change.rise == INFINITY), "%g", change.drop);
    MUST(change.mean_least <= change.mean_greatest, "%g %g", change.mean_least,
         change.mean_greatest);
    MUST(!certreg_solver_info(solver, &info), "no info");
    MUST(info.evaluations <= CERTREG_WORST_CASE_EVALUATIONS, "%u", info.evaluations);
    if (what & 64)
        status = certreg_bisection_above(searches[which], bounds, what & 128 ? threshold : NULL, 2,
                                         constraints, &a);
    else status = certreg_bisection_within(searches[which], bounds, constraints, x, &a);
    if (status) is_a_reason(status, certreg_bisection_error(searches[which]));
    MUST(!status || a.radius == 0, "radius %g", a.radius);
    is_an_answer(which, &a, status ? 1 : bounds[0].sigma), cost_of(which, 2);
    status = certreg_solver_worst_function(solver, bounds, constraints, x,
                                           what & 32 ? CERTREG_SIDE_LOWER : CERTREG_SIDE_UPPER, &f);
    if (status) is_a_reason(status, certreg_solver_error(solver));
    MUST(status || (f.change >= 0 && f.change <= f.bound), "change %g of %g", f.change, f.bound);
    MUST(f.region_count <= CERTREG_MOST_REGIONS, "%u regions", f.region_count);
}

void fuzz_one(const uint8_t *bytes, size_t size)
{
    fuzz_bytes b = {bytes, size};
    const uint8_t kind = fuzz_byte(&b), what = fuzz_byte(&b);
    thorough = fuzz_one_of(THOROUGH, bytes, size);
    solver->max_evaluations = thorough ? CERTREG_WORST_CASE_EVALUATIONS
                                       : CR_KEPT_FOR_A_WORST_CASE + 16;
    if (kind % 8 == 7) {
        try_any(&b, what);
        return;
    }
    const problem p = fuzz_problem(&b);
    if (kind % 8 < 4) try_within(&p, what, &b);
    else try_above(&p, what, &b);
}
