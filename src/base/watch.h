/* A clock, and the time by which a computation has to be done. The computation asks between its
 * steps whether it is late. Once late it stays late: loops end where they are, and whoever started
 * the computation throws its result away. */
#ifndef CR_BASE_WATCH_H
#define CR_BASE_WATCH_H
#include <stddef.h>

typedef struct cr_watch {
    double (*now)(void *of); /* seconds */
    void *of;
    double due; /* 0: there is no hurry */
    int late;
    double fixed; /* seconds spent on what does not grow with the number of samples */
} cr_watch;

/* Between two steps. NULL is never late. */
static inline int cr_watch_late(cr_watch *w)
{
    if (w && !w->late && w->due > 0) w->late = w->now(w->of) > w->due;
    return w && w->late;
}

#define CR_WATCH_STEP 1024u /* samples of a pass between two looks at the clock; a power of two */

/* In a loop over samples, whatever its first index. */
static inline int cr_watch_ends(cr_watch *w, size_t i)
{
    return w && (w->late || ((i & (CR_WATCH_STEP - 1)) == CR_WATCH_STEP - 1 && cr_watch_late(w)));
}

static inline double cr_watch_now(const cr_watch *w)
{
    return w->now(w->of);
}

#endif
