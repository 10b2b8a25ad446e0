/* The solver and the radius search on random admissible inputs, one core: the mean change with
 * mean, variance, gradient and range, and the radius to 1e-9 including the final re-evaluation;
 * and the Gram matrix that the gradient takes, beside BLAS. Usage: bench_solver [tables.md] */
#include "bench.h"
#include "backend/backend.h"
#include "backend/cpu.h"
#include "certreg/backend.h"
#include "certreg/certreg.h"
#include "certreg/solver.h"
#include <cblas.h>

enum { PROBLEMS = 4000, REPEATS = 3, BLOCKS = 64, INPUTS = 784 };

typedef struct problem {
    certreg_bounds bounds;
    double radius, tolerance;
} problem;

static double uniform(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double between(double low, double high) /* evenly in the logarithm */
{
    return low * pow(high / low, uniform());
}

static problem make(void)
{
    const double mean = -0.95 + 1.9 * uniform(), variance = (1 - mean * mean) * between(1e-3, 1);
    /* clip(t) scaled to this variance has this correlation: whatever is below is admissible. */
    const double spread = sqrt(variance),
                 most = spread * erf((1 - fabs(mean)) / spread * sqrt(0.5)),
                 gradient = 0.99 * most * uniform();
    return (problem){.bounds = {.struct_size = sizeof(certreg_bounds),
                                .constraints = CERTREG_CONSTRAINTS_ECGM,
                                .sigma = 0.5,
                                .mean_lo = mean,
                                .mean_hi = mean,
                                .variance_hi = variance,
                                .gradient_lo = gradient,
                                .gradient_hi = gradient,
                                .range_lo = -1,
                                .range_hi = 1},
                     .radius = between(0.01, 2),
                     .tolerance = spread * between(0.05, 1.5)};
}

static double shift_time(certreg_solver *solver, certreg_bisection *bisection, const problem *p)
{
    (void)bisection;
    certreg_mean_change shift = {.struct_size = sizeof shift};
    const double start = bench_now();
    const certreg_status status =
        certreg_solver_worst_case(solver, &p->bounds, 0, p->radius, &shift);
    return status ? INFINITY : bench_now() - start;
}

static double radius_time(certreg_solver *solver, certreg_bisection *bisection, const problem *p)
{
    (void)solver;
    certreg_radius radius = {.struct_size = sizeof radius};
    const double start = bench_now();
    const certreg_status status =
        certreg_bisection_within(bisection, &p->bounds, 0, p->tolerance, &radius);
    return status ? INFINITY : bench_now() - start;
}

/* Median and 99th percentile over the problems, each the best of a few runs: what the machine does
 * beside is not measured. */
static void measure(certreg_solver *solver, certreg_bisection *bisection, const problem *all,
                    double (*task)(certreg_solver *, certreg_bisection *, const problem *),
                    double out[2])
{
    static double times[PROBLEMS];
    for (int i = 0; i < PROBLEMS; i++) {
        times[i] = INFINITY;
        for (int j = 0; j < REPEATS; j++)
            times[i] = fmin(times[i], task(solver, bisection, all + i));
    }
    qsort(times, PROBLEMS, sizeof *times, bench_ascending);
    out[0] = times[PROBLEMS / 2];
    out[1] = times[PROBLEMS * 99 / 100];
}

/* Least seconds of the Gram matrix of block sums, and of BLAS's. */
static void gram_times(double out[2])
{
    static double sums[BLOCKS * INPUTS], gram[BLOCKS * BLOCKS];
    certreg_backend *backend;
    out[0] = out[1] = INFINITY;
    for (int i = 0; i < BLOCKS * INPUTS; i++) sums[i] = uniform();
    if (cr_cpu_open(1, NULL, &backend)) return;
    for (int i = 0; i < 300; i++) {
        const double start = bench_now();
        backend->ops->gram(backend, sums, INPUTS, BLOCKS, INPUTS, gram);
        const double middle = bench_now();
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, BLOCKS, INPUTS, 1, sums, INPUTS, 0,
                    gram, BLOCKS);
        out[0] = fmin(out[0], middle - start), out[1] = fmin(out[1], bench_now() - middle);
    }
    certreg_backend_close(backend);
}

static void report(const char *name, const double seconds[2], const char *aims)
{
    bench_print("| %s | %.1f µs | %.1f µs | %s |\n", name, 1e6 * seconds[0], 1e6 * seconds[1],
                aims);
}

int main(int argc, char **argv)
{
    static problem all[PROBLEMS];
    certreg_solver *solver;
    certreg_bisection *bisection;
    double seconds[2][2], gram[2];
    for (int i = 0; i < PROBLEMS; i++) all[i] = make();
    if (certreg_solver_create(NULL, NULL, &solver) ||
        certreg_bisection_create(NULL, NULL, &bisection))
        return 1;
    double (*const tasks[])(certreg_solver *, certreg_bisection *, const problem *) = {shift_time,
                                                                                       radius_time};
    for (int i = 0; i < 2; i++) measure(solver, bisection, all, tasks[i], seconds[i]);
    gram_times(gram);
    bench_open(argc, argv);
    bench_begin("solver", "| | median | 99% | aim |");
    report("change of the mean at a radius", seconds[0], "25 µs");
    bench_end("solver");
    bench_begin("radius", "| | median | 99% | aims |");
    report("largest radius to 1e-9", seconds[1], "25, 60 µs");
    bench_end("radius");
    bench_begin("gram", "| | minimum | aim |");
    bench_print("| Gram matrix, 64 × 784 | %.3f ms | 0.15 ms |\n", 1e3 * gram[0]);
    bench_print("| the same by BLAS (`dsyrk`), one thread | %.3f ms | |\n", 1e3 * gram[1]);
    bench_end("gram");
    bench_close();
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    return 0;
}
