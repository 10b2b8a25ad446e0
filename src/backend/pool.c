#if !defined(_POSIX_C_SOURCE) && !defined(_GNU_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "backend/pool.h"
#include "base/environment.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Kernels use less than 64 KiB; the rest is for thread-local data of the host program. */
#define STACK_BYTES ((size_t)1 << 20)

typedef struct worker {
    cr_pool *pool;
    size_t part;
    pthread_t thread;
} worker;

struct cr_pool {
    pthread_mutex_t turn; /* held by the caller whose job is running */
    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t begin, done;
    cr_pool_job job;
    void *context;
    uint64_t round; /* number of jobs begun */
    size_t busy;    /* workers still at it */
    int quit;
    size_t workers;
    worker worker[];
};

static void *work(void *argument)
{
    const worker *me = argument;
    cr_pool *pool = me->pool;
    uint64_t seen = 0;
    fenv_t born;
    cr_environment_enter(&born); /* that of the thread which opened the backend; ours from now on */
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->quit) pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->quit) break;
        seen = pool->round;
        const cr_pool_job job = pool->job;
        void *const context = pool->context;
        const size_t parts = pool->workers + 1;
        pthread_mutex_unlock(&pool->lock);
        job(context, me->part, parts);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

size_t cr_pool_threads(const cr_pool *pool)
{
    return pool ? pool->workers + 1 : 1;
}

void cr_pool_run(cr_pool *pool, cr_pool_job job, void *context)
{
    if (!pool || pthread_mutex_trylock(&pool->turn) != 0) {
        job(context, 0, 1);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->context = context;
    pool->busy = pool->workers;
    pool->round++;
    pthread_cond_broadcast(&pool->begin);
    const size_t parts = pool->workers + 1;
    pthread_mutex_unlock(&pool->lock);
    job(context, 0, parts);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
}

static int start(cr_pool *pool, const pthread_attr_t *attributes)
{
    worker *next = &pool->worker[pool->workers];
    next->pool = pool;
    next->part = pool->workers + 1;
    return pthread_create(&next->thread, attributes, work, next);
}

/* Signals belong to the host program's threads: workers are born with all of them blocked. */
static int start_all(cr_pool *pool, size_t workers)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed = pthread_attr_init(&attributes);
    if (failed) return failed;
    /* Where it is refused, the system's default will do. */
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; !failed && pool->workers < workers; pool->workers += !failed) {
        /* `workers` is read by threads already started, but only once a job has begun */
        failed = start(pool, &attributes);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

static int prepare(cr_pool *pool)
{
    int failed = pthread_mutex_init(&pool->turn, NULL);
    if (failed) return failed;
    if ((failed = pthread_mutex_init(&pool->lock, NULL)) == 0) {
        if ((failed = pthread_cond_init(&pool->begin, NULL)) == 0) {
            if ((failed = pthread_cond_init(&pool->done, NULL)) == 0) return 0;
            pthread_cond_destroy(&pool->begin);
        }
        pthread_mutex_destroy(&pool->lock);
    }
    pthread_mutex_destroy(&pool->turn);
    return failed;
}

certreg_status cr_pool_create(size_t threads, certreg_error *why, cr_pool **out)
{
    *out = NULL;
    cr_pool *pool = calloc(1, sizeof *pool + (threads - 1) * sizeof pool->worker[0]);
    if (!pool)
        return cr_fail(why, CERTREG_E_NO_MEMORY, "no memory for a pool of %zu threads", threads);
    int failed = prepare(pool);
    if (failed) {
        free(pool);
        return cr_fail(why, CERTREG_E_NO_MEMORY, "no lock for a pool of %zu threads: %s", threads,
                       strerror(failed));
    }
    failed = start_all(pool, threads - 1);
    if (failed) {
        const size_t got = pool->workers + 1;
        cr_pool_destroy(pool, 0);
        return cr_fail(why, CERTREG_E_NO_MEMORY, "only %zu of %zu threads could be started: %s",
                       got, threads, strerror(failed));
    }
    *out = pool;
    return CERTREG_OK;
}

void cr_pool_destroy(cr_pool *pool, int forked)
{
    if (!pool) return;
    if (!forked) {
        pthread_mutex_lock(&pool->lock);
        pool->quit = 1;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
        for (size_t i = 0; i < pool->workers; i++) pthread_join(pool->worker[i].thread, NULL);
        pthread_cond_destroy(&pool->done);
        pthread_cond_destroy(&pool->begin);
        pthread_mutex_destroy(&pool->lock);
        pthread_mutex_destroy(&pool->turn);
    }
    free(pool);
}
