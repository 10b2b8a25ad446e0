/* calls.h: how few calls of the network are enough. */
#ifndef DEMO_CALLS_H
#define DEMO_CALLS_H
#include "demo.h"

/* Both use up noise ids from *noise_id on. */
/* The finite-sample median from few calls, against the paper's best from all; rows: calls.csv. */
int calls_few(struct demo *d, FILE *rows, uint64_t *noise_id);
/* A target radius, half of the median's best mean radius: how many calls until it is proved? */
int calls_for_target(struct demo *d, uint64_t *noise_id);
#endif
