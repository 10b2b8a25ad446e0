/* A fixed set of threads that run one job at a time, the caller among them. */
#ifndef CR_BACKEND_POOL_H
#define CR_BACKEND_POOL_H
#include "base/error.h"
#include "base/os.h"
#include "base/watch.h"
#include <stdatomic.h>
#include <stddef.h>

typedef struct cr_pool cr_pool;
typedef void (*cr_pool_job)(void *context, size_t part, size_t parts);

/* `threads` >= 2 counts the caller. NO_MEMORY if memory or threads run out; nothing is left behind
 * then. */
certreg_status cr_pool_create(size_t threads, certreg_error *why, cr_pool **out);
/* Joins the threads. After a fork there are none to join: `forked` only frees. Accepts NULL. */
void cr_pool_destroy(cr_pool *, int forked);
/* The caller among them; 1 for NULL. */
size_t cr_pool_threads(const cr_pool *);
/* How many of them so many normals are worth, at least 1: waking one costs as much as some thousand
 * normals. */
size_t cr_pool_worth(const cr_pool *, size_t normals);
/* For tests: work is worth all threads, however little it is. */
void cr_pool_be_eager(cr_pool *);
/* Calls job(context, part, parts) once for every part and returns when all are done. If another
 * caller has the pool, pool is NULL or parts is 1, the calling thread does it all as one part. Part
 * 0 is always its own. There are no more parts than threads. */
void cr_pool_run(cr_pool *, size_t parts, cr_pool_job job, void *context);

/* The calling thread's watch, for all parts of a job. */
typedef struct cr_lookout {
    cr_watch *watch;
    uintptr_t caller;
    atomic_int late;
} cr_lookout;

/* Between two steps. */
static inline int cr_lookout_late(cr_lookout *l)
{
    if (cr_os_thread_number() == l->caller && cr_watch_late(l->watch))
        atomic_store_explicit(&l->late, 1, memory_order_relaxed);
    return atomic_load_explicit(&l->late, memory_order_relaxed);
}

#endif
