/** @file certreg.hpp
 * libcertreg for C++17 and later: destructors, exceptions, and any callable as a model.
 *
 *     #include <certreg/certreg.hpp>
 *     #include <cstdio>
 *     int main()
 *     try {
 *         auto shape = certreg::make<certreg_model>(); // a struct of C, zeroed
 *         shape.inputs = 3;
 *         shape.outputs = 1;
 *         auto plan = certreg::make<certreg_plan>();
 *         plan.max_samples = 10000; // most samples of one input
 *         plan.seed = 42;           // to repeat the output; without it one is drawn
 *         auto ask = certreg::make<certreg_question>();
 *         ask.tolerance = 0.5;
 *         const auto model = [](const float *x) { return x[0] + x[1] * x[2]; };
 *         certreg::estimator e(model, shape, plan);
 *         e.begin({1, 0.5f, -0.25f}, 0.25, 0); // input, sigma, noise id
 *         e.model_check();                     // once: rows do not see each other
 *         const certreg_certificate c = e.certify(10000, ask);
 *         std::printf("%g, radius %g\n", c.prediction, c.radius);
 *     } catch (const certreg::error &why) {
 *         return std::puts(why.what()), 1;
 *     }
 *
 * It is all inline: link certreg and nothing else. It needs exceptions, but no RTTI,
 * and CERTREG_EXPERIMENTAL for the parts that need it in C. Four rules:
 *
 * names      A method does the same as the function of C with its name; the headers of
 *            C are the manual. Call a function without a method by call or answer, or
 *            by check if it takes no handle with an error. Members with a name that
 *            ends in _ are no interface.
 * errors     Every status but CERTREG_OK is thrown as certreg::error. An exception of
 *            the model leaves the call that sampled; the next call continues from the
 *            samples before it. Callbacks in C (plan.progress) must not throw.
 * lifetime   Handles can be moved, not copied; copies of a backend or a denoiser share
 *            it. An estimator or a queue keeps its model and its backend, an attack its
 *            estimator, so the order of destruction is free. Borrowed objects (such as
 *            plan.memory, a model by std::ref, a CUDA stream) must outlive them all. A
 *            model may destroy or move its handle, but not an attack that calls it.
 * memory     Constructors, exceptions, export_record and queue::take allocate, nothing
 *            else does.
 */
#ifndef CERTREG_HPP
#define CERTREG_HPP
#if __cplusplus < 201703L || !defined __cpp_exceptions
#error "certreg.hpp needs C++17 (-std=c++17) and exceptions; else use certreg.h"
#endif
#include "certreg/backend.h"
#include "certreg/question.h"
#include "certreg/sampling.h"
#include "certreg/solver.h"
#ifdef CERTREG_EXPERIMENTAL
#include "certreg/attack.h"
#include "certreg/denoiser.h"
#include "certreg/interval.h"
#include "certreg/queue.h"
#include "certreg/service.h"
#include "certreg/worst_function.h"
#endif
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace certreg
{
/* ==== structs, errors, spans ====================================================== */

/** Returns a struct of the headers in C, zeroed, with its struct_size set. */
template <class T> T make() noexcept
{
    T made = T();
    made.struct_size = sizeof made;
    return made;
}

#pragma GCC visibility push(default)
/** The exception for every failure: a certreg_error (status, sample, row, output,
 *  code, value, text) that is a std::exception too. An index that does not apply
 *  is -1. Copies do not allocate. */
struct error : std::exception, certreg_error {
    explicit error(const certreg_error &from) noexcept : certreg_error(from) {}
    error(certreg_status why, const char *sentence) noexcept
        : certreg_error(make<certreg_error>())
    {
        status = why;
        sample = row = output = -1;
        std::snprintf(text, sizeof text, "%s", sentence);
    }
    const char *what() const noexcept override { return text; }
};
#pragma GCC visibility pop

/** Throws the status of a function of C, unless it is CERTREG_OK. `why` is the error
 *  that the function wrote, or the error of its handle. */
inline void check(certreg_status status, const certreg_error *why = nullptr)
{
    if (status == CERTREG_OK) return;
    if (why && why->status == status) throw error(*why); /* else another call's */
    throw error(status, certreg_status_text(status));
}

/** Data that a function reads (span<const float>) or fills (span<float>), from a
 *  pointer and a count, an array, a list such as {1, 0.5f}, or a container with data(),
 *  size() and begin(), such as std::vector, std::array and std::span. It owns nothing.
 *  A row of a matrix stored by columns throws CERTREG_E_INVALID. */
template <class T> class span
{
    using list = std::initializer_list<std::remove_const_t<T>>;

  public:
    span() noexcept = default;
    span(T *data, size_t size) noexcept : data_(size ? data : nullptr), size_(size) {}
    span(list elements) noexcept : span(elements.begin(), elements.size()) {}
    template <size_t N> span(T (&array)[N]) noexcept : span(array, N) {}
    template <
        class C, class U = std::remove_pointer_t<decltype(std::declval<C &>().data())>,
        class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>,
        class = decltype(std::declval<C &>().begin())>
    span(C &&from) : span(from.data(), static_cast<size_t>(from.size()))
    {
        const auto last = static_cast<std::ptrdiff_t>(size_) - 1;
        if (size_ && &*(from.begin() + last) != data_ + last)
            throw error(CERTREG_E_INVALID, "the elements have gaps: copy them first");
    }
    T *data() const noexcept { return data_; } /* NULL if it is empty */
    size_t size() const noexcept { return size_; }
    /** Returns data(). A size other than n throws CERTREG_E_INVALID. */
    T *has(size_t n, const char *name) const
    {
        if (size_ == n) return data_;
        char text[160];
        std::snprintf(text, 160, "%s has %zu elements, but needs %zu", name, size_, n);
        throw error(CERTREG_E_INVALID, text);
    }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

/* ==== below the interface ========================================================= */

namespace detail
{
/* Returns true if the rows of a matrix have no gaps. Only Eigen's have strides. */
template <class M> auto is_dense(const M &m, int) -> decltype(m.outerStride() == 1)
{
    return m.innerStride() == 1 && (m.rows() < 2 || m.outerStride() == m.cols());
}
template <class M> bool is_dense(const M &, long)
{
    return true;
}

/* Returns the elements of a matrix, which must have n columns. */
template <class T, class M> span<T> elements(M &m, size_t n, const char *row)
{
    static_assert(
        M::IsRowMajor,
        "the matrix is stored by columns: use Eigen::RowMajor, or for a vector give n");
    static_assert(
        std::is_convertible_v<decltype(m.data()), T *>,
        "the elements must be float: cast<float>()");
    if (!is_dense(m, 0))
        throw error(CERTREG_E_INVALID, "rows have gaps: copy them first");
    span<T>(m.data(), static_cast<size_t>(m.cols())).has(n, row);
    return {m.data(), static_cast<size_t>(m.rows()) * n};
}

/* Returns the handle that `by` makes. It keeps `kept`, which is destroyed after it. */
template <class H, class F, class... A>
std::shared_ptr<H> create(
    void (*destroy)(H *), std::shared_ptr<void> kept, F *by, A... arguments)
{
    H *made = nullptr;
    auto why = make<certreg_error>();
    check(by(arguments..., &why, &made), &why);
    return {made, [destroy, kept](H *h) { destroy(h); }};
}

/* Calls a callback: void, or an int that is not 0 for a failure. Keeps its exception,
 * because the caller is code in C. */
template <class F> int guarded(std::exception_ptr &thrown, F &&f) noexcept
try {
    using result = std::invoke_result_t<F>;
    constexpr bool nothing = std::is_void_v<result>;
    static_assert(nothing || std::is_same_v<result, int>, "returns void, or an int");
    if constexpr (nothing) return f(), 0;
    else return f();
} catch (...) {
    thrown = std::current_exception();
    return -1;
}

/* Calls the model for each used row of a batch, or once for the batch. */
template <class F>
int evaluate(F &f, const certreg_batch &b, std::exception_ptr &thrown) noexcept
{
    using number = std::is_invocable<F &, const float *>;
    using two = std::is_invocable<F &, const float *, float *>;
    using row = std::disjunction<number, two>;
    using known = std::disjunction<row, std::is_invocable<F &, const certreg_batch &>>;
    static_assert(known::value, "certreg::estimator lists how a model is called");
    int failed = 0;
    for (size_t i = 0; i < (row::value ? b.used_count : 1) && !failed; i++) {
        const float *const x = b.x + (b.used_first + i) * b.inputs;
        float *const y = b.y + (b.used_first + i) * b.columns;
        failed = guarded(thrown, [&] {
            if (row::value && b.device >= 0)
                throw error(CERTREG_E_INVALID, "on a device take a certreg_batch");
            if constexpr (number::value) *y = static_cast<float>(f(x));
            else if constexpr (row::value) return f(x, y);
            else return f(b);
        });
    }
    return failed;
}

/* State that an estimator shares with its attacks and services. */
struct state {
    std::exception_ptr thrown; /* by the model, in the running call */
    std::atomic_flag running = ATOMIC_FLAG_INIT;
};
} // namespace detail

/** Base of all handles. During a call, another call on it, its estimator, attacks or
 *  services throws CERTREG_E_BUSY and changes only its own `out`. Move or destroy it
 *  only while no other thread uses it. */
template <class H, const certreg_error *(*Error)(const H *)> class handle
{
  public:
    /** Returns the handle for functions of C; NULL after a move from it. */
    H *get() const noexcept { return h_.get(); }
    /** Calls f(get(), arguments...). */
    template <class F, class... A> void call(F *f, A... arguments) const
    {
        const std::shared_ptr<H> h = h_; /* the model may move or destroy its handle */
        const std::shared_ptr<detail::state> s = state_;
        if (!h) throw error(CERTREG_E_INVALID, "the handle was moved from");
        if (s->running.test_and_set(std::memory_order_acquire)) check(CERTREG_E_BUSY);
        s->thrown = nullptr; /* from a function that was called with get() */
        const certreg_status status = f(h.get(), arguments...);
        const std::exception_ptr thrown = std::exchange(s->thrown, nullptr);
        const certreg_error why = *Error(h.get());
        s->running.clear(std::memory_order_release);
        if (thrown) std::rethrow_exception(thrown);
        check(status, &why);
    }
    /** Calls f(get(), arguments..., &out) and returns out, as in
     *  e.answer<certreg_run>(certreg_estimator_info). */
    template <class T, class F, class... A> T answer(F *f, A... arguments) const
    {
        auto out = make<T>();
        return call(f, arguments..., &out), out;
    }

  protected:
    handle() = default;
    handle(handle &&) noexcept = default;
    handle &operator=(handle &&) noexcept = default;
    /* Makes the handle, which keeps its model and its backend. */
    template <class F, class On, class By, class... Plans>
    void open(
        F &&f, certreg_model m, const On &on, void (*destroy)(H *), By *by,
        Plans... plans)
    {
        using bound = std::tuple<std::decay_t<F>, decltype(state_), On>;
        const auto held = std::make_shared<bound>(std::forward<F>(f), state_, on);
        if constexpr (!std::is_null_pointer_v<std::decay_t<F>>) {
            m.user = held.get();
            m.eval = [](void *user, const certreg_batch *b) {
                auto &[model, s, used] = *static_cast<bound *>(user);
                return detail::evaluate(model, *b, s->thrown);
            };
        }
        h_ = detail::create(destroy, held, by, on.get(), &m, plans...);
        inputs_ = m.inputs;
        columns_ = m.outputs;
        for (size_t i = 0; m.kind && i < m.outputs; i++)
            columns_ += m.kind[i] == CERTREG_OUTPUT_ANGLE_PAIR;
    }
    std::shared_ptr<H> h_;
    std::shared_ptr<detail::state> state_ = std::make_shared<detail::state>();
    size_t inputs_ = 0, columns_ = 0;
};

/* ==== backend and estimator ======================================================= */

/** A certreg_backend, by certreg_backend_open_cpu or certreg_backend_open. */
class backend
{
  public:
    backend() noexcept = default; /* the CPU, one thread */
    explicit backend(int32_t threads) { open(certreg_backend_open_cpu, threads); }
    explicit backend(const char *module, int32_t device = 0, void *stream = nullptr)
    {
        open(certreg_backend_open, module, device, stream);
    }
    certreg_backend *get() const noexcept { return h_.get(); }

  private:
    template <class F, class... A> void open(F *by, A... arguments)
    {
        h_ = detail::create(certreg_backend_close, {}, by, arguments...);
    }
    std::shared_ptr<certreg_backend> h_;
};

/** A certreg_estimator, with its model. */
class estimator : public handle<certreg_estimator, certreg_estimator_error>
{
    friend struct attack;
    friend struct service;

  public:
    /** @param f  the model: any callable, copied or moved in (std::ref for one that
     *            stays yours), in the first of these forms that fits:
     *
     *      number f(const float *x)           one row; the model has one output
     *      void f(const float *x, float *y)   one row; all its outputs
     *      void f(const certreg_batch &)      as certreg_eval
     *
     *            A number is rounded to float, which the certificate is about. Instead
     *            of void f may return int: if it is not 0, it is the code of
     *            CERTREG_E_MODEL_FAILED. The first two forms receive used rows only, on
     *            the CPU only. A generic lambda counts as the first form.
     *            nullptr: shape.eval, a model in C, or NULL for draw and record */
    template <class F>
    estimator(
        F &&f, const certreg_model &shape, const certreg_plan &plan, backend on = {})
    {
        const auto by = certreg_estimator_create;
        open(std::forward<F>(f), shape, on, certreg_estimator_destroy, by, &plan);
    }
    /** After a failure the estimator has no input, not even the previous one, unless z
     *  could not become a span. `level`: see certreg_estimator_begin_level. */
    void begin(span<const float> z, double sigma, uint64_t noise_id, uint64_t level = 0)
    {
        const auto f = certreg_estimator_begin_level;
        if (z.size() != inputs_) f(get(), nullptr, sigma, noise_id, level);
        call(f, z.has(inputs_, "z"), sigma, noise_id, level);
    }
    /** Returns CERTREG_DEPENDENCE_... */
    int32_t model_check(size_t rows = 0)
    {
        int32_t found = 0;
        return call(certreg_model_check, rows, &found), found;
    }
    certreg_certificate certify(size_t total, const certreg_question &q)
    {
        return answer<certreg_certificate>(certreg_certify, total, &q, size_t(1));
    }
    /** Answers q[i] in out[i]. If this throws, an element of `out` claims nothing
     *  unless this call answered it with status CERTREG_OK. */
    void certify(
        size_t total, span<const certreg_question> q, span<certreg_certificate> out)
    {
        for (size_t i = 0; i < out.size(); i++)
            out.data()[i] = make<certreg_certificate>();
        certreg_certify(nullptr, 0, nullptr, out.size(), out.data()); /* all refused */
        out.has(q.size(), "out");
        call(certreg_certify, total, q.data(), q.size(), out.data());
    }
    void sample(uint64_t first, size_t n) { call(certreg_estimator_sample, first, n); }
    /** x has n rows of inputs, and y n rows of columns. */
    void draw(uint64_t first, size_t n, span<float> x)
    {
        call(certreg_estimator_draw, first, n, x.has(n * inputs_, "x"));
    }
    void record(uint64_t first, size_t n, span<const float> y)
    {
        call(certreg_estimator_record, first, n, y.has(n * columns_, "y"));
    }
    /** x is a matrix that is stored by rows, of Eigen or with data(), rows(), cols()
     *  and IsRowMajor. n is the number of its rows. */
    template <class M> void draw(uint64_t first, M &&x)
    {
        const auto all = detail::elements<float>(x, inputs_, "a row of x");
        draw(first, static_cast<size_t>(x.rows()), all);
    }
    template <class M> void record(uint64_t first, const M &y)
    {
        const auto all = detail::elements<const float>(y, columns_, "a row of y");
        record(first, static_cast<size_t>(y.rows()), all);
    }
    std::vector<unsigned char> export_record()
    {
        size_t count = 0;
        call(certreg_estimator_export, nullptr, &count);
        std::vector<unsigned char> bytes(count);
        return call(certreg_estimator_export, bytes.data(), &count), bytes;
    }
    void import_record(span<const unsigned char> from)
    {
        call(certreg_estimator_import, from.data(), from.size());
    }
    /** From now on, such as 8ms. 0 or below: it has passed already. An infinite
     *  duration<double>: no deadline. */
    void set_deadline(std::chrono::duration<double> from_now)
    {
        call(certreg_estimator_set_deadline, from_now.count());
    }
    void cancel() noexcept { certreg_estimator_cancel(get()); }
};

/** A certreg_solver, as in
 *  s.answer<certreg_mean_change>(certreg_solver_worst_case, &bounds, 0u, radius). */
struct solver : handle<certreg_solver, certreg_solver_error> {
    explicit solver(const certreg_solver_plan *plan = nullptr)
    {
        h_ = detail::create(certreg_solver_destroy, {}, certreg_solver_create, plan);
    }
};
/** A certreg_bisection, as in
 *  b.answer<certreg_radius>(certreg_bisection_within, &bounds, 0u, tolerance). */
struct bisection : handle<certreg_bisection, certreg_bisection_error> {
    explicit bisection(const certreg_bisection_plan *plan = nullptr)
    {
        const auto by = certreg_bisection_create;
        h_ = detail::create(certreg_bisection_destroy, {}, by, plan);
    }
};

/** Calls certreg_move_certificate. `scale` is empty, or has a number for each of z. */
inline certreg_certificate move_certificate(
    const certreg_certificate &c, span<const float> z, span<const float> to,
    span<const float> scale = {})
{
    const size_t n = z.size();
    const float *const at = to.has(n, "to"), *d = scale.data();
    auto out = make<certreg_certificate>();
    auto why = make<certreg_error>();
    if (d) scale.has(n, "scale");
    check(certreg_move_certificate(&c, n, d, z.data(), at, &why, &out), &why);
    return out;
}

#ifdef CERTREG_EXPERIMENTAL
/* ==== experimental ================================================================ */

/** A certreg_attack. */
struct attack : handle<certreg_attack, certreg_attack_error> {
    attack(const estimator &of, const certreg_attack_plan &plan)
    {
        state_ = of.state_;
        inputs_ = of.inputs_;
        h_ = detail::create(
            certreg_attack_destroy, of.h_, certreg_attack_create, of.get(), &plan);
    }
    /** `shift` is empty, or has a number for each of the inputs. */
    certreg_attack_result run(
        const certreg_question &q, const certreg_attack_options &options,
        span<float> shift = {})
    {
        float *const to = shift.data() ? shift.has(inputs_, "shift") : nullptr;
        return answer<certreg_attack_result>(certreg_attack_run, &q, &options, to);
    }
};

/** A certreg_service of what an estimator has certified. An exception of the model
 *  leaves act, and the action is the fallback. While the estimator is in a call, act
 *  throws CERTREG_E_BUSY, and the action is NaN. */
struct service : handle<certreg_service, certreg_service_error> {
    /** @param c  NULL: no anchor yet */
    service(
        const estimator &certified, const certreg_question &q,
        const certreg_certificate *c, const certreg_service_plan &plan)
    {
        const auto by = certreg_service_create;
        state_ = certified.state_;
        h_ = detail::create(
            certreg_service_destroy, certified.h_, by, certified.get(), &q, c, &plan);
        inputs_ = certified.inputs_ / (plan.ticks ? plan.ticks : 1);
        columns_ = q.output_count ? q.output_count : 1;
        if (q.output == CERTREG_ALL_OUTPUTS) columns_ = certified.columns_;
    }
    void start(uint64_t seed = 0) { call(certreg_service_start, seed); }
    certreg_tick sense(span<const float> reading, span<float> noisy)
    {
        const float *const from = reading.has(inputs_, "reading");
        return answer<certreg_tick>(
            certreg_service_sense, from, noisy.has(inputs_, "noisy"));
    }
    certreg_tick act(span<const float> reading, span<double> action)
    {
        const float *const from = reading.has(inputs_, "reading");
        double *const to = action.has(columns_, "action");
        for (size_t k = 0; to && k < columns_; k++)
            to[k] = std::numeric_limits<double>::quiet_NaN();
        return answer<certreg_tick>(certreg_service_act, from, to);
    }
    void anchor(span<const float> z, const certreg_certificate &c)
    {
        call(certreg_service_anchor, z.has(inputs_, "z"), &c);
    }
};

/** A certreg_queue, with its model. An exception of the model leaves run; the inputs of
 *  its call have then failed, and the next run goes on. Functions without a method take
 *  get() if they may run on any thread (certreg_queue_give), else call. */
class queue : public handle<certreg_queue, certreg_queue_error>
{
  public:
    /** A certreg_queue_result with its arrays. */
    struct result {
        uint64_t tag = 0, proved = 0;
        error why{CERTREG_OK, ""}; /* another status: the input failed */
        std::vector<certreg_certificate> certificates;
        std::vector<uint32_t> limiting;
        std::vector<certreg_alternative_result> alternatives;
    };
    /** @param f  as for an estimator */
    template <class F>
    queue(
        F &&f, const certreg_model &shape, const certreg_plan &plan,
        const certreg_queue_plan &queued, backend on = {})
    {
        const auto by = certreg_queue_create;
        open(std::forward<F>(f), shape, on, certreg_queue_destroy, by, &plan, &queued);
    }
    /** Adds `in` with this z and these questions. What in.alternatives points to stays
     *  yours. Returns false if the queue is full: run, or take a result. */
    bool add(
        certreg_queue_input in, span<const float> z, span<const certreg_question> ask)
    {
        int32_t full = 0;
        in.z = z.has(inputs_, "z");
        in.questions = ask.data();
        in.count = ask.size();
        return call(certreg_queue_add, &in, &full), !full;
    }
    void run() { call(certreg_queue_run); }
    /** Returns the next result, or nothing if none is ready. */
    std::optional<result> take()
    {
        result out;
        auto r = make<certreg_queue_result>();
        auto c = make<certreg_certificate>();
        auto a = make<certreg_alternative_result>();
        r.certificates = &c;
        r.alternatives = &a;
        const certreg_status sizes = certreg_queue_take(get(), &r); /* without room */
        if (!r.count) return check(sizes), std::nullopt;
        out.certificates.assign(r.room = r.count, c);
        out.limiting.resize(r.count);
        out.alternatives.assign(r.alternative_room = r.alternative_count, a);
        r.error = &out.why;
        r.certificates = out.certificates.data();
        r.limiting = out.limiting.data();
        r.alternatives = out.alternatives.data();
        call(certreg_queue_take, &r);
        out.tag = r.tag;
        out.proved = r.proved;
        return out;
    }
    void cancel() noexcept { certreg_queue_cancel(get()); }
};

/** A certreg_denoiser: constants, which functions of C take by get(). */
class denoiser
{
  public:
    /** `read` is called as read(uint64_t first, size_t count, float *x), and returns
     *  void, or an int other than 0 for a failure. Its exceptions are rethrown here. */
    template <class F> denoiser(F &&read, certreg_denoiser_plan plan)
    {
        std::pair<F &, std::exception_ptr> held(read, nullptr);
        plan.user = &held;
        plan.read = [](void *user, uint64_t first, size_t n, float *x) {
            auto &to = *static_cast<decltype(held) *>(user);
            return detail::guarded(to.second, [&] { return to.first(first, n, x); });
        };
        certreg_denoiser *made = nullptr;
        auto why = make<certreg_error>();
        const certreg_status status = certreg_denoiser_create(&plan, &why, &made);
        if (held.second) std::rethrow_exception(held.second);
        check(status, &why);
        h_.reset(made, certreg_denoiser_destroy);
    }
    /** Owns a denoiser that certreg_denoiser_import has made. */
    explicit denoiser(certreg_denoiser *made) : h_(made, certreg_denoiser_destroy) {}
    const certreg_denoiser *get() const noexcept { return h_.get(); }

  private:
    std::shared_ptr<const certreg_denoiser> h_;
};

/** Calls certreg_interval_rule; NULL: for a planned calibration. */
inline certreg_rule interval_rule(
    const certreg_coverage &wanted, const certreg_calibration *of = nullptr)
{
    auto out = make<certreg_rule>();
    auto why = make<certreg_error>();
    return check(certreg_interval_rule(&wanted, of, &why, &out), &why), out;
}
#endif
} // namespace certreg
#endif
