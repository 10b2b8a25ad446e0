/** @file worst_function.hpp
 * libcertreg for C++: the function behind a worst case. Experimental, like
 * worst_function.h. The five rules of certreg.hpp hold here as well.
 */
#ifndef CERTREG_WORST_FUNCTION_HPP
#define CERTREG_WORST_FUNCTION_HPP
#include "certreg/solver.hpp"
#include "certreg/worst_function.h"

namespace certreg
{

using worst_function = sized<certreg_worst_function>;

/** certreg_solver_worst_function. */
inline worst_function find_worst_function(
    solver &by, const certreg_bounds &known, double at_radius, int32_t side,
    uint32_t constraints = 0)
{
    certreg_bounds b = known;
    detail::fill(b);
    worst_function out;
    detail::check(
        certreg_solver_worst_function(by.get(), &b, constraints, at_radius, side, &out),
        certreg_solver_error(by.get()));
    return out;
}

/** certreg_worst_function_values.
 *  @param out  as many as t, which it may be */
inline void values(
    const certreg_worst_function &f, view<const double> t, view<double> out)
{
    detail::check_count("out", out.size(), t.size());
    detail::check(
        certreg_worst_function_values(&f, t.size(), t.data(), out.data()), nullptr);
}

} // namespace certreg
#endif
