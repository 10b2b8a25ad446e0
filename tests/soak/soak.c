/* soak COUNT: makes COUNT certificates of many kinds, and in between everything else that a
 * long-running program does. At the end the process must be as it was after a tenth of them: no
 * more memory, files or threads, and no allocation outside of *_create. The questions asked first
 * must have the same answers, bit by bit. Public interface only. */
#include <certreg/attack.h>
#include <certreg/backend.h>
#include <certreg/interval.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include "support/counting_malloc.h"
#include "support/names.h"
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { INPUTS = 3, LEAST = 96, MOST = 200, PILOT = 24, CALLS = 256, POINTS = 60, FIRST = 300 };
enum { NUMBER, VECTOR, ESTIMATORS }; /* one real output; two of them and an angle */

static struct {
    certreg_backend *backend;
    certreg_estimator *e[ESTIMATORS], *other;
    certreg_attack *attack;
    certreg_solver *solver;
    certreg_bisection *bisection;
    double scores[POINTS * CERTREG_CALIBRATION_SCORES], from[MOST], to[MOST];
    certreg_calibration points;
    certreg_rule rule;
    unsigned char record[3 * 4 * MOST + 256];
    int broken;      /* whether the model fails */
    long allocated;  /* by calls that must not */
    long wrong;      /* calls that said something else than they had to */
    uint64_t digest; /* of every answer so far */
    long certified;
} all;

static void expect(certreg_status status, certreg_status expected, const char *call)
{
    if (status == expected) return;
    if (!all.wrong++)
        printf("%s: %s, not %s\n", call, certreg_status_text(status),
               certreg_status_text(expected));
}
#define EXPECT(call, expected) expect(call, expected, #call)

static void remember(const void *bytes, size_t count)
{
    for (const unsigned char *p = bytes; count--; p++)
        all.digest = (all.digest ^ *p) * UINT64_C(0x100000001b3);
}

/* ---- handles */
static int model(void *user, const certreg_batch *b)
{
    (void)user;
    if (all.broken == 1) return 7;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        float *y = b->y + i * b->columns;
        const float u = x[0] + 0.5f * x[1] * x[2];
        y[0] = all.broken == 2 ? NAN : fmaxf(-3, fminf(3, u));
        if (b->columns > 1) y[1] = fmaxf(-3, fminf(3, 0.5f * x[2])), y[2] = 40 * u;
    }
    return 0;
}

static certreg_status open_estimator(int which, certreg_backend *backend, certreg_estimator **e)
{
    static const int32_t kind[] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};
    static const double lo[] = {-3, -3, -180}, hi[] = {3, 3, 180};
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = model,
                             .inputs = INPUTS,
                             .outputs = which == NUMBER ? 1 : 3,
                             .batch = 32,
                             .kind = kind,
                             .lo = lo,
                             .hi = hi};
    const certreg_plan p = {.struct_size = sizeof p,
                            .constraints = CERTREG_CONSTRAINTS_ECGM,
                            .seed = 5,
                            .max_samples = MOST,
                            .pilot = PILOT};
    return certreg_estimator_create(backend, &m, &p, NULL, e);
}

static void open_attack(certreg_attack **attack)
{
    const certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = CALLS};
    EXPECT(certreg_attack_create(all.e[NUMBER], &p, NULL, attack), CERTREG_OK);
}

static void open_all(void)
{
    EXPECT(certreg_backend_open_cpu(2, NULL, &all.backend), CERTREG_OK);
    for (int i = 0; i < ESTIMATORS; i++)
        EXPECT(open_estimator(i, all.backend, &all.e[i]), CERTREG_OK);
    EXPECT(open_estimator(NUMBER, NULL, &all.other), CERTREG_OK);
    EXPECT(certreg_solver_create(NULL, NULL, &all.solver), CERTREG_OK);
    EXPECT(certreg_bisection_create(NULL, NULL, &all.bisection), CERTREG_OK);
    open_attack(&all.attack);
}

static void close_all(void)
{
    certreg_attack_destroy(all.attack);
    certreg_bisection_destroy(all.bisection), certreg_solver_destroy(all.solver);
    for (int i = 0; i < ESTIMATORS; i++) certreg_estimator_destroy(all.e[i]);
    certreg_estimator_destroy(all.other);
    certreg_backend_close(all.backend);
}

/* ---- one certificate */
static const certreg_serving served = {
    .struct_size = sizeof served, .samples = 51, .failure_rate = 0.1};
static const certreg_target target = {.struct_size = sizeof target, .radius = 0.1};
static const struct {
    int of;
    certreg_question q;
} asked[] = {
    {NUMBER, {.tolerance = 1}},
    {NUMBER, {.tolerance = 1.5, .serving = &served}},
    {VECTOR, {.tolerance = 45, .output = 2}},
    {NUMBER, {.tolerance = 1.5, .statistic = TRIMMED_MEAN, .method = BASELINE, .serving = &served}},
    {NUMBER, {.tolerance = 1, .method = BASELINE}},
    /* those that take longer */
    {NUMBER, {.tolerance = 1, .constraints = ECGM}},
    {NUMBER, {.tolerance = 1, .method = ANYTIME}},
    {NUMBER, {.tolerance = 1, .method = ANYTIME, .target = &target}},
    {NUMBER, {.tolerance = 1, .statistic = MEAN, .method = ASYMPTOTIC}},
    {NUMBER, {.tolerance = 1, .statistic = MEAN, .method = PAPER, .center = TRUE_MEAN}},
    {NUMBER, {.tolerance = 1, .statistic = HUBER, .method = ASYMPTOTIC, .huber_width = 0.5}},
    {VECTOR, {.tolerance = 45, .output = 2, .statistic = CIRCULAR_MEAN, .method = ASYMPTOTIC}},
    {VECTOR, {.tolerance = 2, .output_count = 2}},
    {NUMBER, {.tolerance = 1.5, .statistic = MEAN}},
};
enum { ASKED = sizeof asked / sizeof *asked };

/* One in 31 is of those that take longer. */
static int kind_of(uint64_t i)
{
    enum { QUICK = 5 };
    return (int)(i % 31 ? i % QUICK : QUICK + i / 31 % (ASKED - QUICK));
}

static certreg_question question(int kind)
{
    certreg_question q = asked[kind].q;
    q.struct_size = sizeof q;
    return q;
}

static void begin(certreg_estimator *e, uint64_t i)
{
    const float z[INPUTS] = {0.01f * (float)(i % 97), -0.5f, 0.02f * (float)(i % 31)};
    EXPECT(certreg_estimator_begin(e, z, 0.25 + 0.05 * (double)(i % 5), i), CERTREG_OK);
}

static certreg_certificate certify(certreg_estimator *e, uint64_t i, size_t samples)
{
    const certreg_question q = question(kind_of(i));
    certreg_certificate c = {.struct_size = sizeof c};
    EXPECT(certreg_certify(e, samples, &q, 1, &c), CERTREG_OK);
    all.certified += c.outcome != CERTREG_OUTCOME_ABSTAINED;
    return c;
}

static void one(uint64_t i)
{
    certreg_estimator *e = all.e[asked[kind_of(i)].of];
    begin(e, i);
    const certreg_certificate c = certify(e, i, LEAST + 8 * (i % 14));
    remember(&c, sizeof c);
}

/* ---- what happens in between; i is the number of the certificate before, in the records */
static void move_a_record(uint64_t i)
{
    size_t bytes = sizeof all.record;
    certreg_run run = {.struct_size = sizeof run};
    if (asked[kind_of(i)].of != NUMBER) return;
    EXPECT(certreg_estimator_export(all.e[NUMBER], all.record, &bytes), CERTREG_OK);
    EXPECT(certreg_estimator_info(all.e[NUMBER], &run), CERTREG_OK);
    begin(all.other, i);
    EXPECT(certreg_estimator_import(all.other, all.record, bytes), CERTREG_OK);
    const certreg_certificate a = certify(all.e[NUMBER], i, 0), b = certify(all.other, i, 0);
    all.wrong += memcmp(&a, &b, sizeof a) != 0;
    all.record[bytes / 2] ^= 1;
    EXPECT(certreg_estimator_import(all.other, all.record, bytes), CERTREG_E_CORRUPT);
}

static void cancel(uint64_t i)
{
    begin(all.e[NUMBER], i);
    certreg_estimator_cancel(all.e[NUMBER]);
    EXPECT(certreg_estimator_sample(all.e[NUMBER], 0, MOST), CERTREG_E_CANCELLED);
    EXPECT(certreg_estimator_set_deadline(all.e[NUMBER], -1), CERTREG_OK);
    EXPECT(certreg_estimator_sample(all.e[NUMBER], 0, MOST), CERTREG_E_DEADLINE);
    EXPECT(certreg_estimator_set_deadline(all.e[NUMBER], 0), CERTREG_OK);
    EXPECT(certreg_estimator_sample(all.e[NUMBER], 0, MOST), CERTREG_OK);
}

static void fail(uint64_t i)
{
    begin(all.e[VECTOR], i);
    all.broken = 1;
    EXPECT(certreg_estimator_sample(all.e[VECTOR], 0, MOST), CERTREG_E_MODEL_FAILED);
    all.broken = 2;
    EXPECT(certreg_estimator_sample(all.e[VECTOR], 0, MOST), CERTREG_E_NOT_FINITE);
    all.broken = 0;
    EXPECT(certreg_estimator_sample(all.e[VECTOR], 0, MOST), CERTREG_OK);
}

static void solve(uint64_t i)
{
    const certreg_bounds u = {.struct_size = sizeof u,
                              .constraints = CERTREG_CONSTRAINTS_CG,
                              .sigma = 0.5,
                              .variance_hi = 0.2 + 0.01 * (double)(i % 7),
                              .gradient_hi = 0.3};
    certreg_mean_change change = {.struct_size = sizeof change};
    certreg_radius radius = {.struct_size = sizeof radius};
    EXPECT(certreg_solver_worst_case(all.solver, &u, 0, 0.3, &change), CERTREG_OK);
    EXPECT(certreg_bisection_within(all.bisection, &u, 0, 0.3, &radius), CERTREG_OK);
    remember(&change, sizeof change), remember(&radius, sizeof radius);
}

static void attack(uint64_t i)
{
    const certreg_question q = question(0);
    const certreg_attack_options o = {.struct_size = sizeof o, .calls = CALLS, .number = i};
    certreg_attack_result r = {.struct_size = sizeof r};
    begin(all.e[NUMBER], i);
    EXPECT(certreg_estimator_sample(all.e[NUMBER], 0, MOST), CERTREG_OK);
    EXPECT(certreg_attack_run(all.attack, &q, &o, NULL, &r), CERTREG_OK);
    remember(&r, sizeof r);
}

static void predict(uint64_t i)
{
    certreg_interval set = {.struct_size = sizeof set};
    begin(all.e[NUMBER], 5 * POINTS + i);
    EXPECT(certreg_estimator_sample(all.e[NUMBER], 0, LEAST), CERTREG_OK);
    EXPECT(certreg_estimator_interval(all.e[NUMBER], &all.points, &all.rule, 0, all.from, all.to,
                                      MOST, &set),
           CERTREG_OK);
    remember(&set, sizeof set);
}

static void calibrate(void)
{
    const double truth = 0.25;
    all.points = (certreg_calibration){
        .struct_size = sizeof all.points, .capacity = POINTS, .scores = all.scores};
    for (uint64_t i = 0; i < POINTS; i++) {
        begin(all.e[NUMBER], 5 * i);
        EXPECT(certreg_estimator_sample(all.e[NUMBER], 0, LEAST), CERTREG_OK);
        EXPECT(certreg_estimator_calibrate(all.e[NUMBER], &all.points, &truth), CERTREG_OK);
    }
    const certreg_coverage coverage = {.struct_size = sizeof coverage,
                                       .alpha = 0.1,
                                       .radius = 0.05,
                                       .samples = all.points.samples};
    all.rule.struct_size = sizeof all.rule;
    EXPECT(certreg_interval_rule(&coverage, &all.points, NULL, &all.rule), CERTREG_OK);
}

/* The only part that may allocate: everything it takes it gives back. */
static void create_and_destroy(void)
{
    certreg_estimator *e = NULL;
    certreg_backend *backend = NULL;
    certreg_attack *a = NULL;
    certreg_solver *s = NULL;
    EXPECT(certreg_backend_open_cpu(3, NULL, &backend), CERTREG_OK);
    EXPECT(open_estimator(VECTOR, backend, &e), CERTREG_OK);
    EXPECT(certreg_solver_create(NULL, NULL, &s), CERTREG_OK);
    open_attack(&a);
    certreg_attack_destroy(a), certreg_solver_destroy(s);
    certreg_estimator_cancel(e); /* pending */
    certreg_estimator_destroy(e);
    certreg_backend_close(backend);
}

static void in_between(uint64_t i)
{
    if (i % 9 == 0) move_a_record(i);
    if (i % 23 == 0) cancel(i);
    if (i % 29 == 0) fail(i);
    if (i % 101 == 0) solve(i);
    if (i % 503 == 0) attack(i);
    if (i % 50 == 0) predict(i);
}

static void step(uint64_t i)
{
    watch(0);
    one(i);
    in_between(i);
    unwatch();
    all.allocated += taken;
    if (i % 97 == 0) create_and_destroy();
}

/* ---- the process */
static long entries(const char *folder)
{
    long count = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) count++;
    if (d) closedir(d);
    return count;
}

/* Anonymous memory: of the files that are mapped the system keeps what it likes. It is counted page
 * by page, unlike that of /proc/self/statm, which each processor rounds. */
static long own_bytes(void)
{
    char text[2048] = {0};
    const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    const ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    const char *line = bytes > 0 ? strstr(text, "Anonymous:") : NULL;
    return line ? 1024 * strtol(line + strlen("Anonymous:"), NULL, 10) : -1;
}

typedef struct process {
    long bytes, files, threads;
} process;

static process now(void)
{
    return (process){own_bytes(), entries("/proc/self/fd"), entries("/proc/self/task")};
}

/* ---- the run */
static int bad;

static void tell(int good, const char *what, long before, long after)
{
    printf("%s %s: %ld, %ld\n", good ? "ok" : "not ok", what, before, after);
    bad |= !good;
}

static uint64_t first_ones(void)
{
    const uint64_t before = all.digest;
    const long certified = all.certified;
    all.digest = UINT64_C(0xcbf29ce484222325);
    for (uint64_t i = 0; i < FIRST; i++) step(i);
    const uint64_t digest = all.digest;
    all.digest = before, all.certified = certified;
    return digest;
}

int main(int count, char **arguments)
{
    char *end = "";
    const double wanted = count == 2 ? strtod(arguments[1], &end) : 0;
    if (*end || !(wanted >= 10 * FIRST && wanted <= 1e12))
        return fprintf(stderr,
                       "soak: give a number of certificates from %d to 1e12, as in SOAK=1e6\n",
                       10 * FIRST),
               2;
    const uint64_t many = (uint64_t)wanted, warm = many / 10;
    const int counts = interposed();
    open_all();
    calibrate();
    const uint64_t begun = first_ones();
    for (uint64_t i = 0; i < warm; i++) step(i);
    now(); /* what the C library keeps for this is there from now on */
    const process before = now();
    for (uint64_t i = warm; i < many; i++) step(i);
    const process after = now();
    const uint64_t ended = first_ones();
    printf("%llu certificates, %ld not abstained, digest %016llx\n", (unsigned long long)many,
           all.certified, (unsigned long long)all.digest);
    tell(!all.wrong, "every call said what it had to; others", 0, all.wrong);
    tell(begun == ended, "the first questions are answered as at first; digests",
         (long)(begun >> 32), (long)(ended >> 32));
    if (counts) tell(!all.allocated, "allocations outside of create", 0, all.allocated);
    else printf("skip allocations: another malloc is in use\n");
    if (before.bytes > 0)
        tell(after.bytes - before.bytes < 65536, "bytes in memory", before.bytes, after.bytes);
    else printf("skip bytes in memory: this kernel has no /proc/self/smaps_rollup\n");
    tell(before.files == after.files && before.files > 2, "open files", before.files, after.files);
    tell(before.threads == after.threads, "threads", before.threads, after.threads);
    close_all();
    return bad;
}
