/* Certificates of every kind, one to a row: what golden prints, and the program of
 * tests/platforms. */
#ifndef GOLDEN_ROWS_H
#define GOLDEN_ROWS_H
#include <certreg/certreg.h>

/* Work for a stream of the device; `drop` frees what it is called with. */
typedef int rows_enqueue(void *stream, void (*work)(void *), void *with, void (*drop)(void *));

typedef struct rows_where {
    const char *name;
    uint32_t constraints;     /* of the plan */
    certreg_backend *backend; /* NULL: the CPU. On a device there are fewer rows, without bounds */
    rows_enqueue *enqueue;    /* of the device */
} rows_where;

/* Prints the rows. Non-zero after a failure, of which stderr says why. */
int rows_print(const rows_where *);

#endif
