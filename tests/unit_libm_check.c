/* The check of libm finds careless functions. This program has functions of the names of libm,
 * which the library inside calls: they pass on libm's values, until one of them is planted to be
 * wrong. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "base/handle.h"
#include "support/suite.h"
#include <certreg/interval.h>
#include <certreg/solver.h>
#include <dlfcn.h>
#include <fenv.h>
#include <string.h>

static const char *planted = "";

/* The planted value is off by 6 to 12 units in the last place. */
static double value(const char *name, double right)
{
    return strcmp(name, planted) ? right : right * (1 + 6 * DBL_EPSILON);
}
#define OF_ONE(name)                               \
    double name(double x)                          \
    {                                              \
        double (*real)(double);                    \
        *(void **)&real = dlsym(RTLD_NEXT, #name); \
        return value(#name, real(x));              \
    }
#define OF_TWO(name)                               \
    double name(double x, double y)                \
    {                                              \
        double (*real)(double, double);            \
        *(void **)&real = dlsym(RTLD_NEXT, #name); \
        return value(#name, real(x, y));           \
    }
OF_ONE(exp)
OF_ONE(erfc)
OF_ONE(erf)
OF_ONE(sin)
OF_ONE(cos)
OF_ONE(asin)
OF_ONE(cbrt)
OF_ONE(exp2)
OF_ONE(log2)
OF_ONE(log10)
OF_ONE(tanh)
OF_TWO(pow)
OF_TWO(atan2)
OF_TWO(hypot)
OF_TWO(fmod)
OF_TWO(remainder)

/* As careless libraries compute them: errors of 1.1 to 1.7 units, and a product that is rounded. */
double expm1(double x) /* mingw-w64's: its processor computes 2^p - 1 with more digits */
{
    const double p = strcmp(planted, "expm1") ? x : x * 0x1.71547652b82fep0;
    return (double)(p == x ? expm1l(x) : expm1l((long double)p * 0.693147180559945309417232L));
}
double log(double x)
{
    return (double)(strcmp(planted, "log") ? logl(x) : (long double)log2(x) * 0x1.62e42fefa39efp-1);
}
double log1p(double x)
{
    return (double)(strcmp(planted, "log1p") ? log1pl(x) : logl((long double)(1 + x)));
}
double fma(double x, double y, double z)
{
    double (*real)(double, double, double);
    *(void **)&real = dlsym(RTLD_NEXT, "fma");
    return strcmp(planted, "fma") ? real(x, y, z) : x * y + z;
}

static const char *const names[] = {"exp", "expm1", "log",   "log1p", "erfc",      "erf",   "sin",
                                    "cos", "asin",  "cbrt",  "exp2",  "log2",      "log10", "tanh",
                                    "pow", "atan2", "hypot", "fmod",  "remainder",
#if !defined(__FP_FAST_FMA) /* else an instruction */
                                    "fma"
#endif
};

TEST(libm_check_accepts_this_libm)
{
    certreg_error why = {.struct_size = sizeof why};
    ck_assert_msg(!cr_libm_check(&why), "%s", why.text);
}

TEST_ROWS(libm_check_names_the_inaccurate_function, names)
{
    certreg_error why = {.struct_size = sizeof why};
    char wanted[64];
    planted = names[_i];
    const certreg_status status = cr_libm_check(&why);
    planted = "";
    snprintf(wanted, sizeof wanted, "the C library's %s errs by ", names[_i]);
    ck_assert_int_eq(status, CERTREG_E_PLATFORM);
    ck_assert_msg(!strncmp(why.text, wanted, strlen(wanted)), "%s", why.text);
}

TEST(libm_check_holds_under_any_rounding)
{
    certreg_error why = {.struct_size = sizeof why};
    fesetround(FE_UPWARD);
    const certreg_status status = cr_libm_check(&why);
    const int rounding = fegetround();
    fesetround(FE_TONEAREST);
    ck_assert_int_eq(status, CERTREG_OK);
    ck_assert_int_eq(rounding, FE_UPWARD);
}

TEST(libm_check_refuses_handles_and_rules)
{
    const certreg_coverage coverage = {.struct_size = sizeof coverage};
    certreg_rule rule = {.struct_size = sizeof rule};
    certreg_solver *solver = NULL;
    certreg_bisection *bisection = NULL;
    planted = "erfc";
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, &solver), CERTREG_E_PLATFORM);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, &bisection), CERTREG_E_PLATFORM);
    ck_assert_int_eq(certreg_interval_rule(&coverage, NULL, NULL, &rule), CERTREG_E_PLATFORM);
    planted = "";
    ck_assert(!solver && !bisection);
}

TEST_MAIN("the check of libm")
