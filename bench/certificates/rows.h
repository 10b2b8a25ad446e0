/* rows.h: the rows of the table, by what they need. Each returns 0, or 1 after a sentence on the
 * error stream. */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H
#include "study.h"
#include "table.h"

void rows_compare(const struct study *s, struct table *t); /* 1, 2, 3, 6: from the study alone */
int rows_calls(const struct study *s, struct lab *lab, struct table *t); /* 4: few calls against the
                                                                            paper's procedure */
int rows_prove(const struct study *s, struct lab *lab, struct table *t); /* 7: calls to prove a
                                                                            wanted radius */
int rows_limit(const struct study *s, struct lab *lab, struct table *t); /* 5: a thousand calls
                                                                            against unlimited ones
                                                                          */
int rows_attack(struct lab *lab, struct table *t); /* 8: how far an attack has to go */
#endif
