// Handles: moves, any order of destruction, cancel, deadlines, memory.
#include "kit.hpp"
#include <certreg/attack.hpp>
#include <certreg/interval.hpp>
#include <certreg/solver.hpp>
#include <cmath>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>

namespace
{
size_t allocations;
// Says when it is destroyed.
struct witness {
    bool *gone;
    explicit witness(bool *flag) : gone(flag)
    {
    }
    witness(witness &&from) noexcept : gone(std::exchange(from.gone, nullptr))
    {
    }
    ~witness()
    {
        if (gone) *gone = true;
    }
    float operator()(const float *x) const
    {
        return kit::plain(x);
    }
};
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

TEST(handles_move_and_are_not_copied)
{
    static_assert(std::is_nothrow_move_constructible_v<certreg::estimator>);
    static_assert(std::is_nothrow_move_assignable_v<certreg::estimator>);
    static_assert(!std::is_copy_constructible_v<certreg::estimator>);
    static_assert(!std::is_copy_assignable_v<certreg::estimator>);
    static_assert(!std::is_copy_constructible_v<certreg::solver>);
    static_assert(!std::is_copy_constructible_v<certreg::bisection>);
    static_assert(!std::is_copy_constructible_v<certreg::attack>);
    static_assert(std::is_nothrow_move_assignable_v<certreg::attack>);
}

TEST(a_moved_estimator_goes_on_and_the_old_one_says_so)
{
    bool gone = false;
    certreg::estimator a(witness(&gone), certreg::model(3), kit::plan(1000));
    a.begin(kit::input, 0.25, 0);
    a.sample(0, 500);
    certreg::estimator b = std::move(a);
    CHECK(a.get() == nullptr && b.get() != nullptr);
    const certreg::certificate c = b.certify(1000, certreg::question(0.5));
    CHECK(c.radius > 0);
    a.cancel();
    REFUSED(a.begin(kit::input, 0.25, 0), CERTREG_E_INVALID, "moved from");
    REFUSED(a.certify(1000, certreg::question(0.5)), CERTREG_E_INVALID, "moved from");
    REFUSED(a.last_error(), CERTREG_E_INVALID, "moved from");
    certreg::certificate earlier = c;
    const certreg::view<certreg_certificate> out(&earlier, 1);
    REFUSED(a.certify(0, {certreg::question(0.5)}, out), CERTREG_E_INVALID, "moved from");
    CHECK(earlier.radius == 0 && earlier.outcome == CERTREG_OUTCOME_ABSTAINED);
    REFUSED(a.on_progress([](uint64_t, uint64_t) {}), CERTREG_E_INVALID, "moved from");
    REFUSED(certreg::attack(a, certreg::attack_plan(10)), CERTREG_E_INVALID, "");
    certreg::estimator &same = b;
    b = std::move(same);
    CHECK(!gone && b.get() != nullptr);
    CHECK(kit::same(b.certify(0, certreg::question(0.5)), c));
    a = std::move(b);
    CHECK(kit::same(a.certify(0, certreg::question(0.5)), c));
    std::vector<certreg::estimator> many;
    many.push_back(std::move(a));
    for (int i = 0; i < 5; i++) many.push_back(kit::estimator());
    CHECK(kit::same(many[0].certify(0, certreg::question(0.5)), c));
    many.clear();
    CHECK(gone);
}

TEST(handles_are_destroyed_in_any_order)
{
    const certreg::question q(0.5);
    for (int order = 0; order < 6; order++) {
        bool gone = false;
        std::optional<certreg::backend> backend(certreg::backend::cpu(2));
        std::optional<certreg::estimator> e;
        e.emplace(witness(&gone), certreg::model(3), kit::plan(1000), *backend);
        e->begin(kit::input, 0.25, 0);
        CHECK(e->certify(1000, q).radius > 0);
        std::optional<certreg::attack> a;
        a.emplace(*e, certreg::attack_plan(400));
        const int first = order / 2, second = (first + 1 + order % 2) % 3;
        for (int which : {first, second}) {
            if (which == 0) backend.reset();
            if (which == 1) e.reset();
            if (which == 2) a.reset();
            if (e) CHECK(e->certify(0, q).radius > 0);
            if (a) CHECK(a->run(q, certreg::attack_options(400)).calls > 0);
            CHECK(gone == (!e && !a));
        }
    }
}

TEST(an_estimator_may_go_away_in_its_model)
{
    bool gone = false;
    std::optional<certreg::estimator> e;
    e.emplace(
        [&, held = witness(&gone)](const float *x) {
            e.reset();
            CHECK(!gone);
            return held(x);
        },
        certreg::model(3), kit::plan(1000));
    e->begin(kit::input, 0.25, 0);
    CHECK(e->certify(1000, certreg::question(0.5)).radius > 0);
    CHECK(gone);
}

TEST(what_is_filled_is_no_temporary)
{
    using filled = certreg::view<double>;
    static_assert(!std::is_constructible_v<certreg::calibration, std::vector<double>>);
    static_assert(std::is_constructible_v<certreg::calibration, std::vector<double> &>);
    static_assert(std::is_constructible_v<filled, filled>);
    static_assert(std::is_constructible_v<certreg::view<const double>, std::vector<double>>);
}

TEST(a_moved_solver_goes_on)
{
    certreg::bounds b;
    b.constraints = CERTREG_CONSTRAINTS_C;
    b.sigma = 0.25;
    b.variance_hi = 2;
    certreg::bisection search;
    const double radius = search.within(b, 0.5).radius;
    CHECK(radius > 0);
    certreg::bisection other = std::move(search);
    CHECK(other.within(b, 0.5).radius == radius);
    REFUSED(search.within(b, 0.5), CERTREG_E_INVALID, "");
    certreg::solver first, second = std::move(first);
    CHECK(second.worst_case(b, radius).drop <= 0.5);
    REFUSED(first.info(), CERTREG_E_INVALID, "");
    b.variance_hi = -1;
    REFUSED(other.within(b, 0.5), CERTREG_E_INVALID, "variance_hi");
    REFUSED(second.worst_case(b, 1), CERTREG_E_INVALID, "variance_hi");
    certreg::bisection_plan wrong;
    wrong.accuracy = 2;
    REFUSED(certreg::bisection{wrong}, CERTREG_E_INVALID, "accuracy");
}

TEST(a_cancel_from_anywhere_is_reported_once)
{
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 0);
    e.cancel();
    e.cancel(); // twice is once
    CHECK(e.certify(1000, certreg::question(0.5)).stop == CERTREG_STOP_CANCELLED);
    CHECK(e.certify(1000, certreg::question(0.5)).stop == CERTREG_STOP_ALL);
    // In the middle, by another thread, which the model waits for.
    certreg::estimator *running = nullptr;
    size_t calls = 0;
    certreg::estimator slow(
        [&](const float *x) {
            if (calls++ == 300) std::thread([&] { running->cancel(); }).join();
            return kit::plain(x);
        },
        certreg::model(3), kit::plan(1000));
    running = &slow;
    slow.begin(kit::input, 0.25, 0);
    REFUSED(slow.sample(0, 1000), CERTREG_E_CANCELLED, "");
    CHECK(slow.info().samples == 512);
    CHECK(slow.certify(1000, certreg::question(0.5)).radius > 0);
}

TEST(deadlines_take_durations_and_points_in_time)
{
    using namespace std::chrono_literals;
    const certreg::question q(0.5);
    certreg::estimator e = kit::estimator();
    const auto stop = [&](auto deadline) {
        e.begin(kit::input, 0.25, 0);
        e.set_deadline(deadline);
        return e.certify(1000, q).stop;
    };
    CHECK(stop(-1ms) == CERTREG_STOP_DEADLINE);
    CHECK(stop(1h) == CERTREG_STOP_ALL);
    CHECK(stop(0s) == CERTREG_STOP_ALL); // none, as in certreg.h
    CHECK(stop(std::chrono::steady_clock::now() + 1h) == CERTREG_STOP_ALL);
    CHECK(stop(std::chrono::steady_clock::time_point::max()) == CERTREG_STOP_ALL);
    CHECK(stop(std::chrono::steady_clock::now()) == CERTREG_STOP_DEADLINE);
    CHECK(stop(std::chrono::steady_clock::time_point()) == CERTREG_STOP_DEADLINE);
    CHECK(stop(std::chrono::steady_clock::time_point::min()) == CERTREG_STOP_DEADLINE);
    REFUSED(e.sample(0, 10), CERTREG_E_DEADLINE, "");
    REFUSED(e.set_deadline(std::chrono::duration<double>(double(NAN))), CERTREG_E_INVALID, "");
}

TEST(the_steady_state_does_not_allocate)
{
    certreg::estimator e = kit::estimator();
    uint64_t seen = 0;
    e.on_progress([&](uint64_t done, uint64_t) { seen = done; });
    certreg::bisection search;
    certreg::bounds b;
    certreg::certificate out[2];
    const certreg::question ask[2] = {certreg::question(0.5), certreg::question(0.25)};
    std::vector<float> x(30);
    double radii = 0;
    const size_t before = allocations;
    for (uint64_t tick = 0; tick < 5; tick++) {
        e.set_deadline(std::chrono::hours(1));
        e.begin(kit::input, 0.25, tick);
        radii += e.certify(1000, ask[0]).radius;
        e.certify(0, ask, out);
        e.draw(0, x);
        b = e.bounds(ask[0], out[0].limiting_side);
        radii += search.within(b, 0.01).radius + out[1].radius + e.info().sigma;
        radii += e.prediction(ask[0]) + e.output_bounds(0, ask[0], 0.1).output_hi;
    }
    CHECK(allocations == before);
    CHECK(radii > 0 && seen == 1000);
    if (before == 0) std::puts("skip allocations: operator new is replaced, by valgrind");
}

TEST(memory_of_the_caller_serves)
{
    certreg::plan p = kit::plan(1000);
    alignas(64) static unsigned char memory[1 << 17];
    p.memory_bytes = certreg::estimator::size(certreg::model(3), p);
    CHECK(p.memory_bytes > 4000 && p.memory_bytes <= sizeof memory);
    CHECK(certreg::estimator::device_size(certreg::model(3), p) == 0);
    p.memory = memory;
    certreg::estimator e(kit::plain, certreg::model(3), p);
    e.begin(kit::input, 0.25, 0);
    CHECK(e.certify(1000, certreg::question(0.5)).radius > 0);
}
