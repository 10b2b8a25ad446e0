/* table.h: targets and what was reached, one row per claim, as a table and as CSV. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H
#include <stdio.h>

enum { TABLE_ROWS = 64, TABLE_TEXT = 160 };

struct table_row {
    char number[8];
    char what[TABLE_TEXT], note[TABLE_TEXT];
    int at_most;                             /* the target is an upper bound */
    double target, reached, ours, reference; /* NaN: not available */
};

struct table {
    size_t rows;
    struct table_row row[TABLE_ROWS];
};

void table_add(struct table *t, struct table_row row);
void table_print(const struct table *t, FILE *out);
int table_write(const struct table *t, const char *path); /* as CSV; 0 if it was written */
#endif
