/* What a worst function really does, by a quadrature of its values that shares nothing with the
 * library's: three Gauss points on each of thousands of short panels, which end at the
 * breakpoints. */
#ifndef SUPPORT_FUNCTION_MOMENTS_H
#define SUPPORT_FUNCTION_MOMENTS_H
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include <math.h>

typedef struct function_moments {
    double mean, variance, gradient, least, greatest;
    double change; /* of the mean, in the direction of the side */
} function_moments;

static inline double function_at(const certreg_worst_function *f, double t)
{
    double value = NAN;
    certreg_worst_function_values(f, 1, &t, &value);
    return value;
}

enum { FUNCTION_TOGETHER = 192 }; /* values asked for in one call, three of each panel */

/* Adds up the function less its stated mean, which stays small where the mean is large. */
static inline void function_point(const certreg_worst_function *f, double r, double t, double w,
                                  double value, function_moments *sum)
{
    const double x = r * (t - 0.5 * r), here = w * exp(-0.5 * t * t),
                 there = w * exp(-0.5 * (t - r) * (t - r)), y = value - f->mean;
    sum->mean += here * y;
    sum->gradient += here * y * t;
    sum->variance += here * y * y;
    sum->change += f->side * y * (fabs(x) < 1 ? here * expm1(x) : there - here);
    sum->least = fmin(sum->least, value), sum->greatest = fmax(sum->greatest, value);
}

static inline void function_panels(const certreg_worst_function *f, double r, double from,
                                   double to, int panels, function_moments *sum)
{
    static const double node[] = {-0.774596669241483377, 0, 0.774596669241483377},
                        weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    double t[FUNCTION_TOGETHER], w[FUNCTION_TOGETHER], value[FUNCTION_TOGETHER];
    size_t count = 0;
    for (int i = 0; i < 3 * panels; i++) {
        const double a = from + (to - from) * (i / 3) / panels,
                     b = from + (to - from) * (i / 3 + 1) / panels;
        t[count] = 0.5 * (a + b) + 0.5 * (b - a) * node[i % 3];
        w[count] = (b - a) * weight[i % 3] * 0.3989422804014327, value[count++] = NAN;
        if (count < FUNCTION_TOGETHER && i + 1 < 3 * panels) continue;
        certreg_worst_function_values(f, count, t, value);
        for (size_t k = 0; k < count; k++) function_point(f, r, t[k], w[k], value[k], sum);
        count = 0;
    }
}

static inline function_moments function_measure_by(const certreg_worst_function *f, double r,
                                                   double width)
{
    function_moments sum = {.least = INFINITY, .greatest = -INFINITY};
    const double last = 12 + 2 * r;
    double from = -12;
    for (uint32_t i = 0; i < f->region_count; i++) {
        const double to = i + 1 < f->region_count ? fmin(f->breakpoints[i], last) : last;
        const int panels = (int)ceil(fmax(0, to - from) / width);
        function_panels(f, r, from, to, panels, &sum);
        from = fmax(from, to);
    }
    sum.variance -= sum.mean * sum.mean;
    sum.mean += f->mean;
    return sum;
}

static inline function_moments function_measure(const certreg_worst_function *f, double r)
{
    return function_measure_by(f, r, 0.01);
}

#endif
