/* Every call of the library to the platform: memory, clock, entropy, process, processors, files of
 * code, threads. A port to another system changes os.c and the two types below. There are two
 * exceptions: the CUDA backend calls CUDA's runtime, and error.c, which the modules contain too,
 * calls the locale functions. */
#ifndef CR_BASE_OS_H
#define CR_BASE_OS_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Returns memory that is aligned to CR_ALIGN bytes and not initialized, or NULL. Large blocks are
 * on huge pages if the system has them. */
void *cr_os_alloc(size_t bytes);
/* Releases memory of cr_os_alloc. Accepts NULL. */
void cr_os_free(void *memory);

/* Returns seconds of a monotonic clock. The argument, for use in a deadline, is ignored. */
double cr_os_now(void *unused);

/* Sets *out to an unpredictable number, never 0. Returns 0, or -1 if the system has no entropy. It
 * may block while the machine starts, never later. */
int cr_os_random64(uint64_t *out);

/* Returns the number of the calling process. */
int64_t cr_os_process(void);
/* Returns the number of online processors, at least 1 and at most `max`. */
int32_t cr_os_processors(int32_t max);

/* The end of the names of shared objects. */
#if defined(_WIN32)
#define CR_OS_SUFFIX ".dll"
#elif defined(__APPLE__)
#define CR_OS_SUFFIX ".dylib"
#else
#define CR_OS_SUFFIX ".so"
#endif
/* Writes the absolute path of the file that contains this code. Returns 0 if the path is unknown or
 * needs more than `capacity` bytes. */
int cr_os_library_path(char *path, size_t capacity);
/* Opens a shared object until the process ends, and sets the function pointer at `function` to its
 * function of this name. Returns 0 if the object cannot be opened, with *reason, or lacks the
 * function, with *reason = NULL. */
int cr_os_load(const char *path, const char *name, void *function, const char **reason);

/* ---- threads. The types are pthread's own: opaque types would need an allocation. */
typedef pthread_t cr_os_thread;

/* Starts a thread with all signals blocked: they belong to the threads of the host program. If the
 * system refuses stack_bytes, the thread has its default stack. Returns 0 or an errno code. */
int cr_os_start(cr_os_thread *thread, size_t stack_bytes, void *(*work)(void *), void *argument);
/* Waits until the thread has ended. */
void cr_os_join(cr_os_thread thread);
/* Returns a number that no other living thread has. */
uintptr_t cr_os_thread_id(void);

/* A lock, and two conditions to wait for while holding it. */
typedef struct cr_os_monitor {
    pthread_mutex_t lock;
    pthread_cond_t condition[2];
} cr_os_monitor;

/* Makes a monitor that no thread holds. */
void cr_os_monitor_init(cr_os_monitor *monitor);
/* Ends a monitor that no thread uses. */
void cr_os_monitor_destroy(cr_os_monitor *monitor);
/* Takes the lock. */
void cr_os_lock(cr_os_monitor *monitor);
/* Releases the lock. */
void cr_os_unlock(cr_os_monitor *monitor);
/* Releases the lock, waits until the condition is signalled (or, rarely, without reason), and takes
 * the lock again. */
void cr_os_wait(cr_os_monitor *monitor, int condition);
/* Wakes one thread that waits for the condition, if there is one. */
void cr_os_wake(cr_os_monitor *monitor, int condition);
/* Wakes every thread that waits for the condition. */
void cr_os_wake_all(cr_os_monitor *monitor, int condition);

#endif
