/* A fixed set of threads, including the caller, that run one job at a time. */
#ifndef CR_BACKEND_THREAD_POOL_H
#define CR_BACKEND_THREAD_POOL_H
#include "base/error.h"
#include "base/os.h"
#include "base/deadline.h"
#include <stdatomic.h>
#include <stddef.h>

typedef struct cr_pool cr_pool;
typedef void (*cr_pool_job)(void *context, size_t part, size_t parts);

/* Makes a pool of `threads` >= 2 threads, including the caller. NO_MEMORY, and no thread remains,
 * if memory or threads run out. */
certreg_status cr_pool_create(size_t threads, certreg_error *why, cr_pool **out);
/* Joins the threads and frees the pool. `forked`: only frees, since a child has no threads to join.
 * Accepts NULL. */
void cr_pool_destroy(cr_pool *, int forked);
/* Returns the number of threads, including the caller; 1 for NULL. */
size_t cr_pool_threads(const cr_pool *);
/* Returns the number of threads, at least 1, that pays for this number of normals: waking a thread
 * costs as much as several thousand normals. */
size_t cr_pool_useful_threads(const cr_pool *, size_t normals);
/* For tests: makes every amount of work worth all threads. */
void cr_pool_use_all_threads(cr_pool *);
/* Calls job(context, part, parts) once for every part and returns when all parts are done; parts is
 * at most the number of threads. The calling thread runs part 0. It runs the whole job as one part
 * if the pool is NULL or in use by another caller, or if parts is 1. */
void cr_pool_run(cr_pool *, size_t parts, cr_pool_job job, void *context);

/* The calling thread's deadline, shared by all parts of a job. */
typedef struct cr_job_deadline {
    cr_deadline *deadline;
    uintptr_t caller_thread; /* cr_os_thread_id: only this thread reads the clock */
    atomic_int expired;
} cr_job_deadline;

/* Checks between two steps if the job's deadline has expired. */
static inline int cr_job_deadline_expired(cr_job_deadline *job)
{
    if (cr_os_thread_id() == job->caller_thread && cr_deadline_expired(job->deadline))
        atomic_store_explicit(&job->expired, 1, memory_order_relaxed);
    return atomic_load_explicit(&job->expired, memory_order_relaxed);
}

#endif
