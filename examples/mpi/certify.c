/* mpirun -n RANKS certify INPUTS OUTPUT SIGMA TOLERANCE SAMPLES [OPTION VALUE]...
 *
 *     INPUTS     a file of float32, five for each row; rank 0 alone reads it
 *     OUTPUT     a new file: a line for each row, in the order in which they are done
 *     --row K    one input, whose samples are handed out instead of rows
 *     --chunk N  rows, or batches of samples, that are handed out at once: 8
 *     --seed N   of the noise; without it a secret one is drawn
 *
 * Certifies the median of the model of model.c. Rank 0 hands out and writes, and the others
 * compute, so start one more than there are cores; a rank that is alone does both. Row i has noise
 * id i, so that the certificates have the same bits on any number of ranks. A row whose model fails
 * is in the file with its error, the other rows are certified, and the status is 1. */
#include "certify.h"
#include <certreg/certreg.h>
#include <certreg/sampling.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { BATCH = 256, LINE = 1024 };

struct unit { /* rows, or samples of the one row */
    uint64_t first, count;
};
struct result { /* lines for the file, or outputs of the samples; none if the model failed */
    struct unit unit;
    char bytes[];
};
struct job {
    const char *inputs, *output;
    double sigma, tolerance;
    uint64_t samples, chunk, seed, row, one; /* one: whether --row is given */
    int rank, ranks;
    uint64_t rows, failed; /* of the inputs; of this rank */
    float *z, *x;          /* inputs; --row: noisy inputs of a unit */
    certreg_estimator *estimator;
    FILE *file; /* of rank 0 */
};

static int fail(const char *what, const char *why) /* prints a sentence: 1 */
{
    return fprintf(stderr, "certify: %s: %s\n", what, why), 1;
}

static int fail_row(const struct job *job, uint64_t row, const char *why)
{
    return fprintf(stderr, "certify: row %" PRIu64 ", rank %d: %s\n", row, job->rank, why), 1;
}

static int anywhere(int bad) /* whether it is bad on any rank */
{
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return bad;
}

/* ---- command line */
static int read_real(const char *text, const char *name, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (*text && !*end && isfinite(*out) && *out > 0) return 0;
    return fail(name, "it must be a number above 0");
}

static int read_whole(const char *text, const char *name, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= min && *out <= max) return 0;
    return fail(name, "it must be a whole number, and not too small or too large");
}

static int read_option(const char *name, const char *value, struct job *job)
{
    if (!strcmp(name, "--seed")) return read_whole(value, name, 1, UINT64_MAX, &job->seed);
    if (!strcmp(name, "--chunk")) return read_whole(value, name, 1, 4096, &job->chunk);
    if (strcmp(name, "--row") != 0) return fail(name, "there is no such option");
    job->one = 1;
    return read_whole(value, name, 0, UINT64_MAX, &job->row);
}

static int read_words(int count, char **word, struct job *job)
{
    if (count < 6 || count % 2)
        return fail("usage", "certify INPUTS OUTPUT SIGMA TOLERANCE SAMPLES "
                             "[--row K] [--chunk N] [--seed N]");
    job->inputs = word[1], job->output = word[2];
    int bad = read_real(word[3], "SIGMA", &job->sigma) ||
              read_real(word[4], "TOLERANCE", &job->tolerance) ||
              read_whole(word[5], "SAMPLES", 1, UINT64_MAX, &job->samples);
    for (int i = 6; i < count && !bad; i += 2) bad = read_option(word[i], word[i + 1], job);
    return bad;
}

/* ---- what all ranks must have in common */
static uint64_t digest(const void *data, size_t size) /* FNV-1a */
{
    uint64_t h = 1;
    for (const unsigned char *p = data; size--; p++) h = (h ^ *p) * 0x100000001b3;
    return h;
}

static uint64_t model_digest(void) /* of outputs at fixed points */
{
    float x[8 * INPUTS], y[8] = {0};
    for (int i = 0; i < 8 * INPUTS; i++) x[i] = (float)((i * 37 % 41) - 20) / 16;
    model_rows(8, x, y);
    return digest(y, sizeof y);
}

static int differs(const struct job *job)
{
    static const char *const names[] = {"version", "model", "SIGMA", "TOLERANCE",
                                        "SAMPLES", "chunk", "row",   "seed"};
    enum { COUNT = sizeof names / sizeof *names };
    const uint64_t mine[COUNT] = {certreg_version(),
                                  model_digest(),
                                  digest(&job->sigma, sizeof job->sigma),
                                  digest(&job->tolerance, sizeof job->tolerance),
                                  job->samples,
                                  job->chunk,
                                  job->one ? job->row + 1 : 0,
                                  job->seed};
    uint64_t first[COUNT];
    memcpy(first, mine, sizeof mine);
    MPI_Bcast(first, COUNT, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        if (mine[i] != first[i])
            return fprintf(stderr,
                           "certify: rank %d: it differs from rank 0 in its %s: start the same "
                           "program with the same arguments on all ranks\n",
                           job->rank, names[i]);
    return 0;
}

static int read_inputs(struct job *job) /* on rank 0 */
{
    const size_t row = INPUTS * sizeof(float);
    FILE *f = fopen(job->inputs, "rb");
    if (!f) return fail(job->inputs, strerror(errno));
    fseek(f, 0, SEEK_END);
    const size_t size = (size_t)ftell(f);
    rewind(f);
    job->rows = size / row;
    job->z = malloc(size + 1);
    const int whole = job->z && fread(job->z, 1, size, f) == size;
    fclose(f);
    if (!whole) return fail(job->inputs, "it cannot be read, or there is no memory for it");
    if (!size || size % row || job->rows > INT_MAX / INPUTS)
        return fail(job->inputs, "it does not hold five numbers of float32 for each of 1 to "
                                 "400 million rows");
    if (job->one && job->row >= job->rows) return fail("--row", "there is no such row");
    while (!job->seed)
        if (getrandom(&job->seed, sizeof job->seed, 0) < 0) return fail("a seed", strerror(errno));
    job->file = fopen(job->output, "wx");
    if (!job->file) return fail(job->output, strerror(errno));
    fputs("row,outcome,prediction,radius,samples,error\n", job->file);
    return 0;
}

static int model_eval(void *user, const certreg_batch *b)
{
    (void)user;
    return model_rows(b->rows, b->x, b->y);
}

static int open_job(struct job *job)
{
    if (anywhere(differs(job)) || anywhere(!job->rank && read_inputs(job))) return 1;
    MPI_Bcast(&job->seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(&job->rows, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (job->rank) job->z = malloc(job->rows * INPUTS * sizeof(float));
    job->x = malloc(job->chunk * BATCH * INPUTS * sizeof(float));
    if (anywhere(!job->z || !job->x)) return fail(job->inputs, "there is no memory for its rows");
    MPI_Bcast(job->z, (int)job->rows * INPUTS, MPI_FLOAT, 0, MPI_COMM_WORLD);
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = job->one ? NULL : model_eval,
                             .inputs = INPUTS,
                             .outputs = 1,
                             .batch = BATCH};
    const certreg_plan p = {
        .struct_size = sizeof p, .seed = job->seed, .max_samples = job->samples};
    certreg_error why = {.struct_size = sizeof why};
    if (anywhere(certreg_estimator_create(NULL, &m, &p, &why, &job->estimator) != 0))
        return fail("SAMPLES", why.text);
    if (job->one &&
        certreg_estimator_begin(job->estimator, job->z + job->row * INPUTS, job->sigma, job->row))
        return fail_row(job, job->row, certreg_estimator_error(job->estimator)->text);
    return 0;
}

/* ---- lines of the file */
static size_t write_certificate(char *line, uint64_t row, const certreg_certificate *c)
{
    static const char *const outcomes[] = {"abstained", "certified", "capped"};
    return (size_t)sprintf(line, "%" PRIu64 ",%s,%.17g,%.17g,%" PRIu64 ",\n", row,
                           outcomes[c->outcome], c->prediction, c->radius, c->samples);
}

static size_t write_failure(const struct job *job, char *line, uint64_t row)
{
    const certreg_error *error = certreg_estimator_error(job->estimator);
    char why[LINE - 64];
    snprintf(why, sizeof why, "%s %s", error->text,
             error->status == CERTREG_E_MODEL_FAILED ? model_why() : "");
    fail_row(job, row, why);
    for (char *p = why; *p; p++)
        if (*p == '"' || *p == '\n') *p = '\'';
    return (size_t)sprintf(line, "%" PRIu64 ",,,,,\"%s\"\n", row, why);
}

/* ---- a unit of work: each returns the bytes that it has written */
static size_t certify(struct job *job, struct unit u, char *lines)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = job->tolerance};
    char *at = lines;
    for (uint64_t row = u.first; row < u.first + u.count; row++) {
        certreg_certificate c = {.struct_size = sizeof c};
        const int bad =
            certreg_estimator_begin(job->estimator, job->z + row * INPUTS, job->sigma, row) ||
            certreg_certify(job->estimator, job->samples, &q, 1, &c);
        job->failed += (uint64_t)bad;
        at += bad ? write_failure(job, at, row) : write_certificate(at, row, &c);
    }
    return (size_t)(at - lines);
}

static size_t evaluate(struct job *job, struct unit u, float *y)
{
    char why[LINE];
    if (certreg_estimator_draw(job->estimator, u.first, u.count, job->x))
        return fail_row(job, job->row, certreg_estimator_error(job->estimator)->text), 0;
    if (!model_rows(u.count, job->x, y)) return u.count * sizeof *y;
    snprintf(why, sizeof why, "the model failed among samples %" PRIu64 " to %" PRIu64 ": %s",
             u.first, u.first + u.count - 1, model_why());
    return fail_row(job, job->row, why), 0;
}

static size_t work(struct job *job, struct result *r)
{
    return job->one ? evaluate(job, r->unit, (float *)r->bytes) : certify(job, r->unit, r->bytes);
}

/* Rank 0 records the samples, or writes the lines. */
static int take(struct job *job, const struct result *r, size_t size)
{
    if (!r->unit.count) return 0;
    if (!size) return 1;
    if (!job->one) {
        fwrite(r->bytes, 1, size, job->file);
        return fflush(job->file) ? fail(job->output, strerror(errno)) : 0;
    }
    if (!certreg_estimator_record(job->estimator, r->unit.first, r->unit.count,
                                  (const float *)r->bytes))
        return 0;
    return fail_row(job, job->row, certreg_estimator_error(job->estimator)->text);
}

/* ---- on demand: with its result a rank asks for the next unit, of which 0 are the end */
static size_t receive(void *to, int from, int *sender)
{
    const struct timespec a_moment = {.tv_nsec = 200000};
    MPI_Status s;
    int there = 0, bytes;
    /* A blocking receive of Open MPI takes a whole core while it waits. */
    while (MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, &s), !there) nanosleep(&a_moment, NULL);
    MPI_Get_count(&s, MPI_BYTE, &bytes);
    MPI_Recv(to, bytes, MPI_BYTE, *sender = s.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (size_t)bytes;
}

static struct unit next_unit(const struct job *job, uint64_t first)
{
    const uint64_t left = (job->one ? job->samples : job->rows) - first,
                   most = job->one ? job->chunk * BATCH : job->chunk;
    return (struct unit){first, left < most ? left : most};
}

static int hand_out(struct job *job, struct result *r)
{
    uint64_t first = 0;
    int bad = 0, rank;
    for (int working = job->ranks - 1; working;) {
        const size_t bytes = receive(r, MPI_ANY_SOURCE, &rank);
        bad = bad || take(job, r, bytes - sizeof *r);
        const struct unit u = bad ? (struct unit){0} : next_unit(job, first);
        first += u.count, working -= !u.count;
        MPI_Send(&u, sizeof u, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
    }
    return bad;
}

static void work_on_demand(struct job *job, struct result *r)
{
    int rank;
    *r = (struct result){{0}};
    for (size_t size = 0;; size = work(job, r)) {
        MPI_Send(r, (int)(sizeof *r + size), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        receive(&r->unit, 0, &rank);
        if (!r->unit.count) return;
    }
}

static int work_alone(struct job *job, struct result *r)
{
    int bad = 0;
    for (uint64_t first = 0; !bad; first += r->unit.count) {
        r->unit = next_unit(job, first);
        if (!r->unit.count) break;
        bad = take(job, r, work(job, r));
    }
    return bad;
}

/* ---- the end, on rank 0 */
static int finish(struct job *job, uint64_t failed)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = job->tolerance};
    certreg_certificate c = {.struct_size = sizeof c};
    char line[LINE];
    if (job->one && certreg_certify(job->estimator, 0, &q, 1, &c))
        return fail_row(job, job->row, certreg_estimator_error(job->estimator)->text);
    if (job->one) fwrite(line, 1, write_certificate(line, job->row, &c), job->file);
    if (fflush(job->file)) return fail(job->output, strerror(errno));
    printf("%" PRIu64 " rows, %" PRIu64 " failed: %s\n", job->one ? 1 : job->rows, failed,
           job->output);
    return failed > 0;
}

static int run(struct job *job)
{
    const size_t most = job->one ? job->chunk * BATCH * sizeof(float) : job->chunk * LINE;
    struct result *r = malloc(sizeof *r + most);
    uint64_t failed = 0;
    int bad = 0;
    if (anywhere(!r)) return free(r), fail("--chunk", "there is no memory for so many at once");
    if (job->rank) work_on_demand(job, r);
    else bad = job->ranks == 1 ? work_alone(job, r) : hand_out(job, r);
    free(r);
    MPI_Reduce(&job->failed, &failed, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return bad || (!job->rank && finish(job, failed));
}

int main(int argc, char **argv)
{
    struct job job = {.chunk = 8};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    const int bad = anywhere(read_words(argc, argv, &job)) || anywhere(open_job(&job)) ||
                    anywhere(run(&job));
    certreg_estimator_destroy(job.estimator);
    if (job.file) fclose(job.file);
    free(job.z), free(job.x);
    MPI_Finalize();
    return bad;
}
