/* The output file: a line of JSON that says what the rows are of, and then a line for each row, as
 * they come. One job at a time has its lock, which the system releases however the job ends. What
 * a killed job has half written is cut off when the file is opened again. */
#include "certify.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int fail(const char *what, const char *why, const char *remedy)
{
    return fprintf(stderr, "certify: %s: %s%s%s\n", what, why, remedy ? ": " : "",
                   remedy ? remedy : ""),
           1;
}

int file_write(int fd, const void *data, size_t size, int sync)
{
    for (const char *at = data; size;) {
        const ssize_t n = write(fd, at, size);
        if (n < 0) return -1;
        at += n, size -= (size_t)n;
    }
    return sync && fsync(fd) && errno != EINVAL ? -1 : 0; /* EINVAL: a device */
}

/* What is written survives SIGKILL. The disk, which takes milliseconds, gets it once a second. */
int table_add(struct table *t, const void *text, size_t size)
{
    const time_t before = t->synced;
    t->synced = size ? time(NULL) : 0;
    if (!file_write(fileno(t->file), text, size, t->synced != before)) return 0;
    return fail(t->path, strerror(errno), "make room and start again, which does the other rows");
}

static int lock(struct table *t)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char said[TEXT];
    if (!fcntl(fileno(t->file), F_SETLK, &whole)) return 0;
    if (errno != EACCES && errno != EAGAIN) return fail(t->path, strerror(errno), NULL);
    fcntl(fileno(t->file), F_GETLK, &whole);
    snprintf(said, sizeof said, "another job writes to it (process %ld)", (long)whole.l_pid);
    return fail(t->path, said, "wait until that ends, or give another path");
}

/* ---- the first line */
static uint64_t drawn_seed(const struct request *q)
{
    certreg_run run = {.struct_size = sizeof run};
    certreg_estimator *e = estimator(q, NULL);
    const float z[INPUTS] = {0};
    if (e && !certreg_estimator_begin(e, z, q->sigma, 0)) certreg_estimator_info(e, &run);
    certreg_estimator_destroy(e);
    return run.seed;
}

static void write_head(char *line, const struct request *q, uint64_t inputs, uint64_t rows)
{
    snprintf(line, LINE,
             "{\"format\":\"certify of MPI, 1\",\"library\":%" PRIu32 ",\"model\":\"%" PRIx64
             "\",\"inputs\":\"%" PRIx64 "\",\"rows\":%" PRIu64 ",\"samples\":%" PRIu64
             ",\"sigma\":%.17g,\"tolerance\":%.17g,\"target\":%.17g,\"seed\":\"%" PRIu64 "\"}\n",
             certreg_version(), model_digest(1), inputs, rows, q->samples, q->sigma, q->tolerance,
             q->target, q->seed);
}

static int compare_heads(const struct table *t, const char *there, const char *wanted)
{
    char said[TEXT] = "it is no output file of this program";
    const char *name = there, *end;
    size_t same = 0;
    if (!strcmp(there, wanted)) return 0;
    while (there[same] && there[same] == wanted[same]) same++;
    for (const char *p = there; p < there + same; p++) /* the field in which they differ */
        if ((*p == '{' || *p == ',') && p[1] == '"') name = p + 2;
    if (name != there && (end = strchr(name, '"')))
        snprintf(said, sizeof said, "its \"%.*s\" is not that of this job", (int)(end - name),
                 name);
    return fail(t->path, said, "give another path");
}

/* ---- what is there */
static int read_rows(struct table *t, char *line, off_t *end)
{
    for (uint64_t row; fgets(line, LINE, t->file) && strchr(line, '\n'); *end = ftello(t->file)) {
        const size_t size = strlen(line);
        if (sscanf(line, "{\"row\":%" SCNu64 ",", &row) != 1 || row >= t->rows ||
            strcmp(line + size - 2, "}\n") != 0) {
            snprintf(line, LINE, "it is damaged behind byte %lld", (long long)*end);
            return fail(t->path, line, "remove what follows there, or give another path");
        }
        t->known += !t->done[row], t->done[row] = 1;
    }
    return 0;
}

static int read_table(struct table *t, struct request *q, uint64_t inputs, char *line, char *head)
{
    struct stat about = {0};
    off_t end = 0;
    const int has_rows = !fstat(fileno(t->file), &about) && S_ISREG(about.st_mode) &&
                         fgets(line, LINE, t->file) && strchr(line, '\n');
    const char *seed = has_rows ? strstr(line, "\"seed\":\"") : NULL;
    if (!q->seed && seed) q->seed = strtoull(seed + 8, NULL, 10);
    if (!q->seed && !has_rows) q->seed = drawn_seed(q);
    write_head(head, q, inputs, t->rows);
    if (has_rows) {
        end = ftello(t->file);
        if (compare_heads(t, line, head) || read_rows(t, line, &end)) return 1;
    } else if ((size_t)about.st_size >= strlen(head) ||
               memcmp(line, head, about.st_size < 10 ? (size_t)about.st_size : 10) != 0)
        return fail(t->path, "it is no output file of this program", "give another path");
    if (S_ISREG(about.st_mode) && ftruncate(fileno(t->file), end))
        return fail(t->path, strerror(errno), NULL);
    return !has_rows && table_add(t, head, strlen(head));
}

int table_open(struct table *t, struct request *q, uint64_t inputs, uint64_t rows)
{
    char *lines = calloc(2, LINE);
    *t = (struct table){.path = q->output, .rows = rows, .done = calloc(rows, 1)};
    if (!t->done || !lines) return fail(q->inputs, "there is no memory for its rows", NULL);
    /* Its owner alone reads it, since it has the seed. */
    const int fd = open(q->output, O_RDWR | O_CREAT | O_APPEND, 0600);
    t->file = fd < 0 ? NULL : fdopen(fd, "r+");
    const int bad = !t->file ? fail(q->output, strerror(errno), NULL)
                             : lock(t) || read_table(t, q, inputs, lines, lines + LINE);
    free(lines);
    return bad;
}

size_t write_line(char *line, uint64_t row, const certreg_certificate *c)
{
    char json[LINE - 64];
    size_t bytes = sizeof json;
    if (certreg_write_json(NULL, NULL, c, 0, json, &bytes)) return 0;
    return (size_t)sprintf(line, "{\"row\":%" PRIu64 ",%s\n", row, json + 1);
}
