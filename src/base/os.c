/* The calls to the platform (os.h): those of POSIX, those of Linux and macOS, and those of Windows,
 * where threads and the clock are winpthreads. */
#if defined(_WIN32)
#define _CRT_RAND_S /* rand_s */
#elif defined(__APPLE__)
#define _DARWIN_C_SOURCE /* getentropy, dladdr, the number of processors */
#elif !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* getentropy, madvise, dl_iterate_phdr */
#endif
#include "base/os.h"
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>
#else
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#endif
#if defined(__APPLE__)
#include <sys/random.h>
#elif !defined(_WIN32)
#include <link.h>
#endif

double cr_os_now(void *unused)
{
    struct timespec t;
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int64_t cr_os_process(void)
{
    return (int64_t)getpid();
}

#if !defined(_WIN32)
/* ---- memory, entropy, processors: Linux and macOS */
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

int cr_os_random64(uint64_t *out)
{
    *out = 0;
    while (!*out)
        if (getentropy(out, sizeof *out)) return -1;
    return 0;
}

int32_t cr_os_processors(int32_t max)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n < max ? (int32_t)n : max;
}

/* ---- loaded files */
#if defined(__APPLE__)
int cr_os_library_path(char *path, size_t capacity) /* dyld keeps absolute paths */
{
    Dl_info info;
    const uintptr_t here = (uintptr_t)cr_os_library_path;
    return dladdr((const void *)here, &info) && info.dli_fname && *info.dli_fname == '/' &&
           (size_t)snprintf(path, capacity, "%s", info.dli_fname) < capacity;
}

static int is_static(void)
{
    return 0;
}
#else
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

static int is_static(void)
{
    int dynamic = 0;
    dl_iterate_phdr(has_loader, &dynamic);
    return !dynamic;
}
#endif

/* In a static program dlopen succeeds, and what it opens crashes. */
int cr_os_load(const char *path, const char *name, void *function, const char **reason)
{
    *reason = "a static program cannot open it";
    if (is_static()) return 0;
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = object ? dlsym(object, name) : NULL;
    *reason = object ? NULL : dlerror();
    if (!symbol) return 0;
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no conversion to a function's address */
    return 1;
}
#else
/* ---- Windows */
void *cr_os_alloc(size_t bytes)
{
    return _aligned_malloc(bytes, CR_ALIGN);
}

void cr_os_free(void *memory)
{
    _aligned_free(memory);
}

int cr_os_random64(uint64_t *out)
{
    *out = 0;
    while (!*out) {
        unsigned low, high;
        if (rand_s(&low) || rand_s(&high)) return -1;
        *out = (uint64_t)high << 32 | low;
    }
    return 0;
}

int32_t cr_os_processors(int32_t max)
{
    const DWORD n = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return n < 1 ? 1 : n < (DWORD)max ? (int32_t)n : max;
}

int cr_os_library_path(char *path, size_t capacity)
{
    HMODULE library = NULL;
    const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                      GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExA(how, (LPCSTR)(uintptr_t)cr_os_library_path, &library)) return 0;
    const DWORD length = GetModuleFileNameA(library, path, (DWORD)capacity);
    for (char *c = path; length && length < capacity && *c; c++)
        if (*c == '\\') *c = '/';
    return length && length < capacity;
}

int cr_os_load(const char *path, const char *name, void *function, const char **reason)
{
    HMODULE object = LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    FARPROC symbol = object ? GetProcAddress(object, name) : NULL;
    *reason = object ? NULL : "Windows cannot open it, or a library that it needs";
    if (!symbol) return 0;
    memcpy(function, &symbol, sizeof symbol);
    return 1;
}
#endif

/* ---- threads */
int cr_os_start(cr_os_thread *thread, size_t stack_bytes, void *(*work)(void *), void *argument)
{
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code) return code;
    pthread_attr_setstacksize(&attributes, stack_bytes);
#if !defined(_WIN32)
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a thread is born with its creator's mask */
#endif
    code = pthread_create(thread, &attributes, work, argument);
#if !defined(_WIN32)
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
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
