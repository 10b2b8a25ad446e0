/* How often the certificate of a set of alternatives is false (theory 1.11), on models whose truth
 * is known: one alternative much tighter than the others, which attains alpha; all equally tight;
 * and alternatives in parts. The records of many sets share calls. */
#include "statistics/normal.h"
#include "support/coverage.h"
#include <certreg/queue.h>

enum { RUNS = 3000, OPEN = 40, ALTERNATIVES = 5, SAMPLES = 100 };
#define ALPHA 0.1
static const float scale[2] = {1, 0};
static const double zero;

/* The output is x0, plus the shift of the alternative: T is within 1 of 0 up to 1 - shift. */
static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->used_count; i++) b->y[i] = b->x[2 * i] + b->x[2 * i + 1];
    return 0;
}

typedef struct law {
    const char *name;
    float shift[ALTERNATIVES];
    double margin, radius; /* radius > 0: a target */
    uint32_t halvings;
    double truth, least; /* the true radius of the set; of alpha, what it attains */
} law;

static const law *current;

static int write(void *user, certreg_alternative *a)
{
    (void)user;
    if (!a->number) return 0;
    a->z[1] = current->shift[a->number - 1];
    a->margin = current->margin; /* larger than need be for the parts */
    return 0;
}

static certreg_status add(certreg_queue *q, uint64_t run, int32_t *full)
{
    static const float z[2] = {0, 0};
    const certreg_target t = {.struct_size = sizeof t, .radius = current->radius, .growth = 1.5};
    const certreg_question asked = QUESTION(.tolerance = 1, .alpha = ALPHA, .prediction = &zero,
                                            .target = current->radius > 0 ? &t : NULL);
    const certreg_alternatives a = {.struct_size = sizeof a,
                                    .count = ALTERNATIVES,
                                    .write = write,
                                    .first_noise_id = UINT64_C(1) << 63 | run << 8,
                                    .halvings = current->halvings};
    const certreg_queue_input in = {.struct_size = sizeof in,
                                    .tag = run,
                                    .z = z,
                                    .sigma = 1,
                                    .noise_id = run,
                                    .questions = &asked,
                                    .count = 1,
                                    .alternatives = &a};
    return certreg_queue_add(q, &in, full);
}

static void check(const law *l)
{
    const certreg_model m =
        MODEL(.eval = model, .inputs = 2, .outputs = 1, .batch = 256, .scale = scale);
    const certreg_plan p = PLAN(.seed = 7, .max_samples = SAMPLES, .pilot = SIZE_MAX);
    const certreg_queue_plan plan = {
        .struct_size = sizeof plan, .capacity = OPEN, .sets = OPEN, .alternatives = ALTERNATIVES};
    certreg_certificate c = kit_certificate();
    certreg_queue_result r = {.struct_size = sizeof r, .room = 1, .certificates = &c};
    certreg_queue *q;
    uint64_t misses = 0;
    current = l;
    ck_assert_int_eq(certreg_queue_create(NULL, &m, &p, &plan, NULL, &q), CERTREG_OK);
    for (uint64_t run = 0, done = 0; done < RUNS;) {
        for (int32_t full = 0; run < RUNS && !full; run += !full)
            ck_assert_msg(!add(q, run, &full), "%s", certreg_queue_error(q)->text);
        ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
        for (; !certreg_queue_take(q, &r) && r.state; done++) misses += c.radius > l->truth;
    }
    certreg_queue_destroy(q);
    coverage_check(l->name, misses, RUNS, ALPHA, 1e-5, l->least);
}

TEST(sets_are_false_in_a_share_alpha_at_most)
{
    static const law laws[] = {
        {"one tight alternative", {0, 0, 0.8f, 0, 0}, 0, 0, 0, 0.2, 0.6},
        {"all equally tight", {0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, 0, 0, 0, 0.5, 0},
        {"one tight alternative, margins", {0, 0, 0.5f, 0, 0}, 0.3, 0, 0, 0.2, 0.6},
        {"a target out of reach by a little", {0, 0, 0, 0, 0.6f}, 0, 0.41, 0, 0.4, 0.5},
        {"the same in parts", {0, 0, 0, 0, 0.6f}, 0, 0.41, 2, 0.4, 0},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) check(laws + i);
}

KIT_MAIN("alternatives")
