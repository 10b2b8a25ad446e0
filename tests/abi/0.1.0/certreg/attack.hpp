/** @file attack.hpp
 * libcertreg for C++: how tight is a certificate? The five rules of certreg.hpp hold;
 * what the functions do is in attack.h.
 *
 *     certreg::attack a(e, certreg::attack_plan(2000)); // once
 *     const certreg::certificate c = e.certify(10000, q);
 *     std::vector<float> shift(inputs);
 *     const certreg::attack_result r = a.run(q, certreg::attack_options(2000), shift);
 *     std::printf("certified %g, broken at %g\n", c.radius, r.radius);
 */
#ifndef CERTREG_ATTACK_HPP
#define CERTREG_ATTACK_HPP
#include "certreg/attack.h"
#include "certreg/certreg.hpp"

namespace certreg
{

struct attack_plan : sized<certreg_attack_plan> {
    attack_plan() = default;
    explicit attack_plan(size_t most_calls) noexcept { max_calls = most_calls; }
};
struct attack_options : sized<certreg_attack_options> {
    attack_options() = default;
    explicit attack_options(size_t most_calls) noexcept { calls = most_calls; }
};
using attack_result = sized<certreg_attack_result>;

/** certreg_attack. It keeps the estimator and its model, also where the estimator
 *  object is destroyed or moved. It and its estimator run one call at a time; another
 *  one throws CERTREG_E_BUSY. After a move only destroy it or assign to it. */
class attack
{
  public:
    attack(const estimator &of, const certreg_attack_plan &plan)
        : handle_(create(of, plan), destroy{of.state_})
    {
    }

    /** certreg_attack_run.
     *  @param options  its pointers are as in attack.h
     *  @param shift    empty, or inputs floats, which receive the shift
     *  @throws error as certreg_attack_run; what the model has thrown */
    attack_result run(
        const certreg_question &q, const certreg_attack_options &options,
        view<float> shift = {})
    {
        certreg_question asked = q;
        detail::fill(asked);
        certreg_attack_options o = options;
        detail::fill(o);
        attack_result out;
        const detail::turn s = call();
        if (shift.size()) detail::check_count("shift", shift.size(), s->inputs);
        s->check(
            certreg_attack_run(get(), &asked, &o, shift.data(), &out),
            certreg_attack_error(get()));
        return out;
    }
    /** certreg_attack_gradient.
     *  @param out  inputs numbers */
    void gradient(const certreg_question &q, int32_t side, view<double> out)
    {
        certreg_question asked = q;
        detail::fill(asked);
        const detail::turn s = call();
        detail::check_count("out", out.size(), s->inputs);
        s->check(
            certreg_attack_gradient(get(), &asked, side, out.data()),
            certreg_attack_error(get()));
    }
    /** For functions of attack.h. */
    certreg_attack *get() const noexcept { return handle_.get(); }

  private:
    struct destroy {
        std::shared_ptr<detail::state> state; /* outlives the handle */
        void operator()(certreg_attack *a) const noexcept { certreg_attack_destroy(a); }
    };
    static certreg_attack *create(const estimator &of, const certreg_attack_plan &plan)
    {
        certreg_attack_plan p = plan;
        detail::fill(p);
        certreg_attack *made = nullptr;
        sized<certreg_error> why;
        detail::check(certreg_attack_create(of.get(), &p, &why, &made), &why);
        return made;
    }
    detail::turn call() const
    {
        return detail::turn(handle_.get_deleter().state, "the attack was moved from");
    }
    std::unique_ptr<certreg_attack, destroy> handle_;
};

} // namespace certreg
#endif
