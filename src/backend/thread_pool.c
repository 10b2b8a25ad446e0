/* The thread pool (thread_pool.h). Why not OpenMP: the caller must not wait for a thread that the
 * system has not scheduled, signals must stay with the host program, and a forked child must be
 * able to free the pool. */
#include "backend/thread_pool.h"
#include "base/handle.h"
#include <stdlib.h>
#include <string.h>

/* Kernels use less than 64 KiB. Thread-local data of the host program needs more. */
#define STACK_BYTES ((size_t)1 << 20)
/* Normals per thread: about 200 microseconds of work; waking a thread takes up to ten. */
#define NORMALS_PER_THREAD ((size_t)1 << 17)

enum { BEGIN, DONE }; /* conditions: a part can begin, or the pool ends; all parts are done */

struct cr_pool {
    cr_atomic_flag in_use; /* held by the caller of the running job */
    cr_os_monitor monitor; /* its lock guards all further members */
    cr_pool_job job;
    void *context;
    size_t parts, next, unfinished; /* parts of the job; the first not begun; the number not done */
    int stop;
    size_t workers, normals_per_thread;
    cr_os_thread worker[];
};

/* Runs parts that no thread has begun, until there are none. The lock is held before and after. */
static void run_parts(cr_pool *pool)
{
    while (pool->next < pool->parts) {
        const size_t part = pool->next++, parts = pool->parts;
        const cr_pool_job job = pool->job;
        void *const context = pool->context;
        cr_os_unlock(&pool->monitor);
        job(context, part, parts);
        cr_os_lock(&pool->monitor);
        if (--pool->unfinished == 0) cr_os_wake(&pool->monitor, DONE);
    }
}

static void *worker_main(void *argument)
{
    cr_pool *pool = argument;
    fenv_t inherited;
    cr_environment_enter(&inherited); /* a thread inherits the environment of its creator */
    cr_os_lock(&pool->monitor);
    while (!pool->stop) {
        run_parts(pool);
        if (!pool->stop) cr_os_wait(&pool->monitor, BEGIN);
    }
    cr_os_unlock(&pool->monitor);
    return NULL;
}

size_t cr_pool_threads(const cr_pool *pool)
{
    return pool ? pool->workers + 1 : 1;
}

size_t cr_pool_useful_threads(const cr_pool *pool, size_t normals)
{
    const size_t max = cr_pool_threads(pool),
                 useful = pool ? normals / pool->normals_per_thread : 1;
    return useful < 1 ? 1 : useful < max ? useful : max;
}

void cr_pool_use_all_threads(cr_pool *pool)
{
    pool->normals_per_thread = 1;
}

/* The caller runs part 0 and then parts that no thread has begun. So it never waits for a thread
 * that the system has not scheduled. */
void cr_pool_run(cr_pool *pool, size_t parts, cr_pool_job job, void *context)
{
    if (!pool || parts < 2 || !cr_atomic_flag_take(&pool->in_use)) {
        job(context, 0, 1);
        return;
    }
    cr_os_lock(&pool->monitor);
    pool->job = job;
    pool->context = context;
    pool->parts = pool->unfinished = parts;
    pool->next = 1;
    cr_os_unlock(&pool->monitor);
    for (size_t i = 1; i < parts; i++) cr_os_wake(&pool->monitor, BEGIN);
    job(context, 0, parts);
    cr_os_lock(&pool->monitor);
    pool->unfinished--;
    run_parts(pool);
    while (pool->unfinished) cr_os_wait(&pool->monitor, DONE);
    cr_os_unlock(&pool->monitor);
    cr_atomic_flag_release(&pool->in_use);
}

certreg_status cr_pool_create(size_t threads, certreg_error *why, cr_pool **out)
{
    *out = NULL;
    cr_pool *pool = calloc(1, sizeof *pool + (threads - 1) * sizeof pool->worker[0]);
    if (!pool)
        return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for a pool of %zu threads",
                            threads);
    atomic_init(&pool->in_use, 0);
    pool->normals_per_thread = NORMALS_PER_THREAD;
    cr_os_monitor_init(&pool->monitor);
    int code = 0;
    for (; !code && pool->workers + 1 < threads; pool->workers += !code)
        code = cr_os_start(&pool->worker[pool->workers], STACK_BYTES, worker_main, pool);
    if (code) {
        const size_t started = pool->workers + 1;
        cr_pool_destroy(pool, 0);
        return cr_error_set(why, CERTREG_E_NO_MEMORY,
                            "only %zu of %zu threads could be started: %s", started, threads,
                            strerror(code));
    }
    *out = pool;
    return CERTREG_OK;
}

void cr_pool_destroy(cr_pool *pool, int forked)
{
    if (!pool) return;
    if (!forked) {
        cr_os_lock(&pool->monitor);
        pool->stop = 1;
        cr_os_wake_all(&pool->monitor, BEGIN);
        cr_os_unlock(&pool->monitor);
        for (size_t i = 0; i < pool->workers; i++) cr_os_join(pool->worker[i]);
        cr_os_monitor_destroy(&pool->monitor);
    }
    free(pool);
}
