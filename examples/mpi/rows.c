/* All inputs: a unit of work is a few rows, which one rank certifies. */
#include "certify.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct rows {
    struct job *job;
    certreg_estimator *estimator;
    uint64_t at, failed; /* rank 0: rows up to here are handed out or done; failed ones */
};

static int next(void *self, struct unit *u, float *z)
{
    struct rows *w = self;
    const struct table *t = &w->job->table;
    while (w->at < t->rows && t->done[w->at]) w->at++;
    *u = (struct unit){.row = w->at, .count = w->job->request->samples};
    while (w->at < t->rows && !t->done[w->at] && u->rows < w->job->request->chunk)
        w->at++, u->rows++;
    const size_t row = INPUTS * sizeof *z, bytes = u->rows * row;
    if (pread(w->job->inputs, z, bytes, (off_t)(u->row * row)) == (ssize_t)bytes)
        return u->rows > 0;
    return w->job->bad = fail(w->job->request->inputs, "it has become shorter", NULL), 0;
}

static int take(void *self, const struct result *r, const void *bytes, size_t size)
{
    struct rows *w = self;
    w->failed += r->failed;
    if (!r->why[0] && !table_add(&w->job->table, bytes, size)) return 0;
    return w->job->bad = 1;
}

static size_t write_failure(char *line, uint64_t row, int rank, const char *text)
{
    char said[2 * TEXT];
    snprintf(said, sizeof said, "%s%s%s", text, model_why()[0] ? " " : "", model_why());
    fprintf(stderr, "certify: row %" PRIu64 ", rank %d: %s\n", row, rank, said);
    for (char *p = said; *p; p++) /* what JSON would take for something else */
        if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ') *p = '\'';
    return (size_t)sprintf(line, "{\"row\":%" PRIu64 ",\"rank\":%d,\"error\":\"%s\"}\n", row, rank,
                           said);
}

static size_t work(void *self, struct result *r, const float *z, void *bytes)
{
    struct rows *w = self;
    const struct request *a = w->job->request;
    const certreg_target target = {.struct_size = sizeof target, .radius = a->target};
    const certreg_question q = {.struct_size = sizeof q,
                                .tolerance = a->tolerance,
                                .target = a->target > 0 ? &target : NULL};
    char *at = bytes;
    for (uint64_t i = 0; i < r->unit.rows; i++, z += INPUTS) {
        certreg_certificate c = {.struct_size = sizeof c};
        const uint64_t row = r->unit.row + i; /* and its noise id: the same on every rank */
        const int bad = certreg_estimator_begin(w->estimator, z, a->sigma, row) ||
                        certreg_certify(w->estimator, a->samples, &q, 1, &c);
        r->failed += (uint64_t)bad;
        at +=
            bad ? write_failure(at, row, w->job->rank, certreg_estimator_error(w->estimator)->text)
                : write_line(at, row, &c);
    }
    return (size_t)(at - (char *)bytes);
}

int run_rows(struct job *job)
{
    const struct table *t = &job->table;
    struct rows w = {.job = job, .estimator = estimator(job->request, model_eval)};
    const uint64_t chunk = job->request->chunk;
    const struct farm farm = {&w, chunk, chunk * LINE, next, take, work};
    job->bad |= farm_run(&farm) || w.failed || (!job->rank && table_add(&job->table, NULL, 0));
    if (!job->rank)
        printf("%" PRIu64 " rows, %" PRIu64 " of them from an earlier job, %" PRIu64
               " failed now%s: %s\n",
               t->rows, t->known, w.failed, job->bad && !w.failed ? "; stopped" : "", t->path);
    certreg_estimator_destroy(w.estimator);
    return job->bad;
}
