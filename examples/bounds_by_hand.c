/* The solver alone, with bounds written by hand: no model and no samples.
 * Prints how far the mean can move, as a table over the radius, and the largest radius for a
 * tolerance of 0.5. Each column uses other constraints (E mean, C variance, G gradient, M range);
 * the more constraints, the smaller the change. Then come the regions of the worst function: where
 * an adversarial model would stay at an end of its range. To plot the table:
 *     bounds_by_hand >curve
 *     gnuplot -p -e "plot for [i=2:5] 'curve' using 1:i with lines" */
#define CERTREG_EXPERIMENTAL 1 /* see "stability" in certreg.h */
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include <math.h>
#include <stdio.h>

enum { SETS = 4, POINTS = 25 };

static certreg_status print_curve(certreg_solver *s, const certreg_bounds *bounds)
{
    static const uint32_t constraints[SETS] = {CERTREG_CONSTRAINTS_C, CERTREG_CONSTRAINTS_CG,
                                               CERTREG_CONSTRAINTS_ECM, CERTREG_CONSTRAINTS_ECGM};
    puts("# radius         C        C,G      E,C+M    E,C,G+M");
    for (int i = 1; i <= POINTS; i++) {
        const double radius = 0.04 * i;
        printf("%8.2f", radius);
        for (size_t k = 0; k < SETS; k++) {
            certreg_mean_change v = {.struct_size = sizeof v};
            const certreg_status status =
                certreg_solver_worst_case(s, bounds, constraints[k], radius, &v);
            if (status) return status;
            printf(" %10.6f", fmax(v.drop, v.rise));
        }
        putchar('\n');
    }
    return CERTREG_OK;
}

static certreg_status print_worst_function(certreg_solver *s, const certreg_bounds *bounds)
{
    static const char *const does[] = {"stays at the lower end", "follows a curve",
                                       "stays at the upper end"};
    certreg_worst_function f = {.struct_size = sizeof f};
    const certreg_status status =
        certreg_solver_worst_function(s, bounds, 0, 0.5, CERTREG_SIDE_LOWER, &f);
    if (status) return status;
    printf("# within 0.5 a model may drop by %.6f; one that drops by %.6f\n", f.bound, f.change);
    for (uint32_t i = 0; i < f.region_count; i++) {
        printf("#   %s", does[f.regions[i] + 1]);
        if (i + 1 < f.region_count) printf(" up to %.3f sigma,", f.breakpoints[i]);
        putchar('\n');
    }
    return CERTREG_OK;
}

int main(void)
{
    const certreg_bounds bounds = {.struct_size = sizeof bounds,
                                   .constraints =
                                       CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_VARIANCE |
                                       CERTREG_CONSTRAINT_GRADIENT | CERTREG_CONSTRAINT_RANGE,
                                   .sigma = 0.5,
                                   .mean_lo = 0.95,
                                   .mean_hi = 1.05,
                                   .variance_hi = 2,
                                   .gradient_lo = 0.7,
                                   .gradient_hi = 0.85, /* sigma times the norm of the gradient */
                                   .range_lo = -3.2,
                                   .range_hi = 3.2};
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    certreg_radius r = {.struct_size = sizeof r};
    certreg_status status = certreg_solver_create(NULL, NULL, &s);
    if (!status) status = certreg_bisection_create(NULL, NULL, &b);
    if (status) printf("# %s\n", certreg_status_text(status));
    if (!status &&
        ((status = print_curve(s, &bounds)) || (status = print_worst_function(s, &bounds))))
        printf("# %s\n", certreg_solver_error(s)->text);
    if (!status && (status = certreg_bisection_within(b, &bounds, 0, 0.5, &r)))
        printf("# %s\n", certreg_bisection_error(b)->text);
    if (!status)
        printf("# moves by at most 0.5 up to %.6f, where it %s\n", r.radius,
               r.limiting_side == CERTREG_SIDE_UPPER ? "rises" : "drops");
    certreg_bisection_destroy(b);
    certreg_solver_destroy(s);
    return status != CERTREG_OK;
}
