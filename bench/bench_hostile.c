/* The solver and the radius search on constraints chosen to be hard, one core: the longest call,
 * and the 99.9th percentile without the second order. Each call counts with the least time of
 * three: what the machine does beside is not measured. Usage: bench_hostile [tables.md] */
#include "bench.h"
#include <certreg/solver.h>
#include "support/hostile.h"

enum { ROWS = 4000, REPEATS = 3 };

static void report(const char *name, double *times, int count, double share, double allowed)
{
    qsort(times, (size_t)count, sizeof *times, bench_ascending);
    const double ours = times[(int)((count - 1) * share)];
    bench_print("| %s | %.1f ms | %g ms |\n", name, 1e3 * ours, 1e3 * allowed);
}

/* Processor seconds of the change of the mean and of the radius. */
static void measure(certreg_solver *solver, certreg_bisection *bisection, const hostile *h,
                    double *shift, double *radius)
{
    *shift = *radius = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        certreg_mean_change moved = {.struct_size = sizeof moved};
        certreg_radius found = {.struct_size = sizeof found};
        const double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        certreg_solver_worst_case(solver, &h->bounds, 0, h->r, &moved);
        const double middle = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        certreg_bisection_within(bisection, &h->bounds, 0, h->tolerance, &found);
        *shift = fmin(*shift, middle - start);
        *radius = fmin(*radius, bench_seconds(CLOCK_THREAD_CPUTIME_ID) - middle);
    }
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
        double moved, found;
        measure(solver, bisection, &h, &moved, &found);
        for (int first = 0; first < 2; first++) {
            if (first && (h.bounds.constraints & CERTREG_CONSTRAINT_SECOND_ORDER)) continue;
            shift[first][count[first]] = moved;
            radius[first][count[first]++] = found;
        }
    }
    bench_open(argc, argv);
    bench_begin("hostile", "| | processor time | aim |");
    report("change of the mean, slowest", shift[0], count[0], 1, 5e-3);
    report("largest radius, slowest", radius[0], count[0], 1, 50e-3);
    report("change of the mean without second order, 99.9th percentile", shift[1], count[1], 0.999,
           1e-3);
    report("largest radius without second order, 99.9th percentile", radius[1], count[1], 0.999,
           5e-3);
    bench_end("hostile");
    bench_close();
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    return 0;
}
