/* A fixed set of threads that run one job at a time, the caller among them. */
#ifndef CR_BACKEND_POOL_H
#define CR_BACKEND_POOL_H
#include "base/error.h"
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
/* Calls job(context, part, parts) once for every part and returns when all are done. If another
 * caller has the pool, or pool is NULL, the calling thread does it all as one part. */
void cr_pool_run(cr_pool *, cr_pool_job job, void *context);

#endif
