/* The system's randomness. */
#ifndef CR_BASE_RANDOM_H
#define CR_BASE_RANDOM_H
#include <stdint.h>

/* A number that nobody can foretell, and never 0. Returns 0, or -1 where the system has no
 * randomness. It may block while the machine starts, never later. */
int cr_random64(uint64_t *out);

#endif
