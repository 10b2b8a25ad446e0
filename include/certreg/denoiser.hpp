/** @file denoiser.hpp
 * libcertreg for C++: a filter in front of a model that was not trained under noise.
 * The five rules of certreg.hpp hold; what the functions do, and what has to hold for
 * the filter, is in denoiser.h. Export and import are export_bytes and import_bytes.
 *
 *     certreg::denoiser_plan plan(inputs, rows, sigma);
 *     const certreg::denoiser w(read, plan);
 *     const auto model = [w, clean](const float *x, float *y, size_t n) mutable {
 *         w.apply({x, n * inputs}, clean); // room for a batch
 *         network.run(clean.data(), y, n);
 *     };
 */
#ifndef CERTREG_DENOISER_HPP
#define CERTREG_DENOISER_HPP
#include "certreg/callbacks.hpp"
#include "certreg/denoiser.h"
#include <vector>

namespace certreg
{

using denoiser_facts = sized<certreg_denoiser_facts>;
struct denoiser_plan : sized<certreg_denoiser_plan> {
    denoiser_plan() = default;
    denoiser_plan(size_t features, uint64_t examples, double noise) noexcept
    {
        inputs = features;
        rows = examples;
        sigma = noise;
    }
};

/** certreg_denoiser: a cheap copy of a shared handle, which is freed with the last of
 *  them. A moved-from one can be assigned to and destroyed. */
class denoiser
{
  public:
    /** certreg_denoiser_create.
     *  @param read  a callable, called as read(uint64_t first, size_t count, float *x).
     *               It returns void, or an int other than 0 for a failure. What it
     *               throws comes out of here
     *  @param plan  read and user are not read */
    template <class F> denoiser(F &&read, const certreg_denoiser_plan &plan)
    {
        reader<std::remove_reference_t<F>> r{read, nullptr};
        certreg_denoiser_plan p = plan;
        p.read = reader<std::remove_reference_t<F>>::call;
        p.user = &r;
        make(p, &r.thrown);
    }
    /** certreg_denoiser_create, with plan.read. */
    explicit denoiser(const certreg_denoiser_plan &plan) { make(plan, nullptr); }

    /** certreg_denoiser_import. */
    static denoiser import_bytes(const void *bytes, size_t count)
    {
        certreg_denoiser *made = nullptr;
        sized<certreg_error> why;
        detail::check(certreg_denoiser_import(bytes, count, &why, &made), &why);
        return denoiser(made);
    }
    /** certreg_denoiser_export. */
    std::vector<unsigned char> export_bytes() const
    {
        size_t count = 0;
        detail::check(certreg_denoiser_export(get(), nullptr, &count), nullptr);
        std::vector<unsigned char> bytes(count);
        detail::check(certreg_denoiser_export(get(), bytes.data(), &count), nullptr);
        return bytes;
    }

    /** certreg_denoiser_apply.
     *  @param x  rows of inputs
     *  @param y  as many numbers, not those of x */
    void apply(view<const float> x, view<float> y) const
    {
        const size_t rows = detail::rows_of("x", x.size(), info().inputs);
        detail::check_count("y", y.size(), x.size());
        detail::check(certreg_denoiser_apply(get(), x.data(), rows, y.data()), nullptr);
    }
    /** certreg_denoiser_info. */
    denoiser_facts info() const
    {
        denoiser_facts out;
        detail::check(certreg_denoiser_info(get(), &out), nullptr);
        return out;
    }
    /** For functions of denoiser.h. */
    const certreg_denoiser *get() const noexcept { return handle_.get(); }

  private:
    template <class F> struct reader {
        F &f;
        std::exception_ptr thrown;
        static int call(void *self, uint64_t first, size_t count, float *x) noexcept
        {
            reader &r = *static_cast<reader *>(self);
            try {
                return detail::call(r.f, first, count, x);
            } catch (...) {
                r.thrown = std::current_exception();
                return -1;
            }
        }
    };
    explicit denoiser(certreg_denoiser *made) : handle_(made, certreg_denoiser_destroy)
    {
    }
    void make(const certreg_denoiser_plan &plan, std::exception_ptr *thrown)
    {
        certreg_denoiser_plan p = plan;
        detail::fill(p);
        certreg_denoiser *made = nullptr;
        sized<certreg_error> why;
        const certreg_status status = certreg_denoiser_create(&p, &why, &made);
        if (thrown && *thrown) std::rethrow_exception(*thrown);
        detail::check(status, &why);
        handle_.reset(made, certreg_denoiser_destroy);
    }
    std::shared_ptr<certreg_denoiser> handle_;
};

} // namespace certreg
#endif
