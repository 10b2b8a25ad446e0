/* A public call under way on a handle. Every call on a handle begins with cr_busy_enter and ends
 * with cr_busy_leave, so that what holds for all of them is held here: one call at a time, none in
 * a forked child, and arithmetic in the default floating-point environment. */
#ifndef CR_BASE_BUSY_H
#define CR_BASE_BUSY_H
#include "base/environment.h"
#include "base/error.h"
#include <stdint.h>

/* A mark that one thread holds. */
#ifdef __cplusplus
typedef int32_t cr_flag; /* the same bytes; C++ only looks past them */
#else
#include <stdatomic.h>
typedef _Atomic int32_t cr_flag;

/* Whether it is ours now; else it was taken already. */
static inline int cr_flag_take(cr_flag *flag)
{
    return !atomic_exchange_explicit(flag, 1, memory_order_acquire);
}

static inline void cr_flag_release(cr_flag *flag)
{
    atomic_store_explicit(flag, 0, memory_order_release);
}
#endif

typedef struct cr_busy {
    cr_flag taken;
    int64_t process; /* which made the handle */
    fenv_t callers;  /* of the call that runs */
} cr_busy;

/* For a new handle. */
void cr_busy_init(cr_busy *);
/* Whether the handle was made by another process, so that this one is a forked child. */
int cr_busy_is_foreign(const cr_busy *);
/* CERTREG_OK: the call may run; the error is cleared. CERTREG_E_BUSY: another call is running, on
 * any thread; the error is its own and is not touched. CERTREG_E_WRONG_STATE, with a text: this
 * process is a forked child. Only after CERTREG_OK is there something to leave. */
certreg_status cr_busy_enter(cr_busy *, certreg_error *);
/* Returns the status, for the last line of a call. */
certreg_status cr_busy_leave(cr_busy *, certreg_status);

/* Around a callback, which runs in the environment of whoever called us, and may change it. The
 * handle stays busy. */
void cr_busy_out(const cr_busy *);
void cr_busy_in(cr_busy *);

/* What a handle's error is to its caller: while a call runs, the error belongs to that call, and
 * others read a constant that says so. */
const certreg_error *cr_busy_error(const cr_busy *, const certreg_error *);

#endif
