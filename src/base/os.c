/* The calls to the platform (os.h), here for Linux and similar systems. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* getentropy, madvise, dl_iterate_phdr */
#endif
#include "base/os.h"
#include "base/arena.h"
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Blocks of this size and more are on huge pages: the first touch of every page, which follows
 * soon, takes five times as long with small ones. */
#define LARGE ((size_t)16 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

void *cr_os_alloc(size_t bytes)
{
    const size_t align = bytes < LARGE ? CR_ALIGN : HUGE_PAGE;
    if (bytes > SIZE_MAX - align) return NULL;
    const size_t rounded = (bytes + align - 1) / align * align;
    void *memory = aligned_alloc(align, rounded);
#if defined(MADV_HUGEPAGE)
    if (memory && bytes >= LARGE)
        madvise(memory, rounded, MADV_HUGEPAGE); /* a refusal is no failure */
#endif
    return memory;
}

void cr_os_free(void *memory)
{
    free(memory);
}

double cr_os_now(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cr_os_random64(uint64_t *out)
{
    *out = 0;
    while (!*out)
        if (getentropy(out, sizeof *out)) return -1;
    return 0;
}

int64_t cr_os_process(void)
{
    return (int64_t)getpid();
}

int32_t cr_os_processors(int32_t max)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n < max ? (int32_t)n : max;
}

/* ---- loaded files */
/* Returns the path in a line of /proc/self/maps if the line is complete and covers this code. */
static char *path_of(char *line)
{
    const uintptr_t address = (uintptr_t)cr_os_library_path;
    char *end, *path = strchr(line, '/'), *newline = strchr(line, '\n');
    const unsigned long long from = strtoull(line, &end, 16),
                             to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
    if (address < from || address >= to || !path || !newline) return NULL;
    *newline = 0;
    return strstr(path, " (deleted)") ? NULL : path;
}

/* Why not dladdr: its path may be relative to a working directory that has changed since, and for
 * a program that contains the library it is the name that the caller of exec chose. */
int cr_os_library_path(char *path, size_t capacity)
{
    char line[4096 + 128];
    const char *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) found = path_of(line);
    if (maps) fclose(maps);
    return found && (size_t)snprintf(path, capacity, "%s", found) < capacity;
}

/* Sets *found if the program, the first of the loaded files, needs a dynamic loader. */
static int has_loader(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP) *(int *)found = 1;
    return 1;
}

/* In a static program dlopen succeeds, and what it opens crashes. */
int cr_os_load(const char *path, const char *name, void *function, const char **reason)
{
    int dynamic = 0;
    *reason = "a static program cannot open it";
    dl_iterate_phdr(has_loader, &dynamic);
    if (!dynamic) return 0;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = object ? dlsym(object, name) : NULL;
    *reason = object ? NULL : dlerror();
    if (!symbol) return 0;
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no conversion to a function's address */
    return 1;
}

/* ---- threads */
int cr_os_start(cr_os_thread *thread, size_t stack_bytes, void *(*work)(void *), void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int code = pthread_attr_init(&attributes);
    if (code) return code;
    pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a thread is born with its creator's mask */
    code = pthread_create(thread, &attributes, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code;
}

void cr_os_join(cr_os_thread thread)
{
    pthread_join(thread, NULL);
}

uintptr_t cr_os_thread_id(void)
{
    return (uintptr_t)pthread_self();
}

void cr_os_monitor_init(cr_os_monitor *monitor)
{
    *monitor = (cr_os_monitor){PTHREAD_MUTEX_INITIALIZER,
                               {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER}};
}

void cr_os_monitor_destroy(cr_os_monitor *monitor)
{
    for (int i = 0; i < 2; i++) pthread_cond_destroy(&monitor->condition[i]);
    pthread_mutex_destroy(&monitor->lock);
}

void cr_os_lock(cr_os_monitor *monitor)
{
    pthread_mutex_lock(&monitor->lock);
}

void cr_os_unlock(cr_os_monitor *monitor)
{
    pthread_mutex_unlock(&monitor->lock);
}

void cr_os_wait(cr_os_monitor *monitor, int condition)
{
    pthread_cond_wait(&monitor->condition[condition], &monitor->lock);
}

void cr_os_wake(cr_os_monitor *monitor, int condition)
{
    pthread_cond_signal(&monitor->condition[condition]);
}

void cr_os_wake_all(cr_os_monitor *monitor, int condition)
{
    pthread_cond_broadcast(&monitor->condition[condition]);
}
