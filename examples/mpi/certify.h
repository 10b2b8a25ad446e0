/* What the files of this folder share; certify.c says what the program does. */
#ifndef EXAMPLES_MPI_CERTIFY_H
#define EXAMPLES_MPI_CERTIFY_H
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <stdio.h>
#include <time.h>

enum { INPUTS = 5, BATCH = 256, TEXT = 256, LINE = 4096 };

struct request { /* the same on all ranks */
    const char *inputs, *output;
    double sigma, tolerance, target; /* 0: no target */
    uint64_t samples, seed, chunk;   /* seed 0: that of the output file, or a new one */
    uint64_t row, rows;              /* --row: one input; rows: 0 for all of the file */
};

/* ---- model.c */
extern double model_slope;         /* an argument of the program: another one, another model */
const char *model_why(void);       /* why the last call failed */
uint64_t model_digest(uint64_t h); /* of outputs at fixed points */
int model_rows(size_t rows, const float *x, float *y); /* 0, or a number other than 0 */
int model_eval(void *, const certreg_batch *);         /* the same for the library */
uint64_t digest(uint64_t h, const void *data, size_t size);

/* ---- farm.c: rank 0 hands out units of work to whoever has none, and takes the results */
struct unit { /* samples first..first+count-1 of each of the inputs row..row+rows-1 */
    uint64_t row, rows, first, count;
};
struct result {
    struct unit unit;
    uint64_t failed; /* rows */
    int64_t rank;
    char why[TEXT]; /* empty, or why the whole unit failed */
};
struct farm {
    void *self;
    size_t most_rows, most_bytes; /* of a unit, of a result */
    /* Rank 0. next: 0 if there is nothing to do before more results have come; take: not 0 if
     * nothing more is to be handed out. */
    int (*next)(void *self, struct unit *, float *z);
    int (*take)(void *self, const struct result *, const void *bytes, size_t size);
    /* Every rank but 0, or rank 0 if it is alone. Returns the bytes that it has written. */
    size_t (*work)(void *self, struct result *, const float *z, void *bytes);
};
int farm_run(const struct farm *); /* not 0: out of memory */
int anywhere(int bad);             /* whether it is bad on any rank */

/* ---- table.c: the output file */
struct table {
    const char *path;
    FILE *file;
    uint64_t rows, known; /* of the inputs; already there when the file was opened */
    time_t synced;
    unsigned char *done; /* of each row, whether it is there */
};
int fail(const char *what, const char *why, const char *remedy); /* prints a sentence: 1 */
int table_open(struct table *, struct request *, uint64_t inputs, uint64_t rows);
int table_add(struct table *, const void *text, size_t size);    /* size 0: at the end */
int file_write(int fd, const void *data, size_t size, int sync); /* all of it; or -1 */
size_t write_line(char *line, uint64_t row, const certreg_certificate *);

/* ---- rows.c, samples.c: what is done by the farm */
struct job {
    const struct request *request;
    int rank;
    struct table table; /* rank 0 only, like what follows */
    int inputs;         /* the open file */
    int bad;            /* the status with which the program ends */
};
certreg_estimator *estimator(const struct request *, certreg_eval);
int run_rows(struct job *);
int run_samples(struct job *);
#endif
