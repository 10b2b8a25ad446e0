/* mpirun -n RANKS certify INPUTS OUTPUT SIGMA TOLERANCE SAMPLES [OPTION VALUE]...
 *
 *     INPUTS           a file of float32, five for each row; rank 0 alone reads it
 *     OUTPUT           a line of JSON for each row that is done, in no order. The same command does
 *                      the rows that are missing, also after SIGKILL
 *     --target RADIUS  sampling stops once this radius is proved or out of reach
 *     --row K          one input, whose samples are handed out instead of rows; OUTPUT.record has
 *                      its outputs up to the last look
 *     --chunk N        rows, or batches of samples, that are handed out at once: 8
 *     --seed N         without it that of OUTPUT, or if this is new a secret one
 *     --slope S        a constant of the model: 1
 *
 * Certifies the median of the model of model.c. Rank 0 hands out and writes; the others compute, so
 * start one more than there are cores. Row i has noise id i, so that the certificates have the same
 * bits on any number of ranks. Every failure is a sentence, with the row and rank where it has
 * some; the status is then not 0, and rows that were written stay. */
#include "certify.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

certreg_estimator *estimator(const struct request *q, certreg_eval eval)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = eval, .inputs = INPUTS, .outputs = 1, .batch = BATCH};
    const certreg_plan p = {.struct_size = sizeof p, .seed = q->seed, .max_samples = q->samples};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) fail("SAMPLES", why.text, NULL);
    return e;
}

/* ---- command line */
static int read_real(const char *text, const char *name, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (*text && !*end && isfinite(*out) && *out > 0) return 0;
    return fail(name, "it must be a number above 0", NULL);
}

static int read_whole(const char *text, const char *name, uint64_t least, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= least) return 0;
    return fail(name, "it must be a whole number, and not too small or too large", NULL);
}

static int read_option(const char *name, const char *value, struct request *q)
{
    if (!strcmp(name, "--target")) return read_real(value, name, &q->target);
    if (!strcmp(name, "--slope")) return read_real(value, name, &model_slope);
    if (!strcmp(name, "--seed")) return read_whole(value, name, 1, &q->seed);
    if (!strcmp(name, "--chunk")) return read_whole(value, name, 1, &q->chunk);
    if (strcmp(name, "--row") != 0) return fail(name, "there is no such option", NULL);
    q->rows = 1;
    return read_whole(value, name, 0, &q->row);
}

static int read_words(int count, char **word, struct request *q)
{
    if (count < 6 || count % 2)
        return fail("usage",
                    "certify INPUTS OUTPUT SIGMA TOLERANCE SAMPLES [--target RADIUS] "
                    "[--row K] [--chunk N] [--seed N] [--slope S]",
                    NULL);
    *q = (struct request){.inputs = word[1], .output = word[2], .chunk = 8};
    int bad = read_real(word[3], "SIGMA", &q->sigma) ||
              read_real(word[4], "TOLERANCE", &q->tolerance) ||
              read_whole(word[5], "SAMPLES", 1, &q->samples);
    for (int i = 6; i < count && !bad; i += 2) bad = read_option(word[i], word[i + 1], q);
    if (!bad && q->chunk > 4096)
        return fail("--chunk", "it is above 4096", "hand out less at once");
    return bad;
}

/* ---- what all ranks must have in common */
static int differs(const struct request *q, int rank)
{
    static const char *const names[] = {"version", "model", "seed", "arguments"};
    const double numbers[] = {q->sigma, q->tolerance, q->target};
    const uint64_t whole[] = {q->samples, q->chunk, q->row, q->rows};
    const uint64_t mine[] = {certreg_version(), model_digest(1), q->seed,
                             digest(digest(1, numbers, sizeof numbers), whole, sizeof whole)};
    uint64_t first[4];
    memcpy(first, mine, sizeof mine);
    MPI_Bcast(first, 4, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        if (mine[i] != first[i])
            return fprintf(stderr,
                           "certify: rank %d: it differs from rank 0 in its %s: start the "
                           "same program with the same arguments on all ranks\n",
                           rank, names[i]);
    return 0;
}

/* ---- the inputs */
static int open_inputs(struct job *job, struct request *q)
{
    unsigned char part[1 << 16];
    uint64_t h = 1, bytes = 0;
    ssize_t n = 0;
    job->inputs = open(q->inputs, O_RDONLY);
    while (job->inputs >= 0 && (n = read(job->inputs, part, sizeof part)) > 0)
        h = digest(h, part, (size_t)n), bytes += (uint64_t)n;
    if (job->inputs < 0 || n < 0) return fail(q->inputs, strerror(errno), NULL);
    const uint64_t rows = bytes / sizeof(float) / INPUTS;
    if (!rows || bytes % (INPUTS * sizeof(float)))
        return fail(q->inputs, "it does not hold five numbers of float32 for each row", NULL);
    if (q->rows && q->row >= rows) return fail("--row", "there is no such row", NULL);
    return table_open(&job->table, q, h, rows);
}

static int run(struct job *job, struct request *q)
{
    if (anywhere(differs(q, job->rank)) || anywhere(!job->rank && open_inputs(job, q))) return 1;
    MPI_Bcast(&q->seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return q->rows ? run_samples(job) : run_rows(job);
}

int main(int argc, char **argv)
{
    struct request q;
    struct job job = {.request = &q, .inputs = -1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    certreg_estimator *trial = NULL;
    const int wrong = read_words(argc, argv, &q) || !(trial = estimator(&q, NULL));
    const int bad = anywhere(wrong) || run(&job, &q);
    certreg_estimator_destroy(trial);
    free(job.table.done);
    if (job.table.file) fclose(job.table.file);
    if (job.inputs >= 0) close(job.inputs);
    MPI_Finalize();
    return fflush(stdout) != 0 ? fail("standard output", strerror(errno), NULL) : bad;
}
