/* The loop of examples/control_loop: nothing is allocated; certificates that are moved save calls;
 * and whatever goes wrong is said in a sentence, and the tilt sensor takes over. What an adversary
 * of the camera does with and without certificates: data/examples.expected. Time is simulated, and
 * only what holds at any speed is asserted where there is a deadline. */
#include "control_loop/control_loop.h"
#include "support/counting_malloc.h"
#include "support/suite.h"

static summary run(settings set, uint64_t seed)
{
    set.seed = seed, set.seconds = 6;
    const summary s = loop_run(&set);
    ck_assert_int_eq(s.loop.of[0] + s.loop.of[1] + s.loop.of[2], s.loop.ticks);
    return s;
}

static void check_that_it_stands(const summary *s)
{
    ck_assert(!s->fell && s->loop.ticks == 1200);
    ck_assert_double_lt(s->most, 1);
}

TEST(control_loop_saves_calls_by_moved_certificates)
{
    settings set = loop_settings(TRUST_CERTIFICATE, 0);
    const summary kept = run(set, 11);
    set.keep = 0;
    const summary fresh = run(set, 11);
    check_that_it_stands(&kept);
    check_that_it_stands(&fresh);
    ck_assert(kept.loop.of[SOURCE_MOVED] > 0 && fresh.loop.of[SOURCE_MOVED] == 0);
    ck_assert_int_eq(fresh.loop.calls, fresh.loop.ticks * SAMPLES);
    ck_assert_double_lt((double)kept.loop.calls, 0.8 * (double)fresh.loop.calls);
    ck_assert_int_eq(kept.loop.calls, (kept.loop.ticks - kept.loop.of[SOURCE_MOVED]) * SAMPLES);
}

TEST(control_loop_allocates_nothing)
{
    if (!interposed()) return;
    settings set = loop_settings(TRUST_CERTIFICATE, 1);
    set.seconds = 1;
    watch(0);
    const summary s = loop_run(&set);
    unwatch();
    ck_assert(taken == 0 && live == 0);
    ck_assert_int_eq(s.loop.ticks, 200);
}

/* ---- mistakes */
static int not_a_number(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = NAN;
    return 0;
}

static const struct {
    certreg_eval network;
    size_t pixels, memory;
    double deadline;
    const char *said;
} mistakes[] = {
    {not_a_number, PIXELS, LOOP_MEMORY, 0, "NaN"},
    {network_eval, PIXELS - 1, LOOP_MEMORY, 0, "the model returned 1"},
    {network_eval, PIXELS, 1024, 0, "plan.memory_bytes"},
    {network_eval, PIXELS, LOOP_MEMORY, 1e-9, "the deadline came before"},
};

TEST_ROWS(control_loop_falls_back_to_the_tilt_sensor_at_mistakes, mistakes)
{
    settings set = loop_settings(TRUST_CERTIFICATE, 1);
    set.network = mistakes[_i].network, set.pixels = mistakes[_i].pixels;
    set.memory = mistakes[_i].memory, set.deadline = mistakes[_i].deadline;
    const summary s = run(set, 11);
    check_that_it_stands(&s);
    ck_assert_int_eq(s.loop.of[SOURCE_TILT], s.loop.ticks);
    ck_assert_msg(strstr(s.loop.said, mistakes[_i].said) != NULL, "%s", s.loop.said);
}

/* Certificates of what was there in time are valid too, so how many ticks have one depends on the
 * machine. */
TEST(control_loop_stands_with_a_deadline_of_100_microseconds)
{
    settings set = loop_settings(TRUST_CERTIFICATE, 1);
    set.deadline = 1e-4;
    const summary s = run(set, 11);
    check_that_it_stands(&s);
    ck_assert_int_eq(s.loop.missed > 0, s.loop.said[0] != 0);
}

TEST_MAIN("the control loop")
