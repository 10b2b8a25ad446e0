/* calls.h: how few calls of the network are enough. */
#ifndef DEMO_CALLS_H
#define DEMO_CALLS_H
#include <stdio.h>

#include "demo.h"

/* Print their tables, and return 1 after a sentence on the error stream if they fail. */
/* The finite-sample median from few calls, against the paper's best from all; rows: calls.csv. */
int calls_few(struct demo *d, FILE *rows);
/* A target radius, half of the median's best mean radius: how many calls until it is proved? */
int calls_for_target(struct demo *d);
#endif
