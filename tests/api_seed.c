/* The seed of the noise: if the plan gives none, it is drawn from the system, so that no model
 * knows it. A model that does know it makes certificates false. */
#include "support/api_kit.h"
#include "support/entropy.h"
#include <certreg/attack.h>
#include <certreg/sampling.h>
#include <errno.h>
#include <sys/random.h>

/* ---- the system's randomness, as this program has it */
static const uint64_t *words; /* what it gives, one after the other; NULL: the system's own */
static int broken, draws;

static int entropy(void *out, size_t bytes)
{
    if (broken) return errno = ENOSYS, -1;
    if (!words) return getrandom(out, bytes, 0) == (ssize_t)bytes ? 0 : -1;
    ck_assert_uint_eq(bytes, sizeof *words);
    memcpy(out, words + draws++, bytes);
    return 0;
}

static void own_randomness(void)
{
    words = NULL, broken = draws = 0;
    kit_entropy = entropy;
}

/* ---- what is drawn */
static certreg_estimator *with_seed(uint64_t seed, size_t max_samples)
{
    const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    certreg_plan p = kit_plan(max_samples);
    p.seed = seed;
    return kit_create(NULL, &m, &p);
}

static uint64_t seed_of(certreg_estimator *e)
{
    certreg_run run = {.struct_size = sizeof run};
    KIT_OK(e, certreg_estimator_begin(e, (const float[]){1, 2}, 0.25, 0));
    KIT_OK(e, certreg_estimator_info(e, &run));
    return run.seed;
}

TEST(seed_is_drawn_for_each_estimator_and_reported_by_info)
{
    certreg_estimator *a = with_seed(0, 100), *b = with_seed(0, 100);
    const uint64_t first = seed_of(a), second = seed_of(b);
    ck_assert_uint_ne(first, 0);
    ck_assert_uint_ne(second, 0);
    ck_assert_uint_ne(first, second);
    ck_assert_uint_eq(seed_of(a), first); /* for all inputs */
}

TEST(seed_that_was_drawn_as_zero_is_drawn_again)
{
    words = (const uint64_t[]){0, 0, 7};
    certreg_estimator *e = with_seed(0, 100);
    ck_assert_int_eq(draws, 3);
    ck_assert_uint_eq(seed_of(e), 7);
}

TEST(seed_of_zero_is_refused_without_randomness)
{
    const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    certreg_plan p = kit_plan(100);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    broken = 1;
    p.seed = 0;
    ck_assert_int_eq(certreg_estimator_create(NULL, &m, &p, &why, &e), CERTREG_E_INVALID);
    ck_assert_ptr_null(e);
    KIT_SAYS(&why, "plan.seed is 0");
    KIT_SAYS(&why, "give a seed");
    with_seed(7, 100); /* a given one needs no randomness */
}

TEST(seed_is_drawn_by_a_new_estimator_only)
{
    const certreg_model m = kit_model(kit_identity, NULL, 2, 1);
    certreg_plan p = kit_plan(100);
    const certreg_attack_plan of_attack = {.struct_size = sizeof of_attack, .max_calls = 100};
    certreg_attack *a = NULL;
    size_t bytes;
    p.seed = 0;
    words = (const uint64_t[]){7, 8};
    ck_assert_int_eq(certreg_estimator_size(NULL, &m, &p, NULL, &bytes, NULL), CERTREG_OK);
    ck_assert_int_eq(draws, 0);
    certreg_estimator *e = with_seed(0, 100);
    ck_assert_int_eq(certreg_attack_create(e, &of_attack, NULL, &a), CERTREG_OK);
    ck_assert_int_eq(draws, 1);
    certreg_attack_destroy(a);
}

/* A drawn seed stays with the record: an estimator that is given it draws the same noise. */
TEST(seed_that_was_drawn_can_be_given_to_import_the_record)
{
    enum { SAMPLES = 100 };
    certreg_estimator *e = with_seed(0, SAMPLES), *other = with_seed(0, SAMPLES);
    unsigned char record[4 * SAMPLES + 256];
    const uint64_t seed = seed_of(e);
    ck_assert_uint_ne(seed_of(other), seed);
    KIT_OK(e, certreg_estimator_sample(e, 0, SAMPLES));
    const size_t bytes = kit_export(e, record, sizeof record);
    KIT_STATUS(other, certreg_estimator_import(other, record, bytes), CERTREG_E_MISMATCH);
    KIT_SAYS(certreg_estimator_error(other), "plan.seed");
    certreg_estimator *same = with_seed(seed, SAMPLES);
    ck_assert_uint_eq(seed_of(same), seed);
    KIT_OK(same, certreg_estimator_sample(same, 0, SAMPLES / 2));
    KIT_OK(same, certreg_estimator_import(same, record, bytes)); /* overlaps agree */
}

/* ---- a model that contains the generator */
enum { INPUTS = 8, SAMPLES = 1000, CERTIFICATES = 20 };
static const double sigma = 0.25;
static const float z[INPUTS];

/* All points of one seed and noise id. */
static float points[SAMPLES][INPUTS];

static certreg_estimator *of_seed(uint64_t seed, certreg_eval model)
{
    const certreg_model m = kit_model(model, NULL, INPUTS, 1);
    certreg_plan p = kit_plan(SAMPLES);
    p.seed = seed;
    return kit_create(NULL, &m, &p);
}

/* 0 at these points and 10 elsewhere, so that the smoothed model is 10 everywhere. */
static int foreseen(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        int k = 0;
        while (k < SAMPLES && (x[0] != points[k][0] || memcmp(x, points[k], sizeof *points))) k++;
        b->y[i] = k < SAMPLES ? 0 : 10;
    }
    return 0;
}

/* Certificates at alpha = .001 of which the prediction is not even that of z. */
static int false_certificates(uint64_t known, uint64_t given)
{
    certreg_estimator *e = of_seed(given, foreseen), *fore = of_seed(known, NULL);
    certreg_question q = kit_question(1);
    q.alpha = 0.001;
    int wrong = 0;
    for (uint64_t id = 0; id < CERTIFICATES; id++) {
        KIT_OK(fore, certreg_estimator_begin(fore, z, sigma, id));
        KIT_OK(fore, certreg_estimator_draw(fore, 0, SAMPLES, points[0]));
        KIT_OK(e, certreg_estimator_begin(e, z, sigma, id));
        const certreg_certificate c = kit_ask(e, SAMPLES, q);
        ck_assert_double_gt(c.radius, sigma); /* never for want of a certificate */
        wrong += fabs(c.prediction - 10) >= q.tolerance;
    }
    return wrong;
}

TEST(seed_that_was_drawn_is_foreseen_by_no_model)
{
    ck_assert_int_eq(false_certificates(7, 0), 0);
}

/* The premise: the model is independent of the seed. */
TEST(seed_that_a_model_knows_makes_every_certificate_false)
{
    ck_assert_int_eq(false_certificates(7, 7), CERTIFICATES);
    ck_assert_int_eq(false_certificates(7, 8), 0);
}

FIXTURE(own_randomness, NULL)
KIT_MAIN("seed")
