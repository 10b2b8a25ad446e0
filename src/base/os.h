/* What the system has: a clock, for deadlines and statistics, and randomness. */
#ifndef CR_BASE_OS_H
#define CR_BASE_OS_H
#include <stdint.h>

/* Seconds of CLOCK_MONOTONIC. The argument is a watch's, and not used. */
double cr_os_now(void *unused);

/* A number that nobody can foretell, and never 0. Returns 0, or -1 if the system has no
 * randomness. It may block while the machine starts, never later. */
int cr_os_random64(uint64_t *out);

#endif
