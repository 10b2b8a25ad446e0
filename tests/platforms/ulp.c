/* Reads what `platform libm` printed, of this platform or of another one, and prints for each
 * function the largest error in units of the last place, and where it is. It fails where that is
 * more than the library's margins allow for (docs/stability.md). The true values are those of
 * libquadmath, with 113 bits. A result that is subnormal is measured in the least of these units.
 */
#include <float.h>
#include <math.h>
#include <quadmath.h>
#include <stdio.h>
#include <string.h>

typedef struct function {
    const char *name;
    __float128 (*one)(__float128), (*two)(__float128, __float128);
    double most, worst, x, y; /* the most that is allowed; what was found, and where */
    int seen;
} function;

static function functions[] = {
    {.name = "erfc", .most = 4, .one = erfcq},   {.name = "erf", .most = 4, .one = erfq},
    {.name = "exp", .most = 1, .one = expq},     {.name = "expm1", .most = 1, .one = expm1q},
    {.name = "log", .most = 1, .one = logq},     {.name = "log1p", .most = 1, .one = log1pq},
    {.name = "cbrt", .most = 4, .one = cbrtq},   {.name = "sin", .most = 4, .one = sinq},
    {.name = "cos", .most = 4, .one = cosq},     {.name = "asin", .most = 4, .one = asinq},
    {.name = "exp2", .most = 4, .one = exp2q},   {.name = "pow", .most = 4, .two = powq},
    {.name = "atan2", .most = 4, .two = atan2q}, {.name = "hypot", .most = 4, .two = hypotq},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static double ulps(double got, __float128 want)
{
    const double near = (double)want;
    int exponent;
    if (!isfinite(got) || !isfinite(near)) return got == near ? 0 : INFINITY;
    (void)frexp(near, &exponent);
    const __float128 unit = ldexpq(1, exponent - 53 > -1074 ? exponent - 53 : -1074);
    return (double)(fabsq((__float128)got - want) / unit);
}

static void take(function *f, double x, double y, double got)
{
    const double off =
        ulps(got, f->one ? f->one((__float128)x) : f->two((__float128)x, (__float128)y));
    f->seen++;
    if (off > f->worst) f->worst = off, f->x = x, f->y = y;
}

int main(void)
{
    char name[16], line[256];
    while (fgets(line, sizeof line, stdin)) {
        double x, y = 0, got;
        function *f = functions;
        if (sscanf(line, "%15s", name) != 1) continue;
        while (f < functions + FUNCTIONS && strcmp(f->name, name)) f++;
        if (f == functions + FUNCTIONS) return fprintf(stderr, "no function %s\n", name), 1;
        const int read = f->one ? sscanf(line, "%*s %la %la", &x, &got) + 1
                                : sscanf(line, "%*s %la %la %la", &x, &y, &got);
        if (read != 3) return fprintf(stderr, "no numbers: %s", line), 1;
        take(f, x, y, got);
    }
    int failed = 0;
    for (const function *f = functions; f < functions + FUNCTIONS; f++) {
        printf("%s %.2f of %d, at %a %a\n", f->name, f->worst, f->seen, f->x, f->y);
        failed |= !f->seen || f->worst > f->most;
    }
    return failed;
}
