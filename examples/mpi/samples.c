/* One hard input: a unit of work is a range of its samples, whose noise the rank draws itself. Rank
 * 0 merges the outputs into one record. At the looks, which are fixed beforehand, it waits until
 * all samples up to the look are there, evaluates, and saves the record: a target radius is one
 * closed test (theory 6.7), and bits depend on no number of ranks. */
#include "certify.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LOOKS = 64 };
struct samples {
    struct job *job;
    certreg_estimator *estimator;
    float *x;          /* a rank's noisy inputs */
    float z[INPUTS];   /* rank 0, like what follows */
    char record[4096]; /* path */
    uint64_t looks[MOST_LOOKS], known, handed, merged;
    uint32_t count, at; /* looks, of which this one is next */
    int finished;
};

/* More than a fifth of all samples, which is beyond the pilot, then about 10% more each. */
static void fix_looks(struct samples *w, uint64_t samples, uint64_t step)
{
    uint64_t n = (samples / 5 / step + 1) * step;
    for (w->count = 0; n < samples && w->count < MOST_LOOKS - 1; n += (n / 10 / step + 1) * step)
        w->looks[w->count++] = n;
    w->looks[w->count++] = samples;
}

static int fail_here(const struct samples *w, int64_t rank, const char *text)
{
    char who[TEXT];
    snprintf(who, sizeof who, "row %" PRIu64 ", rank %" PRId64, w->job->request->row, rank);
    return w->job->bad = fail(who, text, NULL);
}

/* ---- the record's file, which always has a whole record */
static int save(struct samples *w)
{
    char fresh[sizeof w->record + 4];
    size_t size = 0;
    certreg_estimator_export(w->estimator, NULL, &size);
    void *data = malloc(size);
    if (!data || certreg_estimator_export(w->estimator, data, &size))
        return free(data), fail_here(w, 0, "the record cannot be exported");
    snprintf(fresh, sizeof fresh, "%s.new", w->record);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int bad = fd < 0 || file_write(fd, data, size, 1);
    const int why = errno;
    free(data);
    if (!(fd >= 0 && close(fd)) && !bad && !rename(fresh, w->record)) return 0;
    return w->job->bad = fail(w->record, strerror(bad ? why : errno),
                              "make room and start again, which goes on at the last look");
}

static int load(struct samples *w)
{
    FILE *f = fopen(w->record, "rb");
    if (!f) return errno == ENOENT ? 0 : fail(w->record, strerror(errno), NULL);
    fseek(f, 0, SEEK_END);
    const size_t size = (size_t)ftell(f);
    void *data = malloc(size + 1);
    rewind(f);
    const int whole = data && fread(data, 1, size, f) == size;
    const certreg_status status = whole ? certreg_estimator_import(w->estimator, data, size) : 0;
    free(data), fclose(f);
    if (!whole) return fail(w->record, "it cannot be read", NULL);
    if (status)
        return fail(w->record, certreg_estimator_error(w->estimator)->text,
                    "remove it to begin again");
    certreg_run run = {.struct_size = sizeof run};
    certreg_estimator_info(w->estimator, &run);
    w->known = w->handed = w->merged = run.samples;
    return 0;
}

/* ---- rank 0 */
static int look(struct samples *w)
{
    const struct request *a = w->job->request;
    const int last = ++w->at == w->count;
    const certreg_target target = {
        .struct_size = sizeof target, w->count, a->target, .looks = w->looks};
    const certreg_question q = {.struct_size = sizeof q,
                                .tolerance = a->tolerance,
                                .target = a->target > 0 ? &target : NULL};
    certreg_certificate c = {.struct_size = sizeof c};
    if ((q.target || last) && certreg_certify(w->estimator, q.target ? w->merged : 0, &q, 1, &c))
        return fail_here(w, 0, certreg_estimator_error(w->estimator)->text);
    /* Saved before anybody sees the answer, so that the record knows that it was evaluated. */
    if (save(w)) return 1;
    if (!last && c.stop == CERTREG_STOP_ALL) return 0;
    char line[LINE];
    w->finished = 1;
    if (table_add(&w->job->table, line, write_line(line, a->row, &c)) ||
        table_add(&w->job->table, line, 0))
        return w->job->bad = 1;
    printf("row %" PRIu64 ": within %g of %.17g for every shift below %.17g; %" PRIu64
           " samples, %" PRIu64 " of them from an earlier job\n",
           a->row, c.tolerance, c.prediction, c.radius, c.samples, w->known);
    return 0;
}

static int next(void *self, struct unit *u, float *z)
{
    struct samples *w = self;
    if (w->finished || w->handed == w->looks[w->at]) return 0; /* all must be merged first */
    const uint64_t left = w->looks[w->at] - w->handed, most = w->job->request->chunk * BATCH;
    *u = (struct unit){w->job->request->row, 1, w->handed, left < most ? left : most};
    memcpy(z, w->z, sizeof w->z);
    w->handed += u->count;
    return 1;
}

static int take(void *self, const struct result *r, const void *y, size_t size)
{
    struct samples *w = self;
    if (r->why[0]) return fail_here(w, r->rank, r->why);
    if (certreg_estimator_record(w->estimator, r->unit.first, size / sizeof(float), y))
        return fail_here(w, r->rank, certreg_estimator_error(w->estimator)->text);
    w->merged += r->unit.count;
    return w->merged == w->looks[w->at] && (look(w) || w->finished);
}

static int begin(struct samples *w)
{
    const struct request *a = w->job->request;
    const size_t size = sizeof w->z;
    snprintf(w->record, sizeof w->record, "%s.record", a->output);
    fix_looks(w, a->samples, a->chunk * BATCH);
    if (pread(w->job->inputs, w->z, size, (off_t)(a->row * size)) != (ssize_t)size)
        return fail(a->inputs, "it has become shorter", NULL);
    if (certreg_estimator_begin(w->estimator, w->z, a->sigma, a->row))
        return fail_here(w, 0, certreg_estimator_error(w->estimator)->text);
    if (w->job->table.done[a->row])
        return w->finished = 1, printf("row %" PRIu64 " is in the file already\n", a->row) < 0;
    if (load(w)) return 1;
    while (w->looks[w->at] < w->merged) w->at++;
    return w->merged == w->looks[w->at] && look(w);
}

/* ---- every rank */
static size_t work(void *self, struct result *r, const float *z, void *y)
{
    struct samples *w = self;
    const struct unit *u = &r->unit;
    /* Rank 0, if it is alone, has begun, and has a record that another begin would empty. */
    if ((w->job->rank &&
         certreg_estimator_begin(w->estimator, z, w->job->request->sigma, u->row)) ||
        certreg_estimator_draw(w->estimator, u->first, u->count, w->x))
        snprintf(r->why, TEXT, "%s", certreg_estimator_error(w->estimator)->text);
    else if (model_rows(u->count, w->x, y))
        snprintf(r->why, TEXT, "the model failed among samples %" PRIu64 " to %" PRIu64 ": %s",
                 u->first, u->first + u->count - 1, model_why());
    return r->why[0] ? 0 : u->count * sizeof(float);
}

int run_samples(struct job *job)
{
    const size_t most = job->request->chunk * BATCH;
    struct samples w = {.job = job, .estimator = estimator(job->request, NULL)};
    const struct farm farm = {&w, 1, most * sizeof(float), next, take, work};
    w.x = malloc(most * INPUTS * sizeof(float));
    if (!w.x) w.finished = job->bad = fail("the samples", "there is no memory for them", NULL);
    else if (!job->rank && begin(&w)) w.finished = job->bad = 1;
    job->bad |= farm_run(&farm);
    free(w.x);
    certreg_estimator_destroy(w.estimator);
    return job->bad;
}
