/* The control loop of examples/control_loop in real time, with locked memory and a real-time
 * priority where that is permitted: how long is it from the planned beginning of a tick to the
 * force, and how many ticks miss their end? Every tick takes a new certificate. Time that the
 * hypervisor stole is measured too; with more than 1 % a run is repeated, at most twice. Then ticks
 * of services, in simulated time and for a minute in real time; and the answers of certify after
 * the last sample, which a deadline has to leave time for.
 * Usage: bench_latency [TICKS [tables.md]]; the tables are kept from 100,000 ticks on */
#include "bench.h"
#include "control_loop/control_loop.h"
#include <certreg/sampling.h>
#include <sched.h>
#include <sys/mman.h>

enum { MOST = 100000, SIMULATED = 10 * MOST };
static double times[SIMULATED]; /* seconds */

/* ---- the system */
static int has_priority(int wanted)
{
    const struct sched_param priority = {.sched_priority = wanted ? 50 : 0};
    return !sched_setscheduler(0, wanted ? SCHED_FIFO : SCHED_OTHER, &priority);
}

static void prepare(int ticks)
{
    printf("%d ticks; memory locked: %s", ticks, mlockall(MCL_CURRENT | MCL_FUTURE) ? "no" : "yes");
    printf("; SCHED_FIFO: %s\n", has_priority(1) ? "yes" : "no");
}

/* Of this thread: what else runs does not count. */
static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

/* ---- services */
enum { SENSORS = 8, RUN = 1000, READINGS = SENSORS * RUN, EPISODES = 4000, SERVED = 101 };
static const float zero[READINGS];
static const certreg_serving serving = {
    .struct_size = sizeof serving, .samples = SERVED, .failure_rate = 0.01};

static int no_loop(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[i * b->inputs];
    return 0;
}

static certreg_estimator *opened(size_t inputs, size_t samples, uint32_t flags, size_t batch)
{
    const certreg_model m = {sizeof m, .eval = no_loop, .inputs = inputs, .outputs = 1,
                             .batch = batch};
    const certreg_plan p = {sizeof p, .max_samples = samples, .flags = flags};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) exit(1);
    return e;
}

/* A service of an episode, of served medians, or of a prediction. */
static certreg_service *served(uint32_t flags, const certreg_serving *serves)
{
    const certreg_question q = {sizeof q, .tolerance = 3, .serving = serves};
    const certreg_service_plan p = {sizeof p, .ticks = flags ? RUN : 0, .deadline = 0.004};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_service *s = NULL;
    certreg_estimator *e = opened(flags ? READINGS : SENSORS, EPISODES, flags, SERVED);
    bench_must(e, certreg_estimator_begin(e, zero, 1, 0));
    bench_must(e, certreg_certify(e, EPISODES, &q, 1, &c));
    if (certreg_service_create(e, &q, &c, &p, NULL, &s)) exit(1);
    certreg_estimator_destroy(e);
    return s;
}

static double tick(certreg_service *s, int is_episode, int i)
{
    float noisy[SENSORS];
    double action;
    const double begin = bench_now();
    if (i % RUN == 0) certreg_service_start(s, 0);
    if (is_episode ? certreg_service_sense(s, zero, noisy, NULL)
                   : certreg_service_act(s, zero, &action, NULL))
        exit(1);
    return bench_now() - begin;
}

/* Ticks in simulated time, and then every 5 ms. Without a pause the system interrupts a real-time
 * priority for 50 ms in each second. */
static void measure_service(const char *what, certreg_service *s, int is_episode, int ticks,
                            int real)
{
    const double period = 0.005;
    double late = 0, most = 0;
    has_priority(0);
    for (int i = 0; i < ticks; i++) times[i] = tick(s, is_episode, i);
    has_priority(1);
    qsort(times, (size_t)ticks, sizeof *times, bench_ascending);
    double begin = bench_now();
    for (int i = 0; i < real; i++) {
        begin = fmax(begin + period, bench_now());
        sleep_until(begin);
        tick(s, is_episode, i);
        const double seconds = bench_now() - begin;
        late += seconds > period;
        most = fmax(most, seconds);
    }
    const size_t n = (size_t)ticks;
    bench_print("| %s | %.4f ms | %.4f ms | %.3f ms | %.3f ms | %.0f |\n", what, 1e3 * times[n / 2],
                1e3 * times[n * 99 / 100], 1e3 * times[n - 1], 1e3 * most, late);
    certreg_service_destroy(s);
}

static void measure_services(int ticks, int real)
{
    bench_begin("services", "| | p50 | p99 | max | max in real time | late |");
    measure_service("noise of 8 sensors", served(CERTREG_PLAN_EPISODE, NULL), 1, ticks, real);
    measure_service("prediction within the ball", served(0, NULL), 0, ticks, real);
    measure_service("median of 101 fresh samples", served(0, &serving), 0, ticks, real);
    bench_end("services");
}

/* ---- answers after the last sample */
enum { OUTPUTS = 6, QUESTIONS = 16, RECORDS = 50 };

static int six(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows * OUTPUTS; i++)
        b->y[i] = b->x[i / OUTPUTS * b->inputs + i % OUTPUTS];
    return 0;
}

/* The longest time of the answers to `count` questions about as many samples. */
static double longest(certreg_question q, size_t samples, size_t count)
{
    const double lo[OUTPUTS] = {-9, -9, -9, -9, -9, -9}, hi[OUTPUTS] = {9, 9, 9, 9, 9, 9};
    const certreg_model m = {sizeof m,           .eval = six, .inputs = SENSORS,
                             .outputs = OUTPUTS, .lo = lo,    .hi = hi};
    const certreg_plan p = {sizeof p, .max_samples = samples};
    certreg_question each[QUESTIONS];
    certreg_certificate c[QUESTIONS] = {{.struct_size = sizeof *c}};
    certreg_estimator *e = NULL;
    double most = 0;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) exit(1);
    for (size_t k = 0; k < count; k++) {
        each[k] = q;
        if (count > 1) each[k].output = (int32_t)(k % OUTPUTS);
        each[k].tolerance = q.tolerance + 0.1 * (double)(k / OUTPUTS);
    }
    for (uint64_t i = 0; i < RECORDS; i++) {
        bench_must(e, certreg_estimator_begin(e, zero, 1, i));
        bench_must(e, certreg_estimator_sample(e, 0, samples));
        const double begin = processor_seconds();
        bench_must(e, certreg_certify(e, 0, each, count, c));
        most = fmax(most, processor_seconds() - begin);
    }
    certreg_estimator_destroy(e);
    return most;
}

static void measure_answers(void)
{
    const certreg_question median = {sizeof median, .tolerance = 3};
    certreg_question q = median;
    const struct {
        const char *what;
        certreg_question q;
        size_t count;
    } rows[] = {{"a median", q, 1},
                {"medians of 6 outputs", q, OUTPUTS},
                {"16 medians", q, QUESTIONS},
                {"a served median", (q.serving = &serving, q), 1},
                {"a vector of 3 outputs", (q = median, q.output_count = 3, q), 1},
                {"a Huber location",
                 (q = median, q.statistic = CERTREG_STATISTIC_HUBER, q.huber_width = 1.5, q), 1},
                {"a mean", (q = median, q.statistic = CERTREG_STATISTIC_MEAN, q), 1}};
    bench_begin("answers", "| | 256 samples | 1,000 | 4,000 | 10,000 |");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        bench_print("| %s | %.2f ms | %.2f ms | %.2f ms | %.2f ms |\n", rows[i].what,
                    1e3 * longest(rows[i].q, 256, rows[i].count),
                    1e3 * longest(rows[i].q, 1000, rows[i].count),
                    1e3 * longest(rows[i].q, 4000, rows[i].count),
                    1e3 * longest(rows[i].q, 10000, rows[i].count));
    bench_end("answers");
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
    measure_services(ticks == MOST ? SIMULATED : ticks, ticks == MOST ? 12000 : ticks / 10);
    measure_answers();
    bench_close();
    return 0;
}
