/* The guard of public calls (call_guard.h). One file, so that no call can forget a part of it. */
#include "base/call_guard.h"
#include "base/os.h"

const certreg_error cr_handle_foreign_error = {
    .struct_size = sizeof(certreg_error),
    .status = CERTREG_E_VERSION,
    .sample = -1,
    .row = -1,
    .output = -1,
    .text = "another version of the library, which is loaded too, made this handle: use it through "
            "that version, or link one version only"};

void cr_call_guard_init(cr_call_guard *guard)
{
    guard->tag = CR_HANDLE_TAG;
    atomic_init(&guard->taken, 0);
    guard->process = cr_os_process();
}

int cr_call_guard_is_foreign(const cr_call_guard *guard)
{
    return guard->process != cr_os_process();
}

certreg_status cr_call_guard_enter(cr_call_guard *guard, certreg_error *error)
{
    if (!cr_handle_is_own(guard)) return CERTREG_E_VERSION;
    /* Before the flag: in a child, the flag of a call that ran during the fork stays taken. */
    if (cr_call_guard_is_foreign(guard))
        return cr_error_set(error, CERTREG_E_WRONG_STATE,
                            "the handle was made in another process; create one after fork");
    if (!cr_atomic_flag_take(&guard->taken)) return CERTREG_E_BUSY;
    cr_environment_enter(&guard->saved_environment);
    cr_error_clear(error);
    return CERTREG_OK;
}

certreg_status cr_call_guard_leave(cr_call_guard *guard, certreg_status status)
{
    cr_environment_leave(&guard->saved_environment);
    cr_atomic_flag_release(&guard->taken);
    return status;
}

void cr_call_guard_out(const cr_call_guard *guard)
{
    cr_environment_leave(&guard->saved_environment);
}

void cr_call_guard_in(cr_call_guard *guard)
{
    cr_environment_enter(&guard->saved_environment);
}

const certreg_error *cr_call_guard_error(const cr_call_guard *guard, const certreg_error *error)
{
    static const certreg_error running = {
        .struct_size = sizeof running,
        .status = CERTREG_E_BUSY,
        .sample = -1,
        .row = -1,
        .output = -1,
        .text = "another call is running on the handle, around this callback or on another thread"};
    if (!cr_handle_is_own(guard)) return &cr_handle_foreign_error;
    const int taken = atomic_load_explicit(&guard->taken, memory_order_acquire);
    return taken && !cr_call_guard_is_foreign(guard) ? &running : error;
}
