/* The solver and the radius search on random admissible inputs, one core: the mean change with
 * mean, variance, gradient and range, and the radius to 1e-9 including the final re-evaluation.
 * Peer: the paper's procedure in SciPy (paper_procedure.py). Usage: bench_solver [tables.md] */
#include "bench.h"
#include "certreg/certreg.h"
#include "certreg/solver.h"

enum { PROBLEMS = 4000, PEER_PROBLEMS = 9, REPEATS = 3 };

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

static double peer(const problem *all)
{
    const char *python = getenv("PYTHON"), *name = "lib/bench_solver_peer.txt";
    char command[512];
    FILE *rows = fopen(name, "w");
    if (!rows) return 0;
    for (int i = 0; i < PEER_PROBLEMS; i++) {
        const certreg_bounds *b = &all[i].bounds;
        fprintf(rows, "%.17g %.17g %.17g %g %g %g %.17g\n", b->mean_lo, b->variance_hi,
                b->gradient_hi, b->range_lo, b->range_hi, b->sigma, all[i].tolerance);
    }
    fclose(rows);
    snprintf(command, sizeof command,
             "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 %s bench/paper_procedure.py < %s",
             python && *python ? python : "/usr/bin/python3", name);
    double seconds = 0;
    FILE *pipe = popen(command, "r");
    const int got = pipe ? fscanf(pipe, "%lf", &seconds) : 0;
    const int good = pipe && pclose(pipe) == 0 && got == 1;
    remove(name);
    return good ? seconds : 0;
}

int main(int argc, char **argv)
{
    static problem all[PROBLEMS];
    certreg_solver *solver;
    certreg_bisection *bisection;
    double shift[2], radius[2];
    for (int i = 0; i < PROBLEMS; i++) all[i] = make();
    if (certreg_solver_create(NULL, NULL, &solver) ||
        certreg_bisection_create(NULL, NULL, &bisection))
        return 1;
    measure(solver, bisection, all, shift_time, shift);
    measure(solver, bisection, all, radius_time, radius);
    bench_open(argc, argv);
    const double theirs = peer(all);
    bench_begin("solver", "| | time | aim |");
    bench_print("| change of the mean at a radius, median | %.1f µs | 25 µs |\n", 1e6 * shift[0]);
    bench_print("| largest radius to 1e-9, median | %.1f µs | 150 µs |\n", 1e6 * radius[0]);
    bench_print("| the same, 99th percentile | %.1f µs | 500 µs |\n", 1e6 * radius[1]);
    if (theirs > 0)
        bench_print(
            "| the paper's procedure in SciPy, median | %.1f ms, %.0f times the library's | "
            "1,000 times |\n",
            1e3 * theirs, theirs / radius[0]);
    else printf("no SciPy: peer left out\n");
    bench_end("solver");
    bench_close();
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
    return 0;
}
