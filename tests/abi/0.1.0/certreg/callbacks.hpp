/** @file callbacks.hpp
 * libcertreg for C++: how a callable becomes a model, and how what it throws gets past
 * the frames of the library, which is C. Nothing here is for users: include
 * certreg.hpp.
 */
#ifndef CERTREG_CALLBACKS_HPP
#define CERTREG_CALLBACKS_HPP
#include "certreg/structs.hpp"
#include <atomic>
#include <functional>
#include <memory>

namespace certreg
{
namespace detail
{
/* Calls what returns nothing, or an int that is not 0 for a failure. */
template <class F, class... A> int call(F &f, A &&...arguments)
{
    using result = std::invoke_result_t<F &, A...>;
    static_assert(
        std::is_void_v<result> || std::is_same_v<result, int>,
        "this callable returns void, or an int that is 0 to go on");
    if constexpr (std::is_void_v<result>) return f(std::forward<A>(arguments)...), 0;
    else return f(std::forward<A>(arguments)...);
}

using row_in = view<const float>;
using row_out = view<float>;
template <class F> inline constexpr bool takes_row = std::is_invocable_v<F &, row_in>;
template <class F>
inline constexpr bool takes_pointer = std::is_invocable_v<F &, const float *>;
template <class F>
inline constexpr bool takes_rows =
    std::is_invocable_v<F &, const float *, float *, size_t>;

/* Whether one number comes back for a row; it is asked for in this order, since asking
 * may compile the body of a generic lambda. */
template <class F> constexpr bool gives_number()
{
    if constexpr (takes_row<F>) return true;
    else return takes_pointer<F>;
}
template <class F> constexpr bool takes_batch()
{
    if constexpr (gives_number<F>()) return false;
    else return std::is_invocable_v<F &, const certreg_batch &>;
}

template <class T> float number(T value)
{
    static_assert(
        std::is_arithmetic_v<T>,
        "a model that takes one row and no y returns a number");
    return static_cast<float>(value);
}

template <class F> int evaluate_row(F &f, row_in x, row_out y)
{
    if constexpr (takes_row<F>) {
        return y[0] = number(f(x)), 0;
    } else if constexpr (takes_pointer<F>) {
        return y[0] = number(f(x.data())), 0;
    } else if constexpr (std::is_invocable_v<F &, row_in, row_out>) {
        return call(f, x, y);
    } else {
        static_assert(
            std::is_invocable_v<F &, const float *, float *>,
            "a model is called as one of those that certreg::estimator lists");
        return call(f, x.data(), y.data());
    }
}

/* The model on the rows of a batch that are used; on a device it gets the batch. */
template <class F> int evaluate(F &f, const certreg_batch &b)
{
    if constexpr (takes_batch<F>()) {
        return call(f, b);
    } else {
        if (b.device >= 0)
            throw error(
                CERTREG_E_INVALID, "the rows are in memory of a CUDA device: let the "
                                   "model take a const certreg_batch &");
        const float *x = b.x + b.used_first * b.inputs;
        float *y = b.y + b.used_first * b.columns;
        if constexpr (!gives_number<F>() && takes_rows<F>) {
            return call(f, x, y, static_cast<size_t>(b.used_count));
        } else {
            for (size_t i = 0; i < b.used_count; i++) {
                const int code = evaluate_row(
                    f, row_in(x + i * b.inputs, b.inputs),
                    row_out(y + i * b.columns, b.columns));
                if (code) return code;
            }
            return 0;
        }
    }
}

/* What an estimator owns, at an address that does not change. */
struct state {
    certreg_estimator *handle = nullptr;
    std::shared_ptr<certreg_backend> backend;
    std::function<int(uint64_t, uint64_t)> progress;
    std::exception_ptr thrown; /* in a callback of the running call */
    std::atomic_flag running = ATOMIC_FLAG_INIT;
    size_t inputs = 0, outputs = 0, columns = 0;

    state() = default;
    state(const state &) = delete;
    state &operator=(const state &) = delete;
    ~state() { certreg_estimator_destroy(handle); }

    /* At the end of every call. */
    void check(certreg_status status, const certreg_error *of_handle)
    {
        if (status != CERTREG_E_BUSY && thrown)
            std::rethrow_exception(std::exchange(thrown, nullptr));
        detail::check(status, of_handle);
    }
    void check(certreg_status status)
    {
        check(status, certreg_estimator_error(handle));
    }

    static int report(void *self, uint64_t done, uint64_t total) noexcept
    {
        state &s = *static_cast<state *>(self);
        try {
            return s.progress ? s.progress(done, total) : 0;
        } catch (...) {
            s.thrown = std::current_exception();
            return -1;
        }
    }
};

template <class F> struct state_of final : state {
    F f;
    template <class G> explicit state_of(G &&g) : f(std::forward<G>(g)) {}
    /* Before f: a device may still be working for it. */
    ~state_of() { certreg_estimator_destroy(std::exchange(handle, nullptr)); }

    static int eval(void *self, const certreg_batch *batch) noexcept
    {
        state_of &s = *static_cast<state_of *>(self);
        try {
            return evaluate(s.f, *batch);
        } catch (...) {
            s.thrown = std::current_exception();
            return -1;
        }
    }
};

/* One call. It keeps what it uses, also where the model moves or destroys its
 * estimator, and lets no other call begin before its error and its exception have been
 * taken. */
class turn
{
  public:
    turn(std::shared_ptr<state> of, const char *moved_from) : state_(std::move(of))
    {
        if (!state_) throw error(CERTREG_E_INVALID, moved_from);
        if (state_->running.test_and_set(std::memory_order_acquire))
            throw error(CERTREG_E_BUSY, certreg_status_text(CERTREG_E_BUSY));
        state_->thrown = nullptr; /* in a function of certreg.h */
    }
    ~turn() { state_->running.clear(std::memory_order_release); }
    turn(const turn &) = delete;
    turn &operator=(const turn &) = delete;
    state *operator->() const noexcept { return state_.get(); }

  private:
    std::shared_ptr<state> state_;
};
} // namespace detail
} // namespace certreg
#endif
