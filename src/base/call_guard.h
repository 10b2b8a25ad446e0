/* The guard of public calls on a handle. Every call begins with cr_call_guard_enter and ends with
 * cr_call_guard_leave, which hold three promises for all calls: one call at a time, no call in a
 * forked child, and arithmetic in the default floating-point environment. */
#ifndef CR_BASE_CALL_GUARD_H
#define CR_BASE_CALL_GUARD_H
#include "base/fp_environment.h"
#include "base/error.h"
#include <stdint.h>

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

typedef struct cr_call_guard {
    cr_atomic_flag taken;
    int64_t process;          /* that made the handle */
    fenv_t saved_environment; /* the caller's, during a call */
} cr_call_guard;

/* Initializes the guard of a new handle. */
void cr_call_guard_init(cr_call_guard *);
/* Returns non-zero in a forked child of the process that made the handle. */
int cr_call_guard_is_foreign(const cr_call_guard *);
/* Begins a call. CERTREG_OK: the call may run, the error is cleared, and cr_call_guard_leave must
 * follow. CERTREG_E_BUSY: another call is running on some thread; the error, which belongs to that
 * call, is not touched. CERTREG_E_WRONG_STATE, with a text: the process is a forked child. */
certreg_status cr_call_guard_enter(cr_call_guard *, certreg_error *);
/* Ends a call and returns its status. */
certreg_status cr_call_guard_leave(cr_call_guard *, certreg_status);

/* Restores the caller's environment before a callback. The handle stays busy. */
void cr_call_guard_out(const cr_call_guard *);
/* Saves the environment after a callback, which may have changed it, and sets the default one. */
void cr_call_guard_in(cr_call_guard *);

/* Returns the error that a caller may read: the handle's, or a constant CERTREG_E_BUSY while a call
 * is running, which writes to the handle's. */
const certreg_error *cr_call_guard_error(const cr_call_guard *, const certreg_error *);

#endif
