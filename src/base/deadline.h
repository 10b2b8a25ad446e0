/* A deadline and its clock. A computation checks the deadline between its steps. An expired
 * deadline stays expired: loops end at once, and the function that started the computation discards
 * the result. */
#ifndef CR_BASE_DEADLINE_H
#define CR_BASE_DEADLINE_H
#include <stddef.h>

typedef struct cr_deadline {
    double (*now)(void *clock_context); /* seconds */
    void *clock_context;
    double expires_at; /* 0: never */
    int expired;
    double constant_seconds; /* seconds of work that does not grow with the number of samples */
} cr_deadline;

/* Checks the clock between two steps. NULL never expires. */
static inline int cr_deadline_expired(cr_deadline *deadline)
{
    if (deadline && !deadline->expired && deadline->expires_at > 0)
        deadline->expired = deadline->now(deadline->clock_context) > deadline->expires_at;
    return deadline && deadline->expired;
}

/* Samples between two checks of the clock, a power of two. */
#define CR_DEADLINE_CHECK_SAMPLES 1024u

/* Returns if a loop over samples, at index i, must end. It need not start at index 0. */
static inline int cr_deadline_ends(cr_deadline *deadline, size_t i)
{
    return deadline && (deadline->expired ||
                        ((i & (CR_DEADLINE_CHECK_SAMPLES - 1)) == CR_DEADLINE_CHECK_SAMPLES - 1 &&
                         cr_deadline_expired(deadline)));
}

/* Returns the time of the deadline's clock. */
static inline double cr_deadline_now(const cr_deadline *deadline)
{
    return deadline->now(deadline->clock_context);
}

#endif
