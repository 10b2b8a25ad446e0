/* calls.h: how few calls of the network will do. */
#ifndef DEMO_CALLS_H
#define DEMO_CALLS_H
#include "demo.h"

/* The exact median from few calls, against the paper's best from all. Streams from *stream on are
 * used up. Rows: a table. */
int calls_few(struct demo *d, FILE *rows, uint64_t *stream);

/* A wanted radius, half of the median's mean, by a closed test: how many calls until it is proven?
 */
int calls_wanted(struct demo *d, uint64_t *stream);
#endif
