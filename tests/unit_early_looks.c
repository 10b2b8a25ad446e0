/* Early looks at a record: the first one against all other numbers, and what they depend on. */
#include "support/api_kit.h"
#include "conditions/conditions.h"
#include "statistics/binomial.h"

static double paths[CR_GROUP_WORK_DOUBLES];
static cr_workspace scratch = {.group_paths = paths};

typedef struct early_case {
    double growth, alpha, radius; /* in sigmas */
    uint64_t end;                 /* main samples of the last look */
} early_case;

enum { PILOT = 30, GRID = 4 * 3 * 5 * 4 };
static early_case case_of(int i)
{
    const double growths[] = {1.02, 1.25, 1.5, 4}, alphas[] = {0.3, 0.05, 1e-6},
                 radii[] = {0.05, 0.4, 1, 2, 9};
    const uint64_t ends[] = {1, 40, 300, 970};
    return (early_case){growths[i % 4], alphas[i / 4 % 3], radii[i / 12 % 5], ends[i / 60]};
}

static int looks_with(early_case c, cr_deadline *deadline, size_t batch, int is_group,
                      cr_looks *out)
{
    const cr_record r = {.pilot = PILOT,
                         .plan.max_samples = PILOT + c.end,
                         .model.batch = batch,
                         .input.min_sigma = 0.5,
                         .deadline = deadline};
    const cr_question q = {
        .given = {.alpha = c.alpha, .target_radius = 0.5 * c.radius, .growth = c.growth},
        .is_group_sequential = is_group,
        .directions = 1};
    return cr_looks_schedule(&r, &scratch, &q, out);
}

/* Whether the test can pass at the first of such looks. */
static int can_pass_first(const early_case *c, double q, uint64_t first)
{
    const double by = fmax(c->growth, pow((double)c->end / (double)first, 1.0 / 126));
    uint64_t trials[CR_LOOKS];
    int64_t critical[CR_LOOKS];
    size_t count = 0;
    for (double at = (double)first; at < (double)c->end; at = ceil(by * at))
        trials[count++] = (uint64_t)at;
    trials[count++] = c->end;
    cr_group_search s;
    cr_group_search_init(&s, count, c->alpha);
    while (!cr_group_search_step(&s, &(cr_group_design){trials, count, q, c->alpha}, paths,
                                 CR_GROUP_WORK_DOUBLES, critical))
        continue;
    return critical[0] >= 0;
}

static double clock_that_ticks(void *ticks)
{
    return (*(double *)ticks)++;
}

/* They depend neither on the batch, nor on deadlines, nor on searches for others. */
TEST_TIMES(early_looks_begin_where_the_test_can_pass, GRID)
{
    const early_case c = case_of(_i);
    const double q = erfc(c.radius * (1 + CR_TARGET_MARGIN) / sqrt(2)) / 2;
    double ticks = 0;
    cr_deadline deadline = {.now = clock_that_ticks, .clock_context = &ticks};
    cr_looks looks, late;
    early_case others[] = {c, c, c};
    others[0].alpha /= 3, others[1].end += 50, others[2].growth += 0.5;
    for (int i = 0; i < KIT_ROWS(others); i++) looks_with(others[i], NULL, 1, 1, &late);
    ck_assert_int_eq(looks_with(c, NULL, 1, 1, &looks), 1);
    const uint64_t first = looks.samples[0] - PILOT;
    uint64_t least = 1;
    while (least < first && !can_pass_first(&c, q, least)) least++;
    if (first < c.end) ck_assert(can_pass_first(&c, q, first));
    ck_assert_msg(first - least <= 2 + first / 8, "%d: %d, least %d", _i, (int)first, (int)least);
    ck_assert(looks.samples[looks.count - 1] == PILOT + c.end && looks.count <= CR_LOOKS);
    for (size_t j = 1; j < looks.count; j++) {
        const double before = (double)(looks.samples[j - 1] - PILOT);
        ck_assert_uint_gt(looks.samples[j], looks.samples[j - 1]);
        if (j + 1 < looks.count)
            ck_assert_double_ge((double)(looks.samples[j] - PILOT), c.growth * before);
    }
    scratch = (cr_workspace){.group_paths = paths};
    for (int complete = 0, calls = 0; !complete; calls++) {
        deadline.expires_at = ticks + 0.5; /* time for a single step */
        deadline.expired = 0;
        complete = looks_with(c, &deadline, 1000, 1, &late);
        ck_assert(complete || late.samples[0] <= looks.samples[0]);
        ck_assert_int_lt(calls, 200);
    }
    ck_assert_uint_eq(late.count, looks.count);
    ck_assert_mem_eq(late.samples, looks.samples, looks.count * sizeof *looks.samples);
    ck_assert_int_eq(looks_with(c, NULL, 1000, 0, &looks), 1); /* by the mixture, at any time */
    for (uint64_t n = 1; n <= looks.samples[0] - PILOT && n < c.end; n++)
        ck_assert_int_eq(cr_mixture_rejects(0, n, q, c.alpha), n == looks.samples[0] - PILOT);
}

TEST_MAIN("early looks")
