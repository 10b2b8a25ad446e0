/* A clock with a deadline. A computation checks between its steps if it is late. Once late it stays
 * late: loops end at once, and the function that started the computation discards the result. */
#ifndef CR_BASE_DEADLINE_H
#define CR_BASE_DEADLINE_H
#include <stddef.h>

typedef struct cr_deadline {
    double (*now)(void *of); /* seconds */
    void *of;
    double due; /* the deadline; 0: none */
    int late;
    double fixed; /* seconds of work that does not grow with the number of samples */
} cr_deadline;

/* Checks the clock between two steps. NULL is never late. */
static inline int cr_deadline_late(cr_deadline *w)
{
    if (w && !w->late && w->due > 0) w->late = w->now(w->of) > w->due;
    return w && w->late;
}

#define CR_WATCH_STEP 1024u /* samples between two looks at the clock, a power of two */

/* Returns if a loop over samples, at index i, must end. It need not start at index 0. */
static inline int cr_deadline_ends(cr_deadline *w, size_t i)
{
    return w &&
           (w->late || ((i & (CR_WATCH_STEP - 1)) == CR_WATCH_STEP - 1 && cr_deadline_late(w)));
}

/* Returns the watch's time. */
static inline double cr_deadline_now(const cr_deadline *w)
{
    return w->now(w->of);
}

#endif
