/* asks.h: the certificates that the demo asks of every record. */
#ifndef DEMO_ASKS_H
#define DEMO_ASKS_H
#include <certreg/certreg.h>

/* In order: the paper's, with normal approximations, valid at every number of samples. */
enum { ASKS = 13, ASK_PAPER = 0, ASK_FINITE = 8, ASK_MEDIAN = 11 };

struct ask {
    const char *name;  /* in the file of results and the plot */
    const char *brief; /* at most six letters, over a column */
    int32_t statistic, method, center;
    uint32_t constraints;
};
extern const struct ask asks[ASKS];

/* The question itself; tolerance in degrees. */
certreg_question ask_question(const struct ask *ask, double tolerance, double alpha);
const char *ask_score(int32_t statistic);
const char *ask_interval(int32_t method);
#endif
