/* The control loop of examples/control_loop in real time, with locked memory and a real-time
 * priority where that is permitted: how long is it from the planned beginning of a tick to the
 * force, and how many ticks miss their end? Every tick takes a new certificate. Time that the
 * hypervisor stole is measured too; with more than 1 % a run is repeated, at most twice. Then the
 * noise of an episode: of one tick, as a deployed loop draws it, and of a whole record.
 * Usage: bench_latency [TICKS [tables.md]]; the table is kept from 100,000 ticks on */
#include "bench.h"
#include "control_loop/control_loop.h"
#include <certreg/question.h>
#include <certreg/sampling.h>
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

/* ---- the noise of episodes (theory 14) */
enum { SENSORS = 8, READINGS = SENSORS * 1000, EPISODES = 4000, RECORDS = 10 };
static const float zero[READINGS];

static int no_loop(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[i * b->inputs];
    return 0;
}

/* An estimator for the noise of a tick, or for a record; NULL: one tick. */
static certreg_estimator *opened(certreg_eval eval)
{
    static _Alignas(64) unsigned char memory[64 * 1024];
    certreg_model m = {sizeof m, .eval = eval, .inputs = READINGS, .outputs = 1};
    certreg_plan p = {sizeof p, .max_samples = EPISODES, .flags = CERTREG_PLAN_EPISODE};
    certreg_estimator *e = NULL;
    if (!eval) {
        m.inputs = SENSORS, m.batch = p.max_samples = 1, p.pilot = SIZE_MAX;
        p.memory = memory, p.memory_bytes = sizeof memory;
    }
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) exit(1);
    return e;
}

static void print_times(const char *what, size_t n)
{
    qsort(times, n, sizeof *times, bench_ascending);
    bench_print("| %s | %.3f ms | %.3f ms | %.3f ms |\n", what, 1e3 * times[n / 2],
                1e3 * times[n * 99 / 100], 1e3 * times[n - 1]);
}

static void measure_episodes(int ticks)
{
    const certreg_question q = {sizeof q, .tolerance = 3};
    float noisy[SENSORS];
    bench_begin("episode", "| | p50 | p99 | max |");
    for (int i = 0; i < ticks; i++) {
        const double begin = bench_now();
        certreg_estimator *e = opened(NULL); /* with a fresh seed */
        bench_must(e, certreg_estimator_begin(e, zero, 1, 0));
        bench_must(e, certreg_estimator_draw(e, 0, 1, noisy));
        times[i] = bench_now() - begin;
        certreg_estimator_destroy(e);
    }
    print_times("noise of 8 sensors in a tick, with a fresh seed", (size_t)ticks);
    certreg_estimator *e = opened(no_loop);
    for (uint64_t i = 0; i < RECORDS; i++) {
        certreg_certificate c = {.struct_size = sizeof c};
        const double begin = bench_now();
        bench_must(e, certreg_estimator_begin(e, zero, 1, i));
        bench_must(e, certreg_certify(e, EPISODES, &q, 1, &c));
        times[i] = bench_now() - begin;
    }
    certreg_estimator_destroy(e);
    print_times("all noise of 4,000 episodes of 1,000 such ticks", RECORDS);
    bench_end("episode");
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
    measure_episodes(ticks);
    bench_close();
    return 0;
}
