/** @file solver.hpp
 * libcertreg for C++: from bounds to worst cases and radii, without a model. The five
 * rules of certreg.hpp hold; what the functions do is in solver.h.
 *
 *     certreg::bounds b;
 *     b.constraints = CERTREG_CONSTRAINTS_C;
 *     b.sigma = 0.25;
 *     b.variance_hi = 2;
 *     certreg::bisection search;
 *     const double radius = search.within(b, 0.5).radius;
 */
#ifndef CERTREG_SOLVER_HPP
#define CERTREG_SOLVER_HPP
#include "certreg/solver.h"
#include "certreg/structs.hpp"
#include <memory>

namespace certreg
{

using solver_plan = sized<certreg_solver_plan>;
using bisection_plan = sized<certreg_bisection_plan>;
using mean_change = sized<certreg_mean_change>;
using solve_info = sized<certreg_solve_info>;
using radius = sized<certreg_radius>;

namespace detail
{
/* The handle that a certreg_..._create makes from a plan. */
template <class Handle, class Plan>
Handle *create(
    certreg_status (*by)(const Plan *, certreg_error *, Handle **), const Plan &plan)
{
    Plan p = plan;
    fill(p);
    Handle *made = nullptr;
    sized<certreg_error> why;
    check(by(&p, &why, &made), &why);
    return made;
}
} // namespace detail

/** certreg_solver. After a move only destroy it or assign to it. */
class solver
{
  public:
    explicit solver(const certreg_solver_plan &plan = solver_plan())
        : handle_(detail::create(certreg_solver_create, plan))
    {
    }

    /** certreg_solver_worst_case. constraints: 0: all that the bounds name. */
    mean_change worst_case(
        const certreg_bounds &known, double at_radius, uint32_t constraints = 0)
    {
        certreg_bounds b = known;
        detail::fill(b);
        mean_change out;
        check(certreg_solver_worst_case(get(), &b, constraints, at_radius, &out));
        return out;
    }
    /** certreg_solver_info: what the last of these calls cost. */
    solve_info info()
    {
        solve_info out;
        check(certreg_solver_info(get(), &out));
        return out;
    }
    /** For functions of solver.h. */
    certreg_solver *get() const noexcept { return handle_.get(); }

  private:
    struct destroy {
        void operator()(certreg_solver *s) const noexcept { certreg_solver_destroy(s); }
    };
    void check(certreg_status status) const
    {
        detail::check(status, certreg_solver_error(get()));
    }
    std::unique_ptr<certreg_solver, destroy> handle_;
};

/** certreg_bisection. After a move only destroy it or assign to it. */
class bisection
{
  public:
    explicit bisection(const certreg_bisection_plan &plan = bisection_plan())
        : handle_(detail::create(certreg_bisection_create, plan))
    {
    }

    /** certreg_bisection_within. constraints: 0: all that the bounds name. */
    radius within(
        const certreg_bounds &known, double tolerance, uint32_t constraints = 0)
    {
        certreg_bounds b = known;
        detail::fill(b);
        radius out;
        check(certreg_bisection_within(get(), &b, constraints, tolerance, &out));
        return out;
    }
    /** certreg_bisection_above.
     *  @param threshold  one for each of the functions; empty: all 0 */
    radius above(
        view<const certreg_bounds> known, view<const double> threshold = {},
        uint32_t constraints = 0)
    {
        radius out;
        if (threshold.size())
            detail::check_count("threshold", threshold.size(), known.size());
        check(certreg_bisection_above(
            get(), known.data(), threshold.data(), known.size(), constraints, &out));
        return out;
    }
    /** certreg_bisection_info: what the last search cost. */
    solve_info info()
    {
        solve_info out;
        check(certreg_bisection_info(get(), &out));
        return out;
    }
    /** For functions of solver.h. */
    certreg_bisection *get() const noexcept { return handle_.get(); }

  private:
    struct destroy {
        void operator()(certreg_bisection *b) const noexcept
        {
            certreg_bisection_destroy(b);
        }
    };
    void check(certreg_status status) const
    {
        detail::check(status, certreg_bisection_error(get()));
    }
    std::unique_ptr<certreg_bisection, destroy> handle_;
};

} // namespace certreg
#endif
