// Handles: moves, any order of destruction, exceptions of the model, wrong sizes, no allocations;
// queues and services.
#include "kit.hpp"
#include <cmath>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>

namespace
{
size_t allocations;
// A model that says when it is destroyed, and cannot be copied.
auto witness(bool *gone)
{
    const auto tell = [](bool *flag) { *flag = true; };
    return [held = std::unique_ptr<bool, decltype(tell)>(gone, tell)](const float *x) {
        return kit::plain(x);
    };
}
struct lost_connection {
};
// Throws in the call of sample `at`.
auto fragile(size_t *calls, size_t *at)
{
    return
        [=](const float *x) { return (*calls)++ == *at ? throw lost_connection() : kit::plain(x); };
}
template <class Call> bool loses(Call &&call)
{
    try {
        call();
    } catch (const lost_connection &) {
        return true;
    }
    return false;
}
} // namespace

// Not inline, where compilers take the pair of malloc and free for a mistake.
[[gnu::noinline]] void *operator new(std::size_t bytes)
{
    allocations++;
    if (void *block = std::malloc(bytes ? bytes : 1)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *block) noexcept
{
    std::free(block);
}
[[gnu::noinline]] void operator delete(void *block, std::size_t) noexcept
{
    std::free(block);
}

template <class T>
constexpr bool moves = std::is_nothrow_move_assignable_v<T> && !std::is_copy_constructible_v<T>;
static_assert(moves<certreg::estimator> && moves<certreg::attack>);
static_assert(moves<certreg::solver> && moves<certreg::bisection>);
static_assert(std::is_nothrow_copy_constructible_v<certreg::error>);

TEST(a_moved_estimator_goes_on_and_the_old_one_says_so)
{
    bool gone = false;
    const certreg_question q = kit::question();
    certreg::estimator a(witness(&gone), kit::shape(), kit::plan());
    a.begin(kit::input, 0.25, 0);
    a.sample(0, 500);
    certreg::estimator b = std::move(a);
    CHECK(a.get() == nullptr && b.get() != nullptr);
    const certreg_certificate c = b.certify(1000, q);
    CHECK(c.radius > 0);
    a.cancel();
    REFUSED(a.begin(kit::input, 0.25, 0), CERTREG_E_INVALID, "moved from");
    certreg_certificate earlier = c;
    REFUSED(a.certify(0, {q}, {&earlier, 1}), CERTREG_E_INVALID, "moved from");
    CHECK(earlier.radius == 0 && earlier.outcome == CERTREG_OUTCOME_ABSTAINED);
    REFUSED(certreg::attack(a, kit::attack_plan(10)), CERTREG_E_INVALID, "");
    certreg::estimator &same = b;
    b = std::move(same);
    std::vector<certreg::estimator> many;
    many.push_back(std::move(b));
    for (int i = 0; i < 5; i++) many.push_back(kit::estimator());
    CHECK(!gone && kit::same(many[0].certify(0, q), c));
    many[0] = std::move(many[1]);
    CHECK(gone);
    certreg::bisection search, other = std::move(search);
    REFUSED(search.call(certreg_bisection_info, nullptr), CERTREG_E_INVALID, "moved from");
}

TEST(handles_are_destroyed_in_any_order)
{
    const certreg_question q = kit::question();
    for (int order = 0; order < 6; order++) {
        bool gone = false;
        std::optional<certreg::backend> backend(certreg::backend(2));
        std::optional<certreg::estimator> e;
        e.emplace(witness(&gone), kit::shape(), kit::plan(), *backend);
        e->begin(kit::input, 0.25, 0);
        CHECK(e->certify(1000, q).radius > 0);
        std::optional<certreg::attack> a;
        a.emplace(*e, kit::attack_plan(400));
        const int first = order / 2, second = (first + 1 + order % 2) % 3;
        for (int which : {first, second}) {
            if (which == 0) backend.reset();
            if (which == 1) e.reset();
            if (which == 2) a.reset();
            if (e) CHECK(e->certify(0, q).radius > 0);
            if (a) CHECK(a->run(q, kit::attack_options(400)).calls > 0);
            CHECK(gone == (!e && !a));
        }
    }
}

TEST(an_estimator_may_go_away_in_its_model)
{
    bool gone = false;
    std::optional<certreg::estimator> e;
    auto model = [&, held = witness(&gone)](const float *x) {
        e.reset();
        CHECK(!gone);
        return held(x);
    };
    e.emplace(std::move(model), kit::shape(), kit::plan());
    e->begin(kit::input, 0.25, 0);
    CHECK(e->certify(1000, kit::question()).radius > 0);
    CHECK(gone);
}

TEST(the_models_exception_arrives_and_one_can_go_on)
{
    size_t calls = 0, at = 600;
    certreg::estimator e(fragile(&calls, &at), kit::shape(), kit::plan());
    certreg::estimator sound = kit::estimator();
    const certreg_question q = kit::question();
    e.begin(kit::input, 0.25, 3);
    sound.begin(kit::input, 0.25, 3);
    CHECK(loses([&] { e.certify(1000, q); }));
    CHECK(certreg_estimator_error(e.get())->status == CERTREG_E_MODEL_FAILED);
    CHECK(e.answer<certreg_run>(certreg_estimator_info).samples == 512); // two batches of 256
    at = SIZE_MAX;
    const certreg_certificate c = e.certify(1000, q);
    CHECK(calls == 601 + 1000 - 512);
    CHECK(kit::same(c, sound.certify(1000, q)));

    certreg::attack a(e, kit::attack_plan(500));
    at = calls;
    CHECK(loses([&] { a.run(q, kit::attack_options(500)); }));
    CHECK(a.run(q, kit::attack_options(500)).outcome == CERTREG_ATTACK_BROKEN);
    // Nothing is thrown twice, or by the next call, or later what a function of C has passed by.
    e.begin(kit::input, 0.25, 4);
    at = calls;
    CHECK(certreg_estimator_sample(e.get(), 0, 10) == CERTREG_E_MODEL_FAILED);
    REFUSED(e.certify(0, kit::question(-1)), CERTREG_E_INVALID, "tolerance");
}

TEST(a_call_during_a_call_is_busy_and_does_no_harm)
{
    certreg::estimator *self = nullptr;
    int busy = 0;
    certreg_certificate out;
    const auto model = [&](const certreg_batch &b) {
        const auto call = [&] { self->certify(0, {kit::question()}, {&out, 1}); };
        const auto counts = [&] {
            out.radius = 1;
            busy += kit::thrown(call).status == CERTREG_E_BUSY && out.radius == 0;
        };
        counts();
        std::thread(counts).join();
        for (size_t i = 0; i < b.rows; i++) b.y[i] = kit::plain(b.x + 3 * i);
    };
    certreg::estimator e(model, kit::shape(), kit::plan());
    self = &e;
    e.begin(kit::input, 0.25, 0);
    CHECK(e.certify(1000, kit::question()).radius > 0);
    CHECK(busy == 2 * 4);
}

TEST(a_call_that_races_loses_no_exception)
{
    const auto model = [](const float *) -> float { throw lost_connection(); };
    certreg::estimator e(model, kit::shape(), kit::plan());
    e.begin(kit::input, 0.25, 0);
    int wrong[2] = {0, 0};
    const auto race = [&](int &count) {
        for (int i = 0; i < 20000; i++) {
            bool lost = false;
            const int status = kit::thrown([&] { lost = loses([&] { e.sample(0, 10); }); }).status;
            count += !lost && status != CERTREG_E_BUSY;
        }
    };
    std::thread other([&] { race(wrong[0]); });
    race(wrong[1]);
    other.join();
    CHECK(wrong[0] == 0 && wrong[1] == 0);
}

TEST(the_steady_state_does_not_allocate)
{
    using namespace std::chrono_literals;
    certreg::estimator e = kit::estimator();
    certreg::bisection search;
    certreg_certificate out[2];
    const certreg_question ask[2] = {kit::question(), kit::question(0.25)};
    std::vector<float> x(30);
    double radii = 0;
    const size_t before = allocations;
    for (uint64_t tick = 0; tick < 5; tick++) {
        e.set_deadline(1h);
        e.begin(kit::input, 0.25, tick);
        radii += e.certify(1000, ask[0]).radius;
        e.certify(0, ask, out);
        e.draw(0, 10, x);
        const auto b = e.answer<certreg_bounds>(certreg_estimator_bounds, ask, -1);
        radii += search.answer<certreg_radius>(certreg_bisection_within, &b, 0u, 0.01).radius;
    }
    CHECK(allocations == before && radii > 0);
    if (before == 0) std::puts("skip allocations: operator new is replaced, by valgrind");
    e.begin(kit::input, 0.25, 0);
    e.set_deadline(0ms);
    CHECK(e.certify(1000, ask[0]).stop == CERTREG_STOP_DEADLINE);
    REFUSED(e.sample(0, 10), CERTREG_E_DEADLINE, "");
    e.set_deadline(std::chrono::duration<double>(INFINITY));
    e.sample(0, 10);
}

// Elements that do not lie one after the other, as in a row of a matrix stored by columns.
struct backwards : std::vector<float> {
    using vector::vector;
    auto begin() const
    {
        return rbegin();
    }
};

TEST(spans_of_wrong_sizes_are_refused_and_leave_no_answer)
{
    certreg::estimator e = kit::estimator();
    const certreg_question q = kit::question();
    std::vector<float> four(4);
    e.begin(kit::input, 0.25, 0);
    const certreg_certificate c = e.certify(1000, q);
    REFUSED(e.begin({1, 2}, 0.25, 1), CERTREG_E_INVALID, "z has 2 elements, but needs 3");
    REFUSED(e.certify(0, q), CERTREG_E_WRONG_STATE, "begin"); // not about the last input either
    REFUSED(e.begin({}, 0.25, 0), CERTREG_E_INVALID, "z has 0 elements");
    REFUSED(e.begin(backwards{1, 2, 3}, 0.25, 0), CERTREG_E_INVALID, "gaps");
    e.begin(kit::input, 0.25, 0);
    REFUSED(e.draw(0, 2, four), CERTREG_E_INVALID, "x has 4 elements, but needs 6");
    REFUSED(e.record(0, 2, four), CERTREG_E_INVALID, "y has 4 elements, but needs 2");
    certreg_certificate out[2] = {c, c};
    REFUSED(e.certify(0, {q}, out), CERTREG_E_INVALID, "out has 2 elements, but needs 1");
    CHECK(out[0].radius == 0 && out[1].radius == 0 && std::isnan(out[1].prediction));
    REFUSED(e.certify(1000, {q, kit::question(-1)}, out), CERTREG_E_INVALID, "tolerance");
    CHECK(out[0].status == CERTREG_OK && out[0].radius > 0 && out[1].radius == 0);
    certreg::attack a(e, kit::attack_plan(500));
    REFUSED(a.run(q, kit::attack_options(500), four), CERTREG_E_INVALID, "shift has 4 elements");
    REFUSED(certreg::move_certificate(c, kit::input, four), CERTREG_E_INVALID, "to has 4");
    REFUSED(certreg::move_certificate(c, kit::input, kit::input, four), CERTREG_E_INVALID,
            "scale has 4");

    const int32_t pair = CERTREG_OUTPUT_ANGLE_PAIR;
    certreg_model angle = kit::shape();
    angle.kind = &pair;
    certreg::estimator turned(nullptr, angle, kit::plan());
    turned.begin(kit::input, 0.25, 0);
    REFUSED(turned.record(0, 3, four), CERTREG_E_INVALID, "y has 4 elements, but needs 6");
    static_assert(!std::is_constructible_v<certreg::span<float>, const std::vector<float> &>);
    static_assert(!std::is_constructible_v<certreg::span<const float>, std::vector<double>>);
}

TEST(errors_carry_their_fields)
{
    REFUSED(certreg::backend(-1), CERTREG_E_INVALID, "threads");
    REFUSED(certreg::backend("/no/such.so"), CERTREG_E_NO_BACKEND, "/no/such.so");
    certreg::estimator two(kit::plain, kit::shape(2), kit::plan()); // its second output stays NaN
    two.begin(kit::input, 0.25, 0);
    const certreg::error left = kit::thrown([&] { two.sample(0, 10); });
    CHECK(left.status == CERTREG_E_NOT_FINITE && left.output == 1 && left.sample == 0);
    certreg::estimator e([](const float *, float *) { return -3; }, kit::shape(), kit::plan());
    e.begin(kit::input, 0.25, 0);
    const certreg::error why = kit::thrown([&] { e.sample(0, 100); });
    CHECK(why.status == CERTREG_E_MODEL_FAILED && why.code == -3);
    static_assert(std::is_base_of_v<std::exception, certreg::error>);
    REFUSED(e.begin(kit::input, -1, 0), CERTREG_E_INVALID, "sigma");
    CHECK(std::strlen(certreg::error(1, std::string(999, 'x').c_str()).what()) == 255);
}

// ---- queues: structs, vectors and refusals of C++, exceptions of the model. C tests the rest.
namespace
{
certreg_queue_input input(uint64_t tag, const certreg_alternatives *set = nullptr)
{
    auto in = certreg::make<certreg_queue_input>();
    in.tag = in.noise_id = tag;
    in.sigma = 0.25;
    in.alternatives = set;
    return in;
}
template <class F> certreg::queue queue(F &&f)
{
    auto room = certreg::make<certreg_queue_plan>();
    room.capacity = 8;
    room.questions = room.alternatives = 2;
    room.sets = 1;
    return {std::forward<F>(f), kit::shape(), kit::plan(), room};
}
} // namespace

TEST(results_of_a_queue_have_all_that_they_have_in_c)
{
    const certreg_question ask[2] = {kit::question(), kit::question(0.25)};
    const std::vector<float> changed = {1.25f, 0.5f, -0.25f, 9, 0.5f, -0.25f};
    certreg_certificate alone[2];
    certreg::queue first = queue(kit::plain), q = std::move(first);
    auto set = certreg::make<certreg_alternatives>();
    set.count = 2;
    set.z = changed.data();
    set.first_noise_id = 100;
    CHECK(!q.take() && q.add(input(4), kit::input, ask) && q.add(input(5, &set), kit::input, ask));
    q.run();
    auto r = q.take();
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 4);
    e.certify(1000, ask, alone);
    CHECK(r && r->tag == 4 && r->why.status == CERTREG_OK && r->alternatives.empty());
    CHECK(r->certificates.size() == 2 && r->limiting == std::vector<uint32_t>(2));
    CHECK(kit::same(alone[0], r->certificates[0]) && kit::same(alone[1], r->certificates[1]));
    q.run();
    r = q.take();
    CHECK(r && r->tag == 5 && r->proved == 0 && r->limiting[1] == 2 && !q.take());
    CHECK(r->alternatives.size() == 6 && r->alternatives[5].estimate > 8);
    REFUSED(first.run(), CERTREG_E_INVALID, "moved from");
    REFUSED(first.take(), CERTREG_E_INVALID, "");
    REFUSED(q.add(input(30), {1, 2}, ask), CERTREG_E_INVALID, "z has 2 elements, but needs 3");
    REFUSED(q.add(input(30), kit::input, {}), CERTREG_E_INVALID, "count is 0");
}

TEST(an_exception_leaves_the_run_of_a_queue)
{
    size_t calls = 0, at = 0;
    certreg::queue q = queue(fragile(&calls, &at));
    q.add(input(0), kit::input, {kit::question()});
    CHECK(loses([&] { q.run(); }));
    const auto failed = q.take();
    CHECK(failed && failed->why.status == CERTREG_E_MODEL_FAILED);
    CHECK(q.add(input(0), kit::input, {kit::question()}));
    q.run();
    CHECK(q.take()->certificates[0].radius > 0);
}

// ---- services

TEST(an_exception_leaves_the_act_of_a_service)
{
    size_t calls = 0, at = SIZE_MAX;
    const double fallback = -5;
    auto serving = certreg::make<certreg_serving>();
    auto plan = certreg::make<certreg_service_plan>();
    auto q = kit::question();
    serving.samples = 11;
    serving.failure_rate = 0.1;
    plan.fallback = &fallback;
    q.serving = &serving;
    std::optional<certreg::estimator> e;
    e.emplace(fragile(&calls, &at), kit::shape(), kit::plan());
    e->begin(kit::input, 0.25, 0);
    const auto c = e->certify(1000, q);
    certreg::service s(*e, q, &c, plan);
    e.reset();
    double action[1] = {};
    s.start();
    CHECK(s.act(kit::input, action).source == CERTREG_SOURCE_ANSWERED && *action != fallback);
    at = calls + 3;
    CHECK(loses([&] { s.act(kit::input, action); }) && *action == fallback);
    s.anchor(kit::input, c);
    REFUSED(s.act({1, 2}, action), CERTREG_E_INVALID, "reading has 2 elements");
    REFUSED(s.act(kit::input, {}), CERTREG_E_INVALID, "action has 0 elements");
}
