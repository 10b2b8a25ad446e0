/** @file certreg.hpp
 * libcertreg for C++17 and later: certreg.h with destructors, exceptions and callables.
 *
 *     #include <certreg/certreg.hpp>
 *     #include <cstdio>
 *     int main()
 *     try {
 *         certreg::plan plan(10000); // most samples of one input
 *         plan.seed = 42;            // to repeat the output; without it one is drawn
 *         const auto model = [](const float *x) { return x[0] + x[1] * x[2]; };
 *         certreg::estimator e(model, certreg::model(3), plan); // 3 inputs
 *         e.begin({1, 0.5f, -0.25f}, 0.25, 0); // input, sigma, noise id
 *         e.model_check();                     // once: rows do not see each other
 *         const certreg::certificate c = e.certify(10000, certreg::question(0.5));
 *         std::printf("%g, radius %g\n", c.prediction, c.radius);
 *     } catch (const certreg::error &why) {
 *         return std::puts(why.what()), 1;
 *     }
 *
 * It is all inline: link certreg and nothing else. This header covers question.h,
 * sampling.h and backend.h too; solver.hpp and, experimental, attack.hpp, denoiser.hpp,
 * interval.hpp and worst_function.hpp do the same for the other headers. Five rules:
 *
 * names      Methods and functions have the names of certreg.h, without the prefix, and
 *            mean what it says there: units, ranges, statuses, threads. Only export and
 *            import are export_record and import_record.
 * structs    certreg::question is certreg_question, zeroed, with its struct_size set.
 *            The constructor takes what has no default. Parameters are the structs of
 *            certreg.h, so these serve as well, and C++20's {.tolerance = 0.5} too. A
 *            struct_size of 0 is filled in, except in arrays that are read and behind
 *            pointers.
 * errors     Every status but CERTREG_OK is thrown as certreg::error. What the model or
 *            the progress throws comes out of the call that sampled, as it was thrown.
 *            The samples before it stay, and the next call goes on from them. In
 *            c = e.certify(...) c stays as it was; use it after success only.
 * lifetime   Estimators, solvers, bisections and attacks move and are not copied. An
 *            estimator keeps its model and its backend, an attack its estimator; so
 *            they may be destroyed in any order. What they borrow (plan.memory, a
 *            model by std::ref, a CUDA stream) outlives them all, attacks included. A
 *            model may destroy or move its estimator, but not an attack that calls it.
 * memory     Objects, exceptions and on_progress allocate, and so do functions that
 *            return a vector or a string. The others do not; so a control loop can
 *            certify without allocating.
 *
 * Exceptions are needed, RTTI is not. Without exceptions use certreg.h itself.
 */
#ifndef CERTREG_HPP
#define CERTREG_HPP
#include "certreg/callbacks.hpp"
#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace certreg
{

/* ==== backend ===================================================================== */

/** Where noise is drawn. A cheap copy of a shared handle; it is closed with the last
 *  copy, or the last estimator that uses it. */
class backend
{
  public:
    /** The CPU, one thread. */
    backend() noexcept = default;
    /** certreg_backend_open_cpu. 0: one thread per processor. */
    static backend cpu(int32_t threads = 0)
    {
        certreg_backend *opened = nullptr;
        sized<certreg_error> why;
        detail::check(certreg_backend_open_cpu(threads, &why, &opened), &why);
        return backend(opened);
    }
    /** certreg_backend_open. The stream must outlive all copies and estimators. */
    static backend open(const char *module, int32_t device = 0, void *stream = nullptr)
    {
        certreg_backend *opened = nullptr;
        sized<certreg_error> why;
        detail::check(
            certreg_backend_open(module, device, stream, &why, &opened), &why);
        return backend(opened);
    }
    /** For functions of certreg.h; NULL: the CPU, one thread. */
    certreg_backend *get() const noexcept { return handle_.get(); }

  private:
    explicit backend(certreg_backend *opened) : handle_(opened, certreg_backend_close)
    {
    }
    std::shared_ptr<certreg_backend> handle_;
    friend class estimator;
};

/* ==== estimator =================================================================== */

/** certreg_estimator: samples a model, and answers questions about one input after the
 *  other. One call at a time, those of its attacks included: while one is running, a
 *  second one, by another thread, the model or the progress, throws CERTREG_E_BUSY and
 *  changes nothing but its own `out`. No other thread may use an estimator while it is
 *  moved, assigned to or destroyed. Different estimators are independent, if their
 *  models are. A moved-from one can be assigned to and destroyed; its other methods
 *  throw CERTREG_E_INVALID, except get, which is NULL, and cancel. */
class estimator
{
  public:
    /** @param f  the model: any callable, copied or moved in (std::ref for one that
     *            stays yours), in one of these forms, the first that fits:
     *
     *      number f(view<const float> x)               one row; one output
     *      number f(const float *x)
     *      void f(const float *x, float *y, size_t n)  n rows, row-major
     *      void f(view<const float> x, view<float> y)  one row; all its outputs
     *      void f(const float *x, float *y)
     *      void f(const certreg_batch &)               as certreg_eval
     *
     *            A number is rounded to float; the certificate is about that. Where
     *            void stands, int serves too; other than 0 it is
     *            CERTREG_E_MODEL_FAILED with this model_code. Only the last form runs
     *            on a CUDA device, with pointers and a stream of the device. Only rows
     *            that are used are passed, except in the last. Write the types of
     *            parameters: a generic lambda is taken for the first form.
     *  @param shape  eval and user are not read
     *  @param on     the default: the CPU, one thread
     *  @throws error as certreg_estimator_create; CERTREG_E_INVALID also for a model
     *          that returns a number, if there is more than one column of outputs */
    template <class F>
    estimator(
        F &&f, const certreg_model &shape, const certreg_plan &plan, backend on = {})
    {
        using callable = std::decay_t<F>;
        certreg_model m = shape;
        detail::fill(m);
        if (detail::gives_number<callable>() && columns_of(m) > 1)
            throw error(
                CERTREG_E_INVALID, "the model returns one number for a row, and y has "
                                   "more columns: let it take x and y");
        auto s = std::make_shared<detail::state_of<callable>>(std::forward<F>(f));
        m.eval = detail::state_of<callable>::eval;
        m.user = s.get();
        create(std::move(s), m, plan, std::move(on));
    }
    /** With shape.eval, a model in C, which gets shape.user; or NULL, for draw and
     *  record. */
    estimator(const certreg_model &shape, const certreg_plan &plan, backend on = {})
    {
        certreg_model m = shape;
        detail::fill(m);
        create(std::make_shared<detail::state>(), m, plan, std::move(on));
    }

    estimator(estimator &&) noexcept = default;
    estimator &operator=(estimator &&) noexcept = default;

    /** Bytes on the host, without making one. */
    static size_t size(
        const certreg_model &shape, const certreg_plan &plan, const backend &on = {})
    {
        return bytes(shape, plan, on)[0];
    }
    /** Bytes on the device of its backend, without making one. */
    static size_t device_size(
        const certreg_model &shape, const certreg_plan &plan, const backend &on = {})
    {
        return bytes(shape, plan, on)[1];
    }

    /** Calls f(uint64_t done, uint64_t total) after each batch from now on, instead of
     *  plan.progress. f returns void, or an int other than 0 to cancel. It is copied
     *  or moved in, and has to be copyable. */
    template <class F> void on_progress(F &&f)
    {
        const detail::turn s = call();
        s->progress = [g = std::decay_t<F>(std::forward<F>(f))](
                          uint64_t done, uint64_t total) mutable {
            return detail::call(g, done, total);
        };
    }

    /** certreg_estimator_begin: a new input, with an empty record.
     *  @param z         inputs finite floats in host memory, copied
     *  @param sigma     noise level > 0; feature j has noise sigma*scale[j]
     *  @param noise_id  names the noise: a new one for each input
     *  @param level     as certreg_estimator_begin_level
     *  @throws error CERTREG_E_INVALID also if z has not model.inputs numbers. After a
     *          failure no input is begun, not the last one either, unless z could not
     *          become a view */
    void begin(view<const float> z, double sigma, uint64_t noise_id, uint64_t level = 0)
    {
        const detail::turn s = call();
        const float *data = z.size() == s->inputs ? z.data() : nullptr;
        const certreg_status status =
            certreg_estimator_begin_level(s->handle, data, sigma, noise_id, level);
        if (status == CERTREG_E_INVALID) detail::check_count("z", z.size(), s->inputs);
        s->check(status);
    }

    /** certreg_model_check: whether outputs depend on more than their row. Once, after
     *  the first begin.
     *  @return CERTREG_DEPENDENCE_...; on the call, last_error().text says so
     *  @throws error if they depend on other rows; what the model throws */
    int32_t model_check(size_t rows = 0)
    {
        const detail::turn s = call();
        int32_t found = 0;
        s->check(certreg_model_check(s->handle, rows, &found));
        return found;
    }

    /** certreg_certify, one question. An abstention, a cap and an early stop are no
     *  errors: see outcome and stop of the certificate.
     *  @param total_samples  in the record afterwards, pilot included; 0: only answer
     *  @throws error as certreg_certify; what the model or the progress throws. Samples
     *          before it stay, and the same call goes on from there */
    certificate certify(size_t total_samples, const certreg_question &q)
    {
        return one(
            q, [&](certreg_estimator *e, const certreg_question *p, certificate *c) {
                return certreg_certify(e, total_samples, p, 1, c);
            });
    }
    /** Several questions: out[i] answers questions[i]. Where this throws, `out` claims
     *  nothing, except for answers of this call whose status is CERTREG_OK. Does not
     *  allocate. */
    void certify(
        size_t total_samples, view<const certreg_question> questions,
        view<certreg_certificate> out)
    {
        clear(out);
        const detail::turn s = call();
        detail::check_count("out", out.size(), questions.size());
        s->check(certreg_certify(
            s->handle, total_samples, questions.data(), questions.size(), out.data()));
    }
    /** Allocates the answers, of which none is left where this throws. */
    std::vector<certificate> certify(
        size_t total_samples, view<const certreg_question> questions)
    {
        std::vector<certificate> out(questions.size());
        certify(total_samples, questions, out);
        return out;
    }

    /** certreg_output_bounds: where T stays for every shift within the radius.
     *  @throws error as certify */
    certificate output_bounds(
        size_t total_samples, const certreg_question &q, double radius)
    {
        return one(
            q, [&](certreg_estimator *e, const certreg_question *p, certificate *c) {
                return certreg_output_bounds(e, total_samples, p, 1, radius, c);
            });
    }
    /** Several questions, as for certify. */
    void output_bounds(
        size_t total_samples, view<const certreg_question> questions, double radius,
        view<certreg_certificate> out)
    {
        clear(out);
        const detail::turn s = call();
        detail::check_count("out", out.size(), questions.size());
        s->check(certreg_output_bounds(
            s->handle, total_samples, questions.data(), questions.size(), radius,
            out.data()));
    }

    /** certreg_certify_outputs.
     *  @param each  as many as questions; written also where this throws
     *  @return the radius for all outputs together */
    certificate certify_outputs(
        size_t total_samples, view<const certreg_question> questions,
        view<certreg_certificate> each)
    {
        clear(each);
        const detail::turn s = call();
        certificate combined;
        detail::check_count("each", each.size(), questions.size());
        s->check(certreg_certify_outputs(
            s->handle, total_samples, questions.data(), questions.size(), each.data(),
            &combined));
        return combined;
    }

    /** certreg_certify_sigmas. It begins the input itself.
     *  @param out  sigmas.size()*questions.size(), level by level; written also where
     *              this throws */
    void certify_sigmas(
        view<const float> z, view<const double> sigmas, uint64_t noise_id,
        size_t total_samples, view<const certreg_question> questions,
        view<certreg_certificate> out)
    {
        clear(out);
        const detail::turn s = call();
        detail::check_count("z", z.size(), s->inputs);
        detail::check_count("out", out.size(), sigmas.size() * questions.size());
        s->check(certreg_certify_sigmas(
            s->handle, z.data(), sigmas.data(), sigmas.size(), noise_id, total_samples,
            questions.data(), questions.size(), out.data()));
    }
    std::vector<certificate> certify_sigmas(
        view<const float> z, view<const double> sigmas, uint64_t noise_id,
        size_t total_samples, view<const certreg_question> questions)
    {
        std::vector<certificate> out(sigmas.size() * questions.size());
        certify_sigmas(z, sigmas, noise_id, total_samples, questions, out);
        return out;
    }

    /** certreg_estimator_prediction, of one number.
     *  @throws error CERTREG_E_INVALID also for a vector, whose prediction has more */
    double prediction(const certreg_question &q)
    {
        double number = 0;
        prediction(q, view<double>(&number, 1));
        return number;
    }
    /** For a vector: out has a number for each of its outputs. */
    void prediction(const certreg_question &q, view<double> out)
    {
        numbers(certreg_estimator_prediction, q, out);
    }
    /** certreg_estimator_estimate, of one number. */
    double estimate(const certreg_question &q)
    {
        double number = 0;
        estimate(q, view<double>(&number, 1));
        return number;
    }
    /** For a vector: out has a number for each of its outputs. */
    void estimate(const certreg_question &q, view<double> out)
    {
        numbers(certreg_estimator_estimate, q, out);
    }

    /** certreg_estimator_bounds: those behind one side, CERTREG_SIDE_... */
    certreg::bounds bounds(const certreg_question &q, int32_t side)
    {
        const detail::turn s = call();
        certreg_question asked = q;
        detail::fill(asked);
        certreg::bounds out;
        s->check(certreg_estimator_bounds(s->handle, &asked, side, &out));
        return out;
    }
    /** certreg_estimator_forecast: how many samples question.target takes. */
    certreg::forecast forecast(const certreg_question &q)
    {
        const detail::turn s = call();
        certreg_question asked = q;
        detail::fill(asked);
        certreg::forecast out;
        s->check(certreg_estimator_forecast(s->handle, &asked, &out));
        return out;
    }
    /** certreg_estimator_info: what to keep beside the certificates of this input. */
    certreg::run info()
    {
        const detail::turn s = call();
        certreg::run out;
        s->check(certreg_estimator_info(s->handle, &out));
        return out;
    }

    /** certreg_estimator_sample: calls the model for missing samples first to
     *  first+count-1.
     *  @throws error also for a cancel and a deadline; what the model throws */
    void sample(uint64_t first, size_t count)
    {
        const detail::turn s = call();
        s->check(certreg_estimator_sample(s->handle, first, count));
    }
    /** certreg_estimator_draw: noisy inputs of samples from first on.
     *  @param x  samples*inputs floats, with a CUDA backend of its device */
    void draw(uint64_t first, view<float> x)
    {
        const detail::turn s = call();
        const size_t count = detail::rows_of("x", x.size(), s->inputs);
        s->check(certreg_estimator_draw(s->handle, first, count, x.data()));
    }
    /** certreg_estimator_record: their outputs.
     *  @param y  samples*columns floats, on the host */
    void record(uint64_t first, view<const float> y)
    {
        const detail::turn s = call();
        const size_t count = detail::rows_of("y", y.size(), s->columns);
        s->check(certreg_estimator_record(s->handle, first, count, y.data()));
    }

    /** certreg_estimator_export. The bytes contain the seed. */
    std::vector<unsigned char> export_record()
    {
        const detail::turn s = call();
        size_t count = 0;
        s->check(certreg_estimator_export(s->handle, nullptr, &count));
        std::vector<unsigned char> record(count);
        s->check(certreg_estimator_export(s->handle, record.data(), &count));
        return record;
    }
    /** certreg_estimator_import: adds a record, all or nothing. First begin its input.
     *  @param record, count  the bytes */
    void import_record(const void *record, size_t count)
    {
        const detail::turn s = call();
        s->check(certreg_estimator_import(s->handle, record, count));
    }
    /** A vector or string of bytes. */
    template <class C> void import_record(const C &bytes)
    {
        static_assert(sizeof *bytes.data() == 1, "a record is a container of bytes");
        import_record(bytes.data(), bytes.size());
    }

    /** certreg_estimator_set_deadline: a time from now on, such as 8ms. 0: no deadline;
     *  below 0: it is over already. */
    void set_deadline(std::chrono::duration<double> from_now)
    {
        const detail::turn s = call();
        s->check(certreg_estimator_set_deadline(s->handle, from_now.count()));
    }
    /** At a point in time, such as the end of a tick. One that has passed is over. */
    void set_deadline(std::chrono::steady_clock::time_point end)
    {
        const std::chrono::steady_clock::time_point now =
            std::chrono::steady_clock::now();
        using seconds = std::chrono::duration<double>;
        set_deadline(end > now ? seconds(end - now) : seconds(-1));
    }

    /** certreg_estimator_cancel. Any thread, and signal handlers; but not while the
     *  estimator is moved, assigned to or destroyed. */
    void cancel() noexcept
    {
        if (state_) certreg_estimator_cancel(state_->handle);
    }

    /** What the last call reported; valid until the next. When the model has thrown, it
     *  names the samples, and model_code is -1. */
    const certreg_error &last_error()
    {
        if (!state_) throw error(CERTREG_E_INVALID, moved_from);
        return *certreg_estimator_error(state_->handle);
    }

    /** For functions of certreg.h; stays ours. */
    certreg_estimator *get() const noexcept
    {
        return state_ ? state_->handle : nullptr;
    }

  private:
    static constexpr const char *moved_from = "the estimator was moved from";
    detail::turn call() const { return detail::turn(state_, moved_from); }

    /* No earlier answer stays where a call throws. Called without a handle, the library
     * writes refused certificates. */
    static void clear(view<certreg_certificate> out)
    {
        for (certreg_certificate &c : out) c = certificate();
        certreg_certify(nullptr, 0, nullptr, out.size(), out.data());
    }

    static size_t columns_of(const certreg_model &m)
    {
        size_t columns = m.outputs;
        for (size_t i = 0; m.kind && i < m.outputs; i++)
            columns += m.kind[i] == CERTREG_OUTPUT_ANGLE_PAIR;
        return columns;
    }

    void create(
        std::shared_ptr<detail::state> s, const certreg_model &m,
        const certreg_plan &given, backend on)
    {
        certreg_plan p = given;
        detail::fill(p);
        if (p.progress)
            s->progress = [f = p.progress, user = p.progress_user](auto... counts) {
                return f(user, counts...);
            };
        p.progress = detail::state::report;
        p.progress_user = s.get();
        s->backend = std::move(on.handle_);
        sized<certreg_error> why;
        detail::check(
            certreg_estimator_create(s->backend.get(), &m, &p, &why, &s->handle), &why);
        s->inputs = m.inputs;
        s->outputs = m.outputs;
        s->columns = columns_of(m);
        state_ = std::move(s);
    }

    static std::array<size_t, 2> bytes(
        const certreg_model &shape, const certreg_plan &plan, const backend &on)
    {
        certreg_model m = shape;
        detail::fill(m);
        certreg_plan p = plan;
        detail::fill(p);
        std::array<size_t, 2> out;
        detail::check(
            certreg_estimator_size(on.get(), &m, &p, &out[0], &out[1]), nullptr);
        return out;
    }

    template <class Ask> certificate one(const certreg_question &q, Ask ask)
    {
        const detail::turn s = call();
        certreg_question asked = q;
        detail::fill(asked);
        certificate out;
        s->check(ask(s->handle, &asked, &out));
        return out;
    }

    /* The library writes as many numbers as the question has outputs. */
    template <class Get>
    void numbers(Get *of, const certreg_question &q, view<double> out)
    {
        const detail::turn s = call();
        certreg_question asked = q;
        detail::fill(asked);
        const size_t needs = asked.output == CERTREG_ALL_OUTPUTS ? s->outputs
                             : asked.output_count > 1            ? asked.output_count
                                                                 : 1;
        detail::check_count("out", out.size(), needs);
        s->check(of(s->handle, &asked, out.data()));
    }

    std::shared_ptr<detail::state> state_;
    friend class attack;
};

/* ==== functions without a handle ================================================== */

/** certreg_version: of the library at run time, as CERTREG_VERSION_NUMBER. */
inline uint32_t version() noexcept
{
    return certreg_version();
}

/** certreg_choose_sigma.
 *  @param certificates  inputs*levels, input by input
 *  @param mean_radius   empty, or levels numbers, which receive the means
 *  @return the level */
inline size_t choose_sigma(
    view<const certreg_certificate> certificates, size_t levels,
    view<double> mean_radius = {})
{
    const size_t inputs = levels ? certificates.size() / levels : 0;
    detail::check_count("certificates", certificates.size(), inputs * levels);
    if (mean_radius.size())
        detail::check_count("mean_radius", mean_radius.size(), levels);
    size_t level = 0;
    detail::check(
        certreg_choose_sigma(
            certificates.data(), inputs, levels, mean_radius.data(), &level),
        nullptr);
    return level;
}

#ifdef CERTREG_EXPERIMENTAL
/** certreg_move_certificate.
 *  @param scale  empty: all 1; or as many numbers as z and `to` have */
inline certificate move_certificate(
    const certreg_certificate &of, view<const float> z, view<const float> to,
    view<const float> scale = {})
{
    certreg_certificate from = of;
    detail::fill(from);
    detail::check_count("to", to.size(), z.size());
    if (scale.size()) detail::check_count("scale", scale.size(), z.size());
    certificate out;
    sized<certreg_error> why;
    detail::check(
        certreg_move_certificate(
            &from, z.size(), scale.size() ? scale.data() : nullptr, z.data(), to.data(),
            &out, &why),
        &why);
    return out;
}
#endif

/** certreg_question_digest. */
inline uint64_t question_digest(const certreg_question &q)
{
    certreg_question asked = q;
    detail::fill(asked);
    uint64_t digest = 0;
    detail::check(certreg_question_digest(&asked, &digest), nullptr);
    return digest;
}

/** certreg_write_json: one line. A NULL part is left out.
 *  @param flags  CERTREG_JSON_..., or 0 */
inline std::string write_json(
    const certreg_question *q, const certreg_run *r, const certreg_certificate *c,
    uint32_t flags = 0)
{
    size_t bytes = 0;
    detail::check(certreg_write_json(q, r, c, flags, nullptr, &bytes), nullptr);
    std::string line(bytes, '\0');
    detail::check(certreg_write_json(q, r, c, flags, line.data(), &bytes), nullptr);
    line.resize(bytes - 1); /* without the NUL */
    return line;
}

} // namespace certreg
#endif
