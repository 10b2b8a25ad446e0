/* The control loop of examples/control_loop in real time, with locked memory and a real-time
 * priority where that is permitted: how long is it from the planned beginning of a tick to the
 * force, and how many ticks miss their end? Every tick takes a new certificate. Time that the
 * hypervisor stole is measured too; with more than 1 % a run is repeated, at most twice.
 * Usage: bench_latency [TICKS [tables.md]]; the table is kept from 100,000 ticks on */
#include "bench.h"
#include "control_loop/control_loop.h"
#include <sched.h>
#include <sys/mman.h>

enum { MOST = 100000 };
static double times[MOST]; /* seconds */

/* ---- the system */
static void prepare(int ticks)
{
    const struct sched_param priority = {.sched_priority = 50};
    printf("%d ticks; memory locked: %s", ticks, mlockall(MCL_CURRENT | MCL_FUTURE) ? "no" : "yes");
    printf("; SCHED_FIFO: %s\n", sched_setscheduler(0, SCHED_FIFO, &priority) ? "no" : "yes");
}

/* Stolen and all time of the processors so far, in clock ticks; 0 where the system does not say. */
static void stolen_until_now(double *stolen, double *all)
{
    FILE *f = fopen("/proc/stat", "r");
    double v[8] = {0};
    if (f && fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3, v + 4, v + 5,
                    v + 6, v + 7) != 8)
        memset(v, 0, sizeof v);
    if (f) fclose(f);
    *stolen = v[7], *all = 0;
    for (int i = 0; i < 8; i++) *all += v[i];
}

static void sleep_until(double when)
{
    const struct timespec t = {(time_t)when, (long)(1e9 * (when - floor(when)))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) {
    }
}

/* ---- a run */
typedef struct result {
    int late;      /* ticks whose force came after their end */
    long cut;      /* certificates that the deadline ended */
    double stolen; /* share of the processors' time */
} result;

static result run(settings set, int ticks)
{
    const double period = 1 / set.hertz;
    double stolen[2], all[2];
    result r = {0};
    plant p = {.dice = 1};
    sensors s;
    loop l;
    loop_open(&l, &set);
    stolen_until_now(stolen, all);
    double begin = bench_now();
    for (int i = 0; i < ticks; i++) {
        if (plant_fell(&p)) p = (plant){.dice = (uint64_t)i};
        plant_sense(&p, 0, 0, 0, &s);
        begin = fmax(begin + period, bench_now());
        sleep_until(begin);
        const double force = loop_tick(&l, &s);
        times[i] = bench_now() - begin;
        r.late += times[i] > period;
        plant_step(&p, force, period);
    }
    stolen_until_now(stolen + 1, all + 1);
    r.stolen = all[1] > all[0] ? (stolen[1] - stolen[0]) / (all[1] - all[0]) : 0;
    r.cut = l.missed;
    loop_close(&l);
    qsort(times, (size_t)ticks, sizeof *times, bench_ascending);
    return r;
}

static void measure(double hertz, int ticks)
{
    settings set = loop_settings(TRUST_CERTIFICATE, 0);
    set.hertz = hertz, set.deadline = 0.8 / hertz, set.keep = 0;
    result r = run(set, ticks);
    for (int again = 0; again < 2 && r.stolen > 0.01; again++) r = run(set, ticks);
    const size_t n = (size_t)ticks;
    bench_print("| %.0f Hz | %.2f ms | %.2f ms | %.2f ms | %.2f ms | %d | %ld | %.1f %% |\n", hertz,
                1e3 * times[n / 2], 1e3 * times[n * 99 / 100], 1e3 * times[n * 999 / 1000],
                1e3 * times[n - 1], r.late, r.cut, 100 * r.stolen);
}

int main(int argc, char **argv)
{
    const int ticks = argc > 1 ? atoi(argv[1]) : MOST;
    if (ticks < 1 || ticks > MOST) return printf("TICKS is 1 to %d\n", MOST), 2;
    if (ticks == MOST) bench_open(argc - 1, argv + 1);
    prepare(ticks);
    bench_begin("latency", "| | p50 | p99 | p99.9 | max | late | cut by the deadline | stolen |");
    measure(200, ticks);
    measure(1000, ticks);
    bench_end("latency");
    bench_close();
    return 0;
}
