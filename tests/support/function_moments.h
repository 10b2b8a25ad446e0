/* What a worst function really does, by a quadrature of its values that shares nothing with the
 * library's: three Gauss points on each of thousands of short panels, which end at the
 * breakpoints. */
#ifndef SUPPORT_FUNCTION_MOMENTS_H
#define SUPPORT_FUNCTION_MOMENTS_H
#include <certreg/solver.h>
#include <math.h>

typedef struct function_moments {
    double mean, variance, gradient, second_order, least, greatest;
    double change; /* of the mean, in the direction of the side */
} function_moments;

static inline double function_at(const certreg_worst_function *f, double t)
{
    double value = NAN;
    certreg_worst_function_values(f, 1, &t, &value);
    return value;
}

/* Adds up the function less its stated mean, which stays small where the mean is large. */
static inline void function_panel(const certreg_worst_function *f, double r, double from, double to,
                                  function_moments *sum)
{
    static const double node[] = {-0.774596669241483377, 0, 0.774596669241483377},
                        weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    double at[3], values[3] = {NAN, NAN, NAN};
    for (int k = 0; k < 3; k++) at[k] = 0.5 * (from + to) + 0.5 * (to - from) * node[k];
    certreg_worst_function_values(f, 3, at, values);
    for (int k = 0; k < 3; k++) {
        const double t = at[k], value = values[k], y = value - f->mean;
        const double w = (to - from) * weight[k] * 0.3989422804014327, x = r * (t - 0.5 * r);
        const double here = w * exp(-0.5 * t * t), there = w * exp(-0.5 * (t - r) * (t - r));
        sum->mean += here * y;
        sum->gradient += here * y * t;
        sum->second_order += here * y * (t * t - 1) * sqrt(0.5);
        sum->variance += here * y * y;
        sum->change += f->side * y * (fabs(x) < 1 ? here * expm1(x) : there - here);
        sum->least = fmin(sum->least, value), sum->greatest = fmax(sum->greatest, value);
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
        for (int k = 0; k < panels; k++)
            function_panel(f, r, from + (to - from) * k / panels,
                           from + (to - from) * (k + 1) / panels, &sum);
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
