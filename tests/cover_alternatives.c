/* How often the certificate of a set of alternatives is false (theory 1.11), on models whose truth
 * is known: one alternative much tighter than the others, or one part of it, which attains alpha;
 * and all equally tight. The records of many sets share calls. */
#include "support/coverage.h"
#include "support/queue_kit.h"

enum { RUNS = 3000, COUNT = 5 };
#define ALPHA 0.1

typedef struct law { /* T moves by `shift`, and is within 1 of 0 up to 1 - shift */
    const char *name;
    float shift[COUNT];
    double margin, target;
    uint32_t halvings;
    double truth, least; /* the true radius of the set; of alpha, what it attains */
} law;

static int write(void *user, certreg_alternative *a)
{
    const law *l = user;
    if (!a->number) return 0;
    a->z[2] = a->path ? 0 : l->shift[a->number - 1];
    a->margin = l->margin; /* larger than need be for the parts */
    return 0;
}

static void check(law *l)
{
    static const float z[D], scale[D] = {1};
    static certreg_queue_input in[RUNS];
    static certreg_alternatives sets[RUNS];
    static answer found[RUNS];
    const certreg_target t = TARGET(.radius = l->target);
    const certreg_question asked = QUESTION(.tolerance = 1, .alpha = ALPHA,
                                            .prediction = asks_prediction(0), .prediction_count = 1,
                                            .target = l->target > 0 ? &t : NULL);
    uint64_t misses = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        sets[run] = QUEUE_SET(.count = COUNT, .write = write, .user = l, .halvings = l->halvings,
                              .first_noise_id = UINT64_C(1) << 63 | run << 8);
        in[run] = input_of(run, z, &asked, sets + run);
        in[run].sigma = 1;
    }
    run_all(QUEUE(.batch = 256, .capacity = 40, .samples = 100, .pilot = SIZE_MAX, .scale = scale),
            in, RUNS, found);
    for (uint64_t run = 0; run < RUNS; run++) misses += found[run].c->radius > l->truth;
    coverage_check(l->name, misses, RUNS, ALPHA, 1e-5, l->least);
}

TEST(sets_are_false_in_a_share_alpha_at_most)
{
    static law laws[] = {
        {"one tight alternative", {0, 0, 0.8f, 0, 0}, 0, 0, 0, 0.2, 0.6},
        {"all equally tight", {0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, 0, 0, 0, 0.5, 0},
        {"one tight alternative, margins", {0, 0, 0.5f, 0, 0}, 0.3, 0, 0, 0.2, 0.6},
        {"a target out of reach by a little", {0, 0, 0, 0, 0.6f}, 0, 0.41, 0, 0.4, 0.5},
        {"the same in the first of parts", {0, 0, 0, 0, 0.6f}, 0, 0.41, 2, 0.4, 0.5},
    };
    for (int i = 0; i < KIT_ROWS(laws); i++) check(laws + i);
}

KIT_MAIN("alternatives")
