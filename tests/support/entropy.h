/* The system's randomness as tests have it: an estimator whose plan gives no seed draws the same
 * one in every run. The program's own getentropy takes the place of libc's, for the static library
 * when the program is linked and for the shared one when it is loaded. */
#ifndef SUPPORT_ENTROPY_H
#define SUPPORT_ENTROPY_H
#include <stddef.h>

/* What getentropy does instead, in a test of the drawing itself; NULL: every byte is 1. */
extern int (*kit_entropy)(void *out, size_t bytes);

#endif
