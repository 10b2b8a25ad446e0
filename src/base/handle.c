/* What all public handles share: memory behind a check of libm, and the guard of calls, with the
 * floating-point environment. */
#include "base/handle.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/os.h"
#include <math.h>
#include <string.h>

/* ======== Switching between the caller's floating-point environment and the default one
 * (handle.h). */
/* FE_DFL_ENV also clears the bits of x86-64 and AArch64 that flush subnormal numbers to zero, which
 * ISO C does not promise; tests check it. */
void cr_environment_enter(fenv_t *saved)
{
    fegetenv(saved);
    fesetenv(FE_DFL_ENV);
}

void cr_environment_leave(const fenv_t *saved)
{
    fesetenv(saved);
}

/* ======== The check of libm (handle.h). */
enum { ONE = 1, TWO = 2, THREE = 3, THREE_FLOATS = 3 };
/* Name, arguments, rows of the table, and the largest error in units of the last place:
 * 0.5 if the function has to round correctly. */
/* clang-format off */
#define FUNCTIONS(F)                                                               \
    F(exp, ONE, 6, 1)      F(expm1, ONE, 8, 1)           F(log, ONE, 6, 1)         \
    F(log1p, ONE, 6, 1)    F(erfc, ONE, 8, 4)            F(erf, ONE, 2, 4)         \
    F(sin, ONE, 2, 4)      F(cos, ONE, 2, 4)             F(asin, ONE, 2, 4)        \
    F(cbrt, ONE, 2, 4)     F(exp2, ONE, 2, 4)            F(log2, ONE, 2, 4)        \
    F(log10, ONE, 2, 4)    F(tanh, ONE, 2, 4)            F(pow, TWO, 2, 4)         \
    F(atan2, TWO, 2, 4)    F(hypot, TWO, 2, 4)           F(fma, THREE, 3, 0.5)     \
    F(sqrt, ONE, 3, 0.5)   F(fmaf, THREE_FLOATS, 1, 0.5) F(fmod, TWO, 2, 0.5)      \
    F(rint, ONE, 3, 0.5)   F(remainder, TWO, 2, 0.5)     F(nextafter, TWO, 2, 0.5)
/* clang-format on */

/* The arguments of each row, its value as the nearest double, and the rest of the exact value in
 * units of the last place. */
static const double table[] = {
#include "base/libm_table.inc"
};

#define NAME(name, arguments, rows, allowed) of_##name,
enum function { FUNCTIONS(NAME) };

/* The compiler must not compute the values itself, so the arguments are volatile. */
static double value_of(enum function function, const volatile double *x)
{
#define CALL_ONE(name) name(x[0])
#define CALL_TWO(name) name(x[0], x[1])
#define CALL_THREE(name) name(x[0], x[1], x[2])
#define CALL_THREE_FLOATS(name) (double)name((float)x[0], (float)x[1], (float)x[2])
#define CASE(name, arguments, rows, allowed) \
    case of_##name: return CALL_##arguments(name);
    switch (function) {
        FUNCTIONS(CASE)
    }
    return NAN;
}

/* Bits count units of the last place, since no value of the table is near a power of two. */
static double error_of(double got, double value, double rest)
{
    return fabs((double)(int64_t)(cr_bits_of_double(got) - cr_bits_of_double(value)) - rest);
}

static certreg_status check(certreg_error *why)
{
#define ROW(name, arguments, rows, allowed) {#name, arguments, rows, allowed},
    static const struct {
        char name[16];
        int arguments, rows;
        double allowed;
    } functions[] = {FUNCTIONS(ROW)};
    const double *row = table;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int i = 0; i < functions[f].rows; i++, row += functions[f].arguments + 2) {
            const double *value = row + functions[f].arguments,
                         error = error_of(value_of((enum function)f, row), value[0], value[1]);
            if (!(error <= functions[f].allowed + 0.01))
                return cr_error_set(why, CERTREG_E_PLATFORM,
                                    "the C library's %s errs by %.3g units in the last place at "
                                    "%g, and certificates allow %g: link another C library, "
                                    "such as glibc, musl or the UCRT of Windows",
                                    functions[f].name, error, row[0], functions[f].allowed);
        }
    return CERTREG_OK;
}

certreg_status cr_libm_check(certreg_error *why)
{
    fenv_t saved;
    cr_environment_enter(&saved);
    const certreg_status status = check(why);
    cr_environment_leave(&saved);
    return status;
}

/* ======== Memory of handles (handle.h): checks libm and the caller's memory, or
 * allocates. */
certreg_status cr_handle_alloc(void *memory, size_t bytes, size_t required, int32_t *owned,
                               void **out, certreg_error *why)
{
    *out = NULL;
    *owned = !memory;
    if (memory && (uintptr_t)memory % CR_ALIGN)
        return cr_error_set(why, CERTREG_E_INVALID, "plan.memory is not aligned to 64 bytes");
    if (memory && bytes < required)
        return cr_error_set(why, CERTREG_E_SMALL_MEMORY,
                            "plan.memory_bytes is %zu; it must be at least %zu", bytes, required);
    const certreg_status status = cr_libm_check(why);
    if (status) return status;
    void *block = memory ? memory : cr_os_alloc(required);
    if (!block) return cr_error_set(why, CERTREG_E_NO_MEMORY, "no memory for %zu bytes", required);
    *out = memset(block, 0, required);
    return CERTREG_OK;
}

void cr_handle_release(void *memory)
{
    cr_os_free(memory);
}

/* ======== The guard of public calls (handle.h). In one place, so that no call can forget a part
 * of it. */
#define DIGITS(number) #number
#define QUOTE(macro) DIGITS(macro)
#define VERSION QUOTE(CERTREG_VERSION_NUMBER) " (certreg_version)"
const certreg_error cr_handle_foreign_error = {
    .struct_size = sizeof(certreg_error),
    .status = CERTREG_E_VERSION,
    .sample = -1,
    .row = -1,
    .output = -1,
    .text = "another version of the library, which is loaded too, made this handle, and this is "
            "version " VERSION ": use it through that version, or link one version only"};

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
    if (guard->process != cr_os_process())
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
