// Every form of a model, and every call: the bits are those of the interface in C. And main, which
// runs every test of the program: each prints "ok NAME", or "not ok NAME" and why.
#include "kit.hpp"
#include <array>
#include <memory>
#if __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#endif
#if __cplusplus >= 202002L
#include <span>
static_assert(std::is_constructible_v<certreg::span<const float>, std::span<float>>);
#endif

namespace
{
int in_c(void *, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = kit::plain(b->x + 3 * i) + static_cast<float>(k);
    return 0;
}

// Whether this model, of so many outputs, has the certificate of in_c by the interface in C.
template <class F> bool agrees(F &&f, size_t outputs = 1, certreg::backend on = {})
{
    certreg_model shape = kit::shape(outputs);
    shape.eval = in_c; // also read if f is nullptr
    const certreg_plan plan = kit::plan();
    certreg_question q = kit::question();
    q.output = static_cast<int32_t>(outputs) - 1;
    auto expected = certreg::make<certreg_certificate>();
    certreg_estimator *c = nullptr;
    CHECK(certreg_estimator_create(nullptr, &shape, &plan, nullptr, &c) == CERTREG_OK);
    CHECK(certreg_estimator_begin(c, kit::input, 0.25, 7) == CERTREG_OK);
    CHECK(certreg_certify(c, 1000, &q, 1, &expected) == CERTREG_OK && expected.radius > 0);
    certreg_estimator_destroy(c);
    certreg::estimator e(std::forward<F>(f), shape, plan, on);
    e.begin(kit::input, 0.25, 7);
    return kit::same(e.certify(1000, q), expected);
}
} // namespace

TEST(every_form_of_a_model_has_the_bits_of_c)
{
    CHECK(agrees(kit::plain));
    CHECK(agrees(&kit::plain));
    CHECK(agrees([](const float *x) -> double { return kit::plain(x); }));
    CHECK(agrees([](auto x) { return kit::plain(x); }));
    CHECK(agrees([](const float *x, float *y) { y[0] = kit::plain(x), y[1] = y[0] + 1; }, 2));
    CHECK(agrees([](const float *x, float *y) { return y[0] = kit::plain(x), 0; }));
    CHECK(agrees([](const certreg_batch &b) { return in_c(nullptr, &b); }, 2));
    CHECK(agrees([](const certreg_batch &b) { in_c(nullptr, &b); }));
    CHECK(agrees(nullptr, 2));
    CHECK(agrees(kit::plain, 1, certreg::backend(2)));
    CHECK(agrees(kit::plain, 1, certreg::backend(0)));
    size_t calls = 0;
    CHECK(agrees([&calls, zero = std::make_unique<float>(0.0f)](const float *x) mutable {
        calls++;
        return kit::plain(x) + *zero;
    }));
    CHECK(calls == 1000);
    auto mine = [count = 0](const float *x) mutable { return count++, kit::plain(x); };
    CHECK(agrees(std::ref(mine)));
}

TEST(models_are_checked)
{
    certreg::estimator good = kit::estimator();
    good.begin(kit::input, 0.25, 7);
    CHECK(good.model_check() == CERTREG_DEPENDENCE_NONE);
    const auto centred = [](const certreg_batch &b) {
        float sum = 0;
        for (size_t i = 0; i < b.rows; i++) sum += b.x[3 * i];
        for (size_t i = 0; i < b.rows; i++) b.y[i] = b.x[3 * i] - sum / 99;
    };
    certreg::estimator bad(centred, kit::shape(), kit::plan());
    bad.begin(kit::input, 0.25, 7);
    REFUSED(bad.model_check(), CERTREG_E_MODEL_FAILED, "other rows are beside it");
}

TEST(rows_that_are_not_used_are_not_passed)
{
    size_t passed = 0;
    const auto counts = [&](const float *x) { return passed++, kit::plain(x); };
    certreg::estimator e(counts, kit::shape(), kit::plan());
    e.begin(kit::input, 0.25, 7);
    e.sample(700, 33);
    e.sample(100, 300);
    CHECK(passed == 333);
    e.sample(0, 1000);
    certreg::estimator at_once = kit::estimator();
    at_once.begin(kit::input, 0.25, 7);
    at_once.sample(0, 1000);
    CHECK(e.export_record() == at_once.export_record());
}

// What each call gives, beside what the function of C writes.
TEST(every_call_gives_what_c_gives)
{
    const certreg_question q = kit::question(), two[2] = {q, kit::question(0.25)};
    const certreg_attack_options options = kit::attack_options(1000);
    certreg::estimator e = kit::estimator();
    certreg::attack attack(e, kit::attack_plan(1000));
    certreg::solver solver;
    certreg::bisection bisection;
    auto wanted = certreg::make<certreg_coverage>();
    wanted.samples = wanted.calibration_samples = 101;
    wanted.sigma = 0.25;
    wanted.points = 100;
    const std::vector<float> to = {1.1f, 0.5f, -0.25f}, ones = {1, 1, 1};
    std::vector<float> shift(3), there(3);
    std::array<certreg_certificate, 2> both{};
    e.begin(kit::input, 0.25, 7);
    const certreg_certificate first = e.certify(1000, q);
    const auto known = e.answer<certreg_bounds>(certreg_estimator_bounds, &q, -1);
    e.certify(0, two, both);
    CHECK(kit::same(both[0], first));
#define GIVES(in_cpp, call_in_c)                                         \
    do {                                                                 \
        const auto here = in_cpp;                                        \
        auto out = certreg::make<std::remove_const_t<decltype(here)>>(); \
        CHECK((call_in_c) == CERTREG_OK);                                \
        CHECK(kit::same(here, out));                                     \
    } while (0)
#define ANSWERS(handle, type, f, ...) \
    GIVES(handle.answer<type>(f, __VA_ARGS__), f(handle.get(), __VA_ARGS__, &out))
    GIVES(first, certreg_certify(e.get(), 0, &q, 1, &out));
    GIVES(both[1], certreg_certify(e.get(), 0, &two[1], 1, &out));
    GIVES(known, certreg_estimator_bounds(e.get(), &q, -1, &out));
    ANSWERS(e, certreg_certificate, certreg_output_bounds, 0u, &q, 1u, 0.1);
    ANSWERS(solver, certreg_mean_change, certreg_solver_worst_case, &known, 0u, 0.1);
    ANSWERS(solver, certreg_worst_function, certreg_solver_worst_function, &known, 0u, 0.1, -1);
    ANSWERS(bisection, certreg_radius, certreg_bisection_within, &known, 0u, 0.01);
    GIVES(attack.run(q, options, shift),
          certreg_attack_run(attack.get(), &q, &options, there.data(), &out));
    CHECK(shift == there && shift[0] * shift[0] > 0);
    GIVES(certreg::move_certificate(first, kit::input, to, ones),
          certreg_move_certificate(&first, 3, ones.data(), kit::input, to.data(), nullptr, &out));
    GIVES(certreg::interval_rule(wanted), certreg_interval_rule(&wanted, nullptr, nullptr, &out));
}

TEST(samples_drawn_by_hand_and_records_give_the_same_bits)
{
    certreg_plan p = kit::plan();
    p.pilot = 150;
    certreg::estimator by_hand(nullptr, kit::shape(), p), called(kit::plain, kit::shape(), p);
    by_hand.begin(kit::input, 0.25, 7);
    called.begin(kit::input, 0.25, 7);
    std::vector<float> x(3 * 100), y(100);
    for (uint64_t first = 0; first < 1000; first += 100) {
        by_hand.draw(first, 100, x);
        for (size_t i = 0; i < 100; i++) y[i] = kit::plain(&x[3 * i]);
        by_hand.record(first, 100, y);
    }
    const certreg_certificate c = called.certify(1000, kit::question());
    CHECK(kit::same(by_hand.certify(0, kit::question()), c));
    const std::vector<unsigned char> record = called.export_record();
    by_hand.begin(kit::input, 0.25, 7);
    by_hand.import_record(record);
    CHECK(kit::same(by_hand.certify(0, kit::question()), c));
    REFUSED(by_hand.import_record({record.data(), 5}), CERTREG_E_CORRUPT, "record");
}

#if __has_include(<eigen3/Eigen/Core>)
TEST(matrices_of_eigen_are_filled_and_read_by_rows)
{
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    certreg::estimator e(nullptr, kit::shape(2), kit::plan());
    matrix x(1000, 3), wide(1000, 6);
    std::vector<float> same(3000);
    e.begin(Eigen::Vector3f(1, 0.5f, -0.25f), 0.25, 7);
    e.draw(0, x);
    e.draw(0, 1000, same);
    CHECK(same == std::vector<float>(x.data(), x.data() + 3000));
    const matrix y = x.rightCols(2);
    e.record(0, y.topRows(400));
    e.record(400, Eigen::Map<const matrix>(&y(400, 0), 600, 2));
    e.record(0, 1000, {y.data(), 2000}); // other values would be refused
    REFUSED(e.draw(0, wide.leftCols(3)), CERTREG_E_INVALID, "rows have gaps");
    REFUSED(e.record(0, x), CERTREG_E_INVALID, "a row of y has 3 elements, but needs 2");
}
#endif

// However the header is optimised, what pointers point to is read in every call.
TEST(what_pointers_point_to_is_read_in_every_call)
{
    certreg_plan p = kit::plan(500);
    p.pilot = SIZE_MAX;
    float scale[3] = {0, 0, 0}, offset = 0;
    scale[0] = 1;
    certreg_model shape = kit::shape();
    shape.scale = scale;
    certreg::estimator e([&](const float *x) { return x[0] + offset; }, shape, p);
    double prediction = 0;
    auto wanted = certreg::make<certreg_target>();
    certreg_question q = kit::question();
    q.prediction = &prediction;
    q.target = &wanted;
    for (int tick = 0; tick < 3; tick++) {
        prediction = tick;
        wanted.radius = 0.01 * (tick + 1);
        offset = static_cast<float>(tick) - 1;
        e.begin(kit::input, 0.25, static_cast<uint64_t>(tick));
        const certreg_certificate c = e.certify(500, q);
        CHECK(c.prediction == tick && c.stop == CERTREG_STOP_TARGET);
    }
}

TEST(a_denoiser_has_the_bits_of_c)
{
    auto plan = certreg::make<certreg_denoiser_plan>();
    plan.inputs = 6;
    plan.rows = 200;
    plan.sigma = 0.5;
    const auto read = [](uint64_t first, size_t count, float *x) { // examples on a line
        for (size_t i = 0; i < count * 6; i++) x[i] = static_cast<float>((first + i / 6) % 7) - 3;
    };
    const certreg::denoiser w(read, plan);
    std::array<float, 6> noisy = {1.5f, 0.5f, 1, 1, 0.7f, 1.3f}, clean{}, again{};
    certreg::check(certreg_denoiser_apply(w.get(), noisy.data(), 1, clean.data()));
    CHECK(clean[0] > 0.9f && clean[0] < 1.1f);
    size_t count = 0;
    certreg::check(certreg_denoiser_export(w.get(), nullptr, &count));
    std::vector<unsigned char> bytes(count);
    certreg::check(certreg_denoiser_export(w.get(), bytes.data(), &count));
    certreg_denoiser *made = nullptr;
    certreg::check(certreg_denoiser_import(bytes.data(), count, nullptr, &made));
    const certreg::denoiser other(made);
    certreg::check(certreg_denoiser_apply(other.get(), noisy.data(), 1, again.data()));
    CHECK(clean == again);
    const auto fails = [](uint64_t, size_t, float *) { return 5; };
    const certreg::error why = kit::thrown([&] { certreg::denoiser(fails, plan); });
    CHECK(why.status == CERTREG_E_MODEL_FAILED && why.code == 5);
    const auto throws = [](uint64_t, size_t, float *) { throw 7; };
    int caught = 0;
    try {
        certreg::denoiser(throws, plan);
    } catch (int thrown) {
        caught = thrown;
    }
    CHECK(caught == 7);
}

int main()
{
    int failed = 0;
    for (const auto &[name, body] : kit::tests) {
        std::string why;
        try {
            body();
        } catch (const std::string &text) {
            why = text;
        } catch (const std::exception &other) {
            why = std::string("it threw ") + other.what();
        } catch (...) {
            why = "it threw something else";
        }
        std::printf(why.empty() ? "ok %s\n" : "not ok %s: %s\n", name, why.c_str());
        failed += !why.empty();
    }
    return failed != 0;
}
