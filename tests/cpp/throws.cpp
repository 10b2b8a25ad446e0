// What a model or the progress throws comes out of the call that sampled, and nothing is lost.
#include "kit.hpp"
#include <certreg/attack.hpp>
#include <stdexcept>
#include <thread>

namespace
{
struct lost_connection : std::runtime_error {
    int code;
    explicit lost_connection(int number) : runtime_error("the server is gone"), code(number)
    {
    }
};

// Throws in the call of sample `at`, while `at` is not SIZE_MAX.
struct fragile {
    size_t *calls, *at;
    float operator()(const float *x) const
    {
        if ((*calls)++ == *at) throw lost_connection(7);
        return kit::plain(x);
    }
};

template <class Call> int code_of(Call &&call)
{
    try {
        call();
    } catch (const lost_connection &gone) {
        return gone.code;
    }
    return 0;
}
} // namespace

TEST(the_models_exception_arrives_and_one_can_go_on)
{
    size_t calls = 0, at = 600;
    certreg::estimator e(fragile{&calls, &at}, certreg::model(3), kit::plan(1000));
    certreg::estimator sound = kit::estimator();
    const certreg::question q(0.5);
    e.begin(kit::input, 0.25, 3);
    sound.begin(kit::input, 0.25, 3);
    CHECK(code_of([&] { e.certify(1000, q); }) == 7);
    CHECK(e.last_error().status == CERTREG_E_MODEL_FAILED);
    CHECK(e.last_error().model_code == -1);
    CHECK(e.info().samples == 512); // two batches of 256 are there
    at = SIZE_MAX;
    const certreg::certificate c = e.certify(1000, q);
    CHECK(calls == 601 + 1000 - 512);
    CHECK(kit::same(c, sound.certify(1000, q)));
}

TEST(every_sampling_call_throws_what_the_model_throws)
{
    size_t calls = 0, at = 0;
    certreg::estimator e(fragile{&calls, &at}, certreg::model(3), kit::plan(1000));
    const certreg::question q(0.5);
    certreg::certificate c;
    const certreg::view<certreg_certificate> one(&c, 1);
    const auto again = [&](auto call) {
        e.begin(kit::input, 0.25, 3);
        calls = 0;
        return code_of(call) == 7;
    };
    CHECK(again([&] { e.sample(0, 10); }));
    CHECK(again([&] { e.certify(1000, q); }));
    CHECK(again([&] { e.certify(1000, {q}, one); }));
    CHECK(c.outcome == CERTREG_OUTCOME_ABSTAINED && c.radius == 0);
    CHECK(again([&] { e.output_bounds(1000, q, 0.1); }));
    CHECK(again([&] { e.certify_outputs(1000, {q}, one); }));
    CHECK(again([&] { e.certify_sigmas(kit::input, {0.25, 0.5}, 0, 1000, {q}); }));
    at = SIZE_MAX;
    e.begin(kit::input, 0.25, 3);
    CHECK(e.certify(1000, q).radius > 0);
    certreg::attack a(e, certreg::attack_plan(500));
    at = calls;
    CHECK(code_of([&] { a.run(q, certreg::attack_options(500)); }) == 7);
    CHECK(a.run(q, certreg::attack_options(500)).outcome == CERTREG_ATTACK_BROKEN);
}

TEST(any_type_may_be_thrown)
{
    certreg::estimator e([](const float *) -> float { throw 42; }, certreg::model(3),
                         kit::plan(100));
    e.begin(kit::input, 0.25, 0);
    int caught = 0;
    try {
        e.sample(0, 10);
    } catch (int number) {
        caught = number;
    }
    CHECK(caught == 42);
}

TEST(nothing_is_thrown_twice_or_by_the_next_call)
{
    size_t calls = 0, at = 0;
    certreg::estimator e(fragile{&calls, &at}, certreg::model(3), kit::plan(1000));
    e.begin(kit::input, 0.25, 3);
    CHECK(code_of([&] { e.sample(0, 10); }) == 7);
    e.begin(kit::input, 0.25, 3);
    e.sample(0, 10);
    REFUSED(e.certify(1000, certreg::question(-1)), CERTREG_E_INVALID, "tolerance");
}

TEST(progress_reports_and_may_throw_or_cancel)
{
    certreg::estimator e = kit::estimator();
    uint64_t last = 0;
    e.on_progress([&](uint64_t done, uint64_t total) {
        CHECK(total == 1000 && done > last);
        last = done;
    });
    e.begin(kit::input, 0.25, 3);
    const certreg::certificate whole = e.certify(1000, certreg::question(0.5));
    CHECK(last == 1000);

    e.on_progress([](uint64_t, uint64_t) { throw lost_connection(9); });
    e.begin(kit::input, 0.25, 3);
    CHECK(code_of([&] { e.certify(1000, certreg::question(0.5)); }) == 9);
    CHECK(e.info().samples == 256);

    e.on_progress([](uint64_t done, uint64_t) { return done > 300 ? 1 : 0; });
    CHECK(e.certify(1000, certreg::question(0.5)).stop == CERTREG_STOP_CANCELLED);
    CHECK(e.info().samples == 512);
    REFUSED(e.sample(512, 400), CERTREG_E_CANCELLED, "cancel");

    e.on_progress([](uint64_t, uint64_t) {});
    e.begin(kit::input, 0.25, 3);
    CHECK(kit::same(e.certify(1000, certreg::question(0.5)), whole));
}

TEST(progress_of_the_plan_is_called_until_replaced)
{
    uint64_t seen = 0;
    certreg::plan p = kit::plan(1000);
    p.progress_user = &seen;
    p.progress = [](void *user, uint64_t done, uint64_t) {
        *static_cast<uint64_t *>(user) = done;
        return 0;
    };
    certreg::estimator e(kit::plain, certreg::model(3), p);
    e.begin(kit::input, 0.25, 3);
    e.sample(0, 512);
    CHECK(seen == 512);
    e.on_progress([](uint64_t, uint64_t) {});
    e.sample(512, 400);
    CHECK(seen == 512);
}

TEST(a_call_from_its_own_model_is_busy_and_arrives)
{
    certreg::estimator *self = nullptr;
    certreg::estimator e(
        [&](const float *) -> double { return self->certify(0, certreg::question(1)).radius; },
        certreg::model(3), kit::plan(100));
    self = &e;
    e.begin(kit::input, 0.25, 0);
    REFUSED(e.sample(0, 10), CERTREG_E_BUSY, certreg_status_text(CERTREG_E_BUSY));
    CHECK(e.last_error().status == CERTREG_E_MODEL_FAILED);
}

TEST(a_call_of_another_thread_is_busy_and_does_no_harm)
{
    certreg::estimator *running = nullptr;
    int busy = 0, batches = 0;
    certreg::estimator e(
        [&](const float *x, float *y, size_t rows) {
            std::thread([&] {
                const certreg::question q(0.5);
                busy += kit::thrown([&] { running->certify(1000, q); }).status == CERTREG_E_BUSY;
            }).join();
            for (size_t i = 0; i < rows; i++) y[i] = kit::plain(x + 3 * i);
            batches++;
        },
        certreg::model(3), kit::plan(1000));
    running = &e;
    e.begin(kit::input, 0.25, 0);
    CHECK(e.certify(1000, certreg::question(0.5)).radius > 0);
    CHECK(busy == batches && batches > 1);
}

TEST(a_call_that_races_loses_no_exception)
{
    certreg::estimator e([](const float *) -> float { throw lost_connection(7); },
                         certreg::model(3), kit::plan(100));
    e.begin(kit::input, 0.25, 0);
    int wrong[2] = {0, 0};
    const auto race = [&](int &count) {
        for (int i = 0; i < 20000; i++) {
            int code = 7;
            const int status =
                kit::thrown([&] { code = code_of([&] { e.sample(0, 10); }); }).status;
            count += code != 7 || (status != CERTREG_OK && status != CERTREG_E_BUSY);
        }
    };
    std::thread other([&] { race(wrong[0]); });
    race(wrong[1]);
    other.join();
    CHECK(wrong[0] == 0 && wrong[1] == 0);
}

TEST(what_was_thrown_below_a_function_of_c_is_not_thrown_later)
{
    size_t calls = 0, at = 0;
    certreg::estimator e(fragile{&calls, &at}, certreg::model(3), kit::plan(1000));
    e.begin(kit::input, 0.25, 3);
    CHECK(certreg_estimator_sample(e.get(), 0, 10) == CERTREG_E_MODEL_FAILED);
    e.begin(kit::input, 0.25, 4);
    CHECK(e.certify(1000, certreg::question(0.5)).radius > 0);
}

TEST(a_running_call_keeps_its_progress_and_refuses_others)
{
    certreg::estimator e = kit::estimator();
    certreg::attack a(e, certreg::attack_plan(100));
    certreg::certificate out;
    int refused = 0;
    e.on_progress([&, reports = std::vector<int>(100)](uint64_t, uint64_t) mutable {
        const auto busy = [&](auto call) { refused += kit::thrown(call).status == CERTREG_E_BUSY; };
        out.radius = 1;
        busy([&] { e.on_progress([](uint64_t, uint64_t) {}); });
        busy([&] {
            e.certify(0, {certreg::question(0.5)}, certreg::view<certreg_certificate>(&out, 1));
        });
        busy([&] { a.run(certreg::question(0.5), certreg::attack_options(100)); });
        CHECK(reports.at(99) == 0 && out.radius == 0);
    });
    e.begin(kit::input, 0.25, 3);
    e.sample(0, 256);
    CHECK(refused == 3);
}
