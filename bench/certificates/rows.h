/* rows.h: each function adds rows to the table of targets. It returns 0, or 1 after a sentence on
 * the error stream. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H
#include "radii.h"
#include "table.h"

/* Rows 1 to 3: the certified radii side by side. */
void rows_compare(const struct radii *s, struct table *t);
/* Row 4: how few calls give the radius that the paper's procedure gets from N. */
int rows_calls(const struct radii *s, struct context *context, struct table *t);
/* Row 5: a thousand calls against unlimited ones. */
int rows_limit(const struct radii *s, struct context *context, struct table *t);
/* Row 6: calls to prove a target radius. */
int rows_prove(const struct radii *s, struct context *context, struct table *t);
/* Row 7: certified and broken radii, by the library's attack. */
int rows_bracket(struct context *context, struct table *t);
#endif
