/* The interim looks of a target radius: at which numbers of samples the record is evaluated, and
 * the closed test of theory 6 at those looks. */
#ifndef CR_STATISTICS_LOOKS_H
#define CR_STATISTICS_LOOKS_H
#include "statistics/sequential.h"
#include <stddef.h>
#include <stdint.h>

#define CR_LOOKS 128u
#define CR_CLOSED_ROOM 4096u /* doubles of work for the paths of a closed test */
#define CR_CLOSED_RADII 5u
#define CR_CLOSED_MOST INT32_MAX /* samples of a closed test */
#define CR_CLOSED_KEPT 8u

typedef struct cr_looks { /* numbers of samples, pilot included */
    uint64_t at[CR_LOOKS];
    size_t count;
} cr_looks;

/* The tests of one condition: the first is for the target radius, the others for smaller ones,
 * which are easier to pass. The tests made last are kept between calls, since making them takes
 * longer than evaluating them. */
typedef struct cr_closed {
    /* For a radius to hold, failures at z must be rarer than its q. */
    double q[CR_CLOSED_RADII], alpha;
    size_t count;
    uint32_t trials[CR_LOOKS]; /* 32 bits to save memory: there are many */
    int32_t critical[CR_CLOSED_RADII][CR_LOOKS];
    size_t made;             /* radii whose numbers are complete */
    cr_closed_search search; /* of the next one, which a deadline may interrupt */
} cr_closed;

#endif
