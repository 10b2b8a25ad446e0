// Every form of a model, and certificates that are those of the C interface, bit by bit.
#include "kit.hpp"
#include <array>
#include <memory>
#if __cplusplus >= 202002L
#include <span>
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

// By the C interface, of the last output.
certreg_certificate expected(size_t outputs)
{
    const certreg_model m = [&] {
        certreg_model shape = certreg_model();
        shape.struct_size = sizeof shape;
        shape.eval = in_c;
        shape.inputs = 3;
        shape.outputs = outputs;
        return shape;
    }();
    certreg_plan p = certreg_plan();
    p.struct_size = sizeof p;
    p.seed = 42;
    p.max_samples = 1000;
    certreg_question q = certreg_question();
    q.struct_size = sizeof q;
    q.tolerance = 0.5;
    q.output = static_cast<int32_t>(outputs) - 1;
    certreg_certificate c = certreg_certificate();
    c.struct_size = sizeof c;
    certreg_estimator *e = nullptr;
    CHECK(certreg_estimator_create(nullptr, &m, &p, nullptr, &e) == CERTREG_OK);
    CHECK(certreg_estimator_begin(e, kit::input, 0.25, 7) == CERTREG_OK);
    CHECK(certreg_certify(e, 1000, &q, 1, &c) == CERTREG_OK);
    certreg_estimator_destroy(e);
    CHECK(c.radius > 0);
    return c;
}

template <class F> bool agrees(F &&f, size_t outputs = 1, certreg::backend on = {})
{
    certreg::estimator e(std::forward<F>(f), certreg::model(3, outputs), kit::plan(1000),
                         std::move(on));
    e.begin(kit::input, 0.25, 7);
    certreg::question q(0.5);
    q.output = static_cast<int32_t>(outputs) - 1;
    const certreg_certificate c = e.certify(1000, q);
    return kit::same(c, expected(outputs));
}

float by_pointer(const float *x)
{
    return kit::plain(x);
}
struct object {
    float operator()(certreg::view<const float> x) const
    {
        return x[0] + x[1] * x[2];
    }
};
} // namespace

TEST(a_row_gives_a_number)
{
    CHECK(agrees(by_pointer));
    CHECK(agrees(&by_pointer));
    CHECK(agrees(object()));
    CHECK(agrees([](const float *x) -> double { return kit::plain(x); }));
    CHECK(agrees([](certreg::view<const float> x) { return x[0] + x[1] * x[2]; }));
    CHECK(agrees([](auto x) { return x[0] + x[1] * x[2]; }));
    CHECK(agrees([](const auto &x) { return x.size() == 3 ? kit::plain(x.begin()) : 0; }));
}

TEST(a_row_fills_its_outputs)
{
    CHECK(agrees(
        [](certreg::view<const float> x, certreg::view<float> y) {
            for (size_t k = 0; k < y.size(); k++)
                y[k] = kit::plain(x.data()) + static_cast<float>(k);
        },
        2));
    CHECK(agrees(
        [](const float *x, float *y) {
            y[0] = kit::plain(x);
            y[1] = y[0] + 1;
            return 0;
        },
        2));
}

TEST(rows_fill_their_outputs)
{
    CHECK(agrees([](const float *x, float *y, size_t rows) {
        for (size_t i = 0; i < rows; i++) y[i] = kit::plain(x + 3 * i);
    }));
}

TEST(rows_that_are_not_used_are_not_passed)
{
    size_t passed = 0;
    certreg::estimator e(
        [&](const float *x, float *y, size_t rows) {
            passed += rows;
            for (size_t i = 0; i < rows; i++) y[i] = kit::plain(x + 3 * i);
        },
        certreg::model(3), kit::plan(1000));
    certreg::estimator by_row = kit::estimator(), at_once = kit::estimator();
    for (certreg::estimator *each : {&e, &by_row, &at_once}) each->begin(kit::input, 0.25, 7);
    for (certreg::estimator *each : {&e, &by_row}) {
        each->sample(700, 33);
        each->sample(100, 300);
    }
    CHECK(passed == 333);
    at_once.sample(0, 1000);
    for (certreg::estimator *each : {&e, &by_row}) {
        each->sample(0, 1000);
        CHECK(each->export_record() == at_once.export_record());
    }
}

TEST(a_batch_is_that_of_c)
{
    CHECK(agrees([](const certreg_batch &b) { return in_c(nullptr, &b); }, 2));
    CHECK(agrees([](const certreg_batch &b) { in_c(nullptr, &b); }));
}

TEST(a_model_in_c_serves_too)
{
    certreg::model shape(3);
    shape.eval = in_c;
    certreg::estimator e(shape, kit::plan(1000));
    e.begin(kit::input, 0.25, 7);
    const certreg_certificate c = e.certify(1000, certreg::question(0.5));
    CHECK(kit::same(c, expected(1)));
}

TEST(a_model_keeps_its_state_and_may_be_borrowed)
{
    size_t calls = 0;
    CHECK(agrees([&calls, held = std::make_unique<float>(0.0f)](const float *x) {
        calls++;
        return kit::plain(x) + *held;
    }));
    CHECK(calls == 1000);
    struct counter {
        size_t calls = 0;
        float operator()(const float *x)
        {
            calls++;
            return kit::plain(x);
        }
    } mine;
    CHECK(agrees(std::ref(mine)));
    CHECK(mine.calls == 1000);
}

TEST(threads_give_the_same_bits)
{
    CHECK(agrees(by_pointer, 1, certreg::backend::cpu(2)));
    CHECK(agrees(by_pointer, 1, certreg::backend::cpu()));
}

TEST(draw_and_record_give_the_same_bits)
{
    certreg::plan p = kit::plan(1000);
    p.pilot = 150;
    certreg::estimator by_hand(certreg::model(3), p), called(kit::plain, certreg::model(3), p);
    by_hand.begin(kit::input, 0.25, 7);
    called.begin(kit::input, 0.25, 7);
    std::vector<float> x(3 * 100), y(100);
    for (uint64_t first = 0; first < 1000; first += 100) {
        by_hand.draw(first, x);
        for (size_t i = 0; i < 100; i++) y[i] = kit::plain(&x[3 * i]);
        by_hand.record(first, y);
    }
    const certreg::question q(0.5);
    CHECK(kit::same(by_hand.certify(0, q), called.certify(1000, q)));
    by_hand.begin(kit::input, 0.25, 8);
    REFUSED(by_hand.sample(0, 100), CERTREG_E_WRONG_STATE, "eval");
    REFUSED(by_hand.draw(0, certreg::view<float>(x.data(), 7)), CERTREG_E_INVALID,
            "x has 7 elements, but needs 9");
    REFUSED(by_hand.draw(990, x), CERTREG_E_TOO_MANY, "");
    y[3] = 1.0f / 0.0f;
    REFUSED(by_hand.record(0, y), CERTREG_E_NOT_FINITE, "");
}

TEST(records_travel)
{
    certreg::estimator a = kit::estimator(), b = kit::estimator();
    a.begin(kit::input, 0.25, 7);
    const certreg::certificate c = a.certify(1000, certreg::question(0.5));
    const std::vector<unsigned char> record = a.export_record();
    b.begin(kit::input, 0.25, 7);
    b.import_record(record);
    CHECK(kit::same(b.certify(0, certreg::question(0.5)), c));
    b.begin(kit::input, 0.25, 7);
    b.import_record(std::string(record.begin(), record.end()));
    CHECK(kit::same(b.certify(0, certreg::question(0.5)), c));
    b.begin(kit::input, 0.25, 7);
    std::vector<unsigned char> damaged = record;
    damaged[damaged.size() / 2] ^= 1;
    REFUSED(b.import_record(damaged), CERTREG_E_CORRUPT, "record");
    REFUSED(b.import_record(record.data(), 5), CERTREG_E_CORRUPT, "record");
    b.begin(kit::input, 0.5, 7);
    REFUSED(b.import_record(record), CERTREG_E_MISMATCH, "sigma");
}

TEST(every_question_is_that_of_c)
{
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 7);
    std::vector<certreg::question> ask = {certreg::question(0.5), certreg::question(0.25)};
    const certreg::target wanted(0.1);
    ask[1].target = &wanted;
    ask[1].method = CERTREG_METHOD_ANYTIME;
    const std::vector<certreg::certificate> c = e.certify(1000, ask);
    CHECK(c.size() == 2);
    CHECK(kit::same<certreg_certificate>(c[0], expected(1)));
    CHECK(c[1].radius > 0 && c[1].radius < c[0].radius);
    std::array<certreg_certificate, 2> out{};
    out[0].struct_size = sizeof out[0];
    e.certify(0, ask, out);
    CHECK(kit::same<certreg_certificate>(c[0], out[0]));
    REFUSED(e.certify(0, ask, certreg::view<certreg_certificate>(out.data(), 1)), CERTREG_E_INVALID,
            "out has 1 elements, but needs 2");
    CHECK(out[0].radius == 0 && out[0].outcome == CERTREG_OUTCOME_ABSTAINED);
    const certreg_question unsized = [] {
        certreg_question q = certreg_question();
        q.tolerance = 0.5;
        return q;
    }();
    CHECK(kit::same(e.certify(0, unsized), c[0]));
}

// Whoever compiles this header, however it is optimised, sees what was stored before the call.
TEST(what_pointers_point_to_is_read_in_every_call)
{
    certreg::plan p = kit::plan(500);
    p.pilot = SIZE_MAX;
    float scale[3] = {0, 0, 0}, offset = 0;
    scale[0] = 1;
    certreg::model shape(3);
    shape.scale = scale;
    certreg::estimator e([&](const float *x) { return x[0] + offset; }, shape, p);
    double prediction = 0;
    certreg::target wanted;
    certreg::question q(0.5);
    q.prediction = &prediction;
    q.target = &wanted;
    for (int tick = 0; tick < 3; tick++) {
        prediction = tick;
        wanted.radius = 0.01 * (tick + 1);
        offset = static_cast<float>(tick) - 1;
        e.begin(kit::input, 0.25, static_cast<uint64_t>(tick));
        const certreg::certificate c = e.certify(500, q);
        CHECK(c.prediction == tick && c.stop == CERTREG_STOP_TARGET);
        CHECK(e.forecast(q).least_samples > 0);
    }
}

TEST(models_are_checked)
{
    certreg::estimator good = kit::estimator();
    good.begin(kit::input, 0.25, 7);
    CHECK(good.model_check() == CERTREG_DEPENDENCE_NONE && !good.last_error().text[0]);
    const auto centred = [](const float *x, float *y, size_t rows) {
        float sum = 0;
        for (size_t i = 0; i < rows; i++) sum += x[3 * i];
        for (size_t i = 0; i < rows; i++) y[i] = x[3 * i] - sum / static_cast<float>(rows);
    };
    certreg::estimator bad(centred, certreg::model(3), kit::plan(1000));
    bad.begin(kit::input, 0.25, 7);
    const certreg::error why = kit::thrown([&] { bad.model_check(); });
    CHECK(why.status == CERTREG_E_MODEL_FAILED && kit::says(why, "other rows are beside it"));
    float state = 0;
    certreg::estimator random([&](const float *) { return state++; }, certreg::model(3),
                              kit::plan(1000));
    random.begin(kit::input, 0.25, 7);
    CHECK(random.model_check() == CERTREG_DEPENDENCE_CALL && random.last_error().text[0]);
    certreg::estimator throws([](const float *) -> float { throw 5; }, certreg::model(3),
                              kit::plan(1000));
    throws.begin(kit::input, 0.25, 7);
    int caught = 0;
    try {
        throws.model_check();
    } catch (int number) {
        caught = number;
    }
    CHECK(caught == 5);
}

#if __cplusplus >= 202002L
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
TEST(designated_initialisers_and_spans_serve)
{
    certreg::estimator e([](std::span<const float> x) { return x[0] + x[1] * x[2]; },
                         {.inputs = 3, .outputs = 1}, {.seed = 42, .max_samples = 1000});
    e.begin(std::span<const float>(kit::input), 0.25, 7);
    CHECK(kit::same<certreg_certificate>(e.certify(1000, {.tolerance = 0.5}), expected(1)));
}
#endif
