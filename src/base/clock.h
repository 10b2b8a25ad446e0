/* The clock of deadlines and statistics. */
#ifndef CR_BASE_CLOCK_H
#define CR_BASE_CLOCK_H

/* Seconds of CLOCK_MONOTONIC. The argument is a watch's, and not used. */
double cr_clock_now(void *unused);

#endif
