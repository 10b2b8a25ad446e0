/* A view of recorded samples: what it shows, and that a pass over it ends in time. */
#include "estimator/estimator.h"
#include "statistics/moments.h"
#include "support/api_kit.h"
#include <certreg/sampling.h>

enum { COUNT = 5000, OUTPUTS = 3, OUTPUT = 1 };

static float values[COUNT * OUTPUTS];

static const cr_score clipped = {
    .kind = CR_SCORE_HUBER, .side = 1, .prediction = 2, .tolerance = 1, .width = 4};

static float value_of(size_t sample)
{
    return (float)(sample % 17) - 5;
}

static cr_samples view(size_t first, size_t count, cr_watch *watch)
{
    for (size_t i = 0; i < COUNT * OUTPUTS; i++) values[i] = NAN;
    for (size_t i = first; i < first + count; i++) values[i * OUTPUTS + OUTPUT] = value_of(i);
    return (cr_samples){.y = values + OUTPUT,
                        .step = OUTPUTS,
                        .first = first,
                        .count = count,
                        .score = &clipped,
                        .center = 0.25,
                        .watch = watch};
}

TEST(a_view_shows_scores_about_its_center_and_no_other_samples)
{
    const cr_samples s = view(40, 300, NULL);
    size_t seen = 0;
    for (; cr_samples_has(&s, seen); seen++)
        ck_assert_double_eq(cr_samples_at(&s, seen),
                            cr_score_value(&clipped, &(float){value_of(40 + seen)}) - 0.25);
    ck_assert_uint_eq(seen, 300);
}

TEST(an_empty_view_shows_nothing)
{
    const cr_samples s = view(COUNT, 0, NULL);
    cr_moments m;
    ck_assert(!cr_samples_has(&s, 0));
    cr_moments_of(&s, &m);
    ck_assert_uint_eq(m.count, 0);
}

TEST(moments_of_a_view_are_those_of_its_scores)
{
    const cr_samples s = view(7, 400, NULL);
    cr_moments m;
    double sum = 0, square = 0;
    cr_moments_of(&s, &m);
    for (size_t i = 0; i < s.count; i++) {
        const double u = cr_score_value(&clipped, &(float){value_of(7 + i)}) - 0.25;
        sum += u, square += u * u;
    }
    ck_assert_uint_eq(m.count, 400);
    ck_assert_double_eq_tol(cr_moments_mean(&m), sum / 400, 1e-14);
    ck_assert_double_eq_tol(cr_moments_second(&m), square / 400 - sum / 400 * sum / 400, 1e-14);
}

static double always_later(void *of)
{
    double *seconds = of;
    return *seconds += 1;
}

TEST(a_pass_ends_soon_after_it_is_late)
{
    double seconds = 0;
    cr_watch watch = {.now = always_later, .of = &seconds, .due = 2.5};
    const cr_samples s = view(0, COUNT, &watch);
    size_t seen = 0;
    while (cr_samples_has(&s, seen)) seen++;
    ck_assert(watch.late);
    ck_assert_uint_lt(seen, 3 * CR_WATCH_STEP);
    ck_assert(!cr_samples_has(&s, 0)); /* nor does any other pass begin */
}

TEST(without_hurry_every_sample_is_seen)
{
    double seconds = 0;
    cr_watch watch = {.now = always_later, .of = &seconds};
    const cr_samples s = view(0, COUNT, &watch);
    size_t seen = 0;
    while (cr_samples_has(&s, seen)) seen++;
    ck_assert_uint_eq(seen, COUNT);
}

TEST(the_record_gives_a_view_of_one_of_its_outputs)
{
    const certreg_model m = kit_model(NULL, NULL, 2, OUTPUTS);
    certreg_plan p = kit_plan(50);
    p.pilot = 5;
    const float z[2] = {0};
    float y[50 * OUTPUTS];
    for (size_t i = 0; i < 50 * OUTPUTS; i++) y[i] = (float)i;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, 1, 0));
    KIT_OK(e, certreg_estimator_record(e, 0, 50, y));
    const cr_score itself = {.kind = CR_SCORE_OUTPUT};
    const cr_samples s = cr_view_samples(&e->record, &itself, 2, 5, 45, 100);
    ck_assert_uint_eq(s.count, 45);
    for (size_t i = 0; cr_samples_has(&s, i); i++)
        ck_assert_double_eq(cr_samples_at(&s, i), (double)y[(5 + i) * OUTPUTS + 2] - 100);
}

KIT_MAIN("view of samples")
