/* The check of libm (libm_check.h). */
#include "base/libm_check.h"
#include "base/bytes.h"
#include "base/fp_environment.h"
#include <math.h>

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
