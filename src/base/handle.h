/* The floating-point environment. Proofs about rounding assume the default one: round to nearest,
 * keep subnormal numbers, no traps. Therefore every call computes in it, and restores the caller's
 * environment afterwards, flags included. */
#ifndef CR_BASE_HANDLE_H
#define CR_BASE_HANDLE_H
#include "base/error.h"
#include <fenv.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Saves the current environment to *saved and sets the default one. */
void cr_environment_enter(fenv_t *saved);
/* Restores the saved environment. */
void cr_environment_leave(const fenv_t *saved);

/* ---- The functions of libm that the library calls, against stored values. */
/* Returns CERTREG_OK, or PLATFORM with the first function whose error exceeds the error that the
 * margins of certificates allow. Few arguments are compared, in some microseconds: they show a
 * careless libm, and not that a libm is accurate everywhere. */
certreg_status cr_libm_check(certreg_error *why);

/* ---- Memory of opaque handles: the plan's memory, or one allocated block. */
/* Sets *out to `required` zeroed bytes: the plan's memory of `bytes` bytes, or an allocated block
 * if that is NULL (*owned is 1). INVALID if the plan's memory is not aligned to 64 bytes,
 * SMALL_MEMORY if it is too small. Every handle begins here, so that none is made with a libm
 * that cr_libm_check refuses. */
certreg_status cr_handle_alloc(void *memory, size_t bytes, size_t required, int32_t *owned,
                               void **out, certreg_error *why);
/* Releases an allocated block. */
void cr_handle_release(void *memory);

/* ---- The guard of public calls on a handle. Every call begins with cr_call_guard_enter and
 * ends with cr_call_guard_leave, which hold three promises for all calls: one call at a time, no
 * call in a forked child or on another version's handle, and arithmetic in the default
 * floating-point environment. */
/* The first 8 bytes of every handle, in every version: never move or widen them. A process may hold
 * two versions of the library (a host's and a plugin's), whose handles may differ in all that
 * follows. (A backend begins with its operations, whose api_version comes first.) */
#define CR_HANDLE_TAG (UINT64_C(0x6372e9) << 32 | CERTREG_VERSION_NUMBER)

/* Returns 1 if this version made the handle, else 0. */
static inline int cr_handle_is_own(const void *handle)
{
    uint64_t tag;
    memcpy(&tag, handle, sizeof tag);
    return tag == CR_HANDLE_TAG;
}

/* A flag that one thread at a time can take. */
#ifdef __cplusplus
typedef int32_t cr_atomic_flag; /* has the same layout; C++ code never touches the flag */
#else
#include <stdatomic.h>
typedef _Atomic int32_t cr_atomic_flag;

/* Takes the flag; returns 0 if it was taken already. */
static inline int cr_atomic_flag_take(cr_atomic_flag *flag)
{
    return !atomic_exchange_explicit(flag, 1, memory_order_acquire);
}

/* Releases a taken flag. */
static inline void cr_atomic_flag_release(cr_atomic_flag *flag)
{
    atomic_store_explicit(flag, 0, memory_order_release);
}
#endif

typedef struct cr_call_guard { /* first member of every handle that has one */
    uint64_t tag;              /* CR_HANDLE_TAG */
    cr_atomic_flag taken;
    int64_t process;          /* that made the handle */
    fenv_t saved_environment; /* the caller's, during a call; callbacks have it, and may change it
                               */
} cr_call_guard;

/* Initializes the guard of a new handle. */
void cr_call_guard_init(cr_call_guard *);
/* Returns non-zero in a forked child of the process that made the handle. */
int cr_call_guard_is_foreign(const cr_call_guard *);
/* Begins a call. CERTREG_OK: the call may run, the error is cleared, and cr_call_guard_leave must
 * follow. CERTREG_E_BUSY: another call is running on some thread; the error, which belongs to that
 * call, is not touched. CERTREG_E_VERSION: another version made the handle, which is not touched.
 * CERTREG_E_WRONG_STATE, with a text: the process is a forked child. */
certreg_status cr_call_guard_enter(cr_call_guard *, certreg_error *);
/* Ends a call and returns its status. */
certreg_status cr_call_guard_leave(cr_call_guard *, certreg_status);

/* The error of a handle that another version made. */
extern const certreg_error cr_handle_foreign_error;
/* Returns the error that a caller may read: the handle's, or a constant CERTREG_E_BUSY while a call
 * is running, which writes to the handle's, or the constant of a foreign handle. */
const certreg_error *cr_call_guard_error(const cr_call_guard *, const certreg_error *);

#endif
