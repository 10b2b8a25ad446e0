/* The solver and the radius search on constraints chosen to be hard, one core: the longest call,
 * and the 99.9th percentile without the second order. Usage: bench_hostile [results.csv] */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <certreg/solver.h>
#include "support/hostile.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 4000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(FILE *csv, const char *name, double *times, int count, double share,
                   double allowed)
{
    qsort(times, (size_t)count, sizeof *times, ascending);
    const double ours = times[(int)((count - 1) * share)];
    printf("%-24s %8.3f ms, at most %g ms\n", name, 1e3 * ours, 1e3 * allowed);
    if (csv) fprintf(csv, "%s,%.6g,%.6g,%.3f,1\n", name, ours, allowed, allowed / ours);
}

int main(int argc, char **argv)
{
    static double shift[2][ROWS], radius[2][ROWS];
    int count[2] = {0, 0};
    certreg_solver *solver;
    certreg_bisection *bisection;
    if (certreg_solver_create(NULL, NULL, &solver) ||
        certreg_bisection_create(NULL, NULL, &bisection))
        return 1;
    for (uint64_t seed = 0; seed < ROWS; seed++) {
        dice d = dice_of(950000000 + seed);
        hostile h = random_hostile(&d);
        h.bounds.constraints = 1 + (uint32_t)dice_between(&d, 0, 62.999);
        certreg_mean_change moved = {.struct_size = sizeof moved};
        certreg_radius found = {.struct_size = sizeof found};
        const double start = now();
        certreg_solver_worst_case(solver, &h.bounds, 0, h.r, &moved);
        const double middle = now();
        certreg_bisection_within(bisection, &h.bounds, 0, h.tolerance, &found);
        for (int first = 0; first < 2; first++) {
            if (first && (h.bounds.constraints & CERTREG_CONSTRAINT_SECOND_ORDER)) continue;
            shift[first][count[first]] = middle - start;
            radius[first][count[first]++] = now() - middle;
        }
    }
    FILE *csv = argc > 1 ? fopen(argv[1], "a") : NULL;
    report(csv, "hostile_shift_most", shift[0], count[0], 1, 5e-3);
    report(csv, "hostile_radius_most", radius[0], count[0], 1, 50e-3);
    report(csv, "hostile_shift_first", shift[1], count[1], 0.999, 1e-3);
    report(csv, "hostile_radius_first", radius[1], count[1], 0.999, 5e-3);
    if (csv) fclose(csv);
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    return 0;
}
