/* Several noise levels, and the choice of one. */
#include "support/linear_map.h"

enum { LEVELS = 3 };

/* ---- several noise levels */
static const double levels[LEVELS] = {0.3, 0.6, 0.2};

TEST(certify_sigmas_answers_each_level_at_its_share_of_alpha)
{
    certreg_estimator *e = make(&(linear){.weight = {1, 0.7, 0.3}}, mixed, OUTPUTS);
    certreg_question q[2] = {about(0, 0.8), about(2, 0.8)};
    q[1].bonferroni = 2, q[1].alpha = 0.3;
    certreg_certificate all[LEVELS * 2] = {kit_certificate()};
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 17, SAMPLES, q, 2, all));
    q[0].bonferroni = LEVELS, q[1].bonferroni = 2 * LEVELS;
    for (int i = 0; i < LEVELS; i++) {
        certreg_certificate alone[2] = {kit_certificate()};
        KIT_OK(e, certreg_estimator_begin_level(e, where, levels[i], 17, 1 + (uint64_t)i));
        KIT_OK(e, certreg_certify(e, SAMPLES, q, 2, alone));
        for (int k = 0; k < 2; k++) { /* another bonferroni is another question */
            ck_assert_uint_ne(all[2 * i + k].question_digest, alone[k].question_digest);
            alone[k].question_digest = all[2 * i + k].question_digest;
        }
        ck_assert_mem_eq(all + 2 * i, alone, sizeof alone);
        ck_assert_double_eq_tol(all[2 * i].alpha, 0.05 / LEVELS, 1e-15);
        ck_assert_double_eq_tol(all[2 * i + 1].alpha, 0.3 / (2 * LEVELS), 1e-15);
        ck_assert_double_eq(all[2 * i].sigma, levels[i]);
        ck_assert_uint_eq(all[2 * i].noise_id, 17);
        ck_assert_uint_eq(asks_run(e).level, 1 + (uint64_t)i);
        ck_assert_double_gt(all[2 * i].radius, 0);
    }
}

TEST_TIMES(certify_sigmas_refuses_bad_levels, 6)
{
    const double bad[][LEVELS] = {{0.3, 0, 0.2},        {0.3, -1, 0.2},  {0.3, NAN, 0.2},
                                  {0.3, INFINITY, 0.2}, {0.3, 0.3, 0.2}, {0.3, 1e-9, 0.2}};
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    for (int i = 0; i < LEVELS; i++) c[i].radius = 7;
    KIT_STATUS(e, certreg_certify_sigmas(e, where, bad[_i], LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    ck_assert_uint_eq(l.calls, 0);
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_double_eq(c[i].radius, 0);
        ck_assert_int_eq(c[i].status, CERTREG_E_INVALID);
    }
    KIT_STATUS(e, certreg_certify_sigmas(e, where, NULL, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, 0, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 0, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, NULL, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, NULL, 1, c),
               CERTREG_E_INVALID);
    q.bonferroni = UINT64_MAX;
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
    for (int i = 0; i < LEVELS; i++) ck_assert_double_eq(c[i].radius, 0);
    q.bonferroni = 0; /* nobody has so many certificates, and none is written */
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, SIZE_MAX, 1, SAMPLES, &q, 1, c),
               CERTREG_E_INVALID);
}

TEST(certify_sigmas_ends_at_a_failure)
{
    linear l = {.weight = {1, 0.7, 0.3}, .fail_at = 20};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c),
               CERTREG_E_MODEL_FAILED);
    ck_assert_uint_eq(l.calls, 20);
    ck_assert_double_gt(c[0].radius, 0);
    for (int i = 1; i < LEVELS; i++) ck_assert_int_eq(c[i].status, CERTREG_E_MODEL_FAILED);
    for (int i = 1; i < LEVELS; i++) ck_assert_double_eq(c[i].radius, 0);
    ck_assert_double_eq(c[1].sigma, levels[1]); /* the others have none */
    for (int i = 2; i < LEVELS; i++) ck_assert_double_nan(c[i].sigma);
}

TEST(certify_sigmas_answers_good_questions_beside_a_bad_one)
{
    certreg_estimator *e = make(&(linear){.weight = {1, 0.7, 0.3}}, mixed, OUTPUTS);
    const certreg_question q[2] = {about(0, NAN), about(1, 0.8)};
    certreg_certificate c[LEVELS * 2] = {kit_certificate()};
    KIT_STATUS(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, q, 2, c),
               CERTREG_E_INVALID);
    KIT_SAYS(certreg_estimator_error(e), "noise level 0: question 0");
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(c[2 * i].status, CERTREG_E_INVALID);
        ck_assert_double_eq(c[2 * i].radius, 0);
        ck_assert_int_eq(c[2 * i + 1].status, CERTREG_OK);
        ck_assert_double_gt(c[2 * i + 1].radius, 0);
        ck_assert_double_eq(c[2 * i + 1].sigma, levels[i]);
    }
}

TEST(certify_sigmas_ends_at_a_cancel)
{
    linear l = {.weight = {1, 0.7, 0.3}};
    certreg_estimator *e = make(&l, mixed, OUTPUTS);
    const certreg_question q = about(0, 0.8);
    certreg_certificate c[LEVELS] = {kit_certificate()};
    certreg_estimator_cancel(e);
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c));
    ck_assert_uint_le(l.calls, 1);
    for (int i = 0; i < LEVELS; i++) {
        ck_assert_int_eq(c[i].stop, CERTREG_STOP_CANCELLED);
        ck_assert_int_eq(c[i].outcome, CERTREG_OUTCOME_ABSTAINED);
        ck_assert_double_eq(c[i].sigma, levels[i]);
        ck_assert_double_eq(c[i].radius, 0);
    }
    /* it was reported, and is over */
    KIT_OK(e, certreg_certify_sigmas(e, where, levels, LEVELS, 1, SAMPLES, &q, 1, c));
    ck_assert_double_gt(c[LEVELS - 1].radius, 0);
}

/* ---- the choice */
static certreg_certificate with(double sigma, double radius)
{
    certreg_certificate c = kit_certificate();
    c.sigma = sigma, c.radius = radius;
    return c;
}

TEST(choose_sigma_takes_the_greatest_mean_radius)
{
    const certreg_certificate c[] = {with(0.1, 0.3), with(0.2, 0.9), with(0.4, 0),
                                     with(0.1, 0.5), with(0.2, 0),   with(0.4, 1)};
    double mean[3];
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 3, NULL, mean, &level), CERTREG_OK);
    ck_assert_uint_eq(level, 2);
    ck_assert_double_eq_tol(mean[0], 0.4, 1e-15);
    ck_assert_double_eq_tol(mean[1], 0.45, 1e-15);
    ck_assert_double_eq_tol(mean[2], 0.5, 1e-15);
    ck_assert_int_eq(certreg_choose_sigma(c, 1, 3, NULL, NULL, &level), CERTREG_OK);
    ck_assert_uint_eq(level, 1);
}

static void refused(const certreg_certificate *c, size_t rows, size_t columns, const char *sentence)
{
    certreg_error why = {.struct_size = sizeof why};
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, rows, columns, &why, NULL, &level), CERTREG_E_INVALID);
    ck_assert_int_eq(why.status, CERTREG_E_INVALID);
    ck_assert_uint_eq(level, 0);
    KIT_SAYS(&why, sentence);
}

TEST(choose_sigma_refuses_what_cannot_be_compared)
{
    certreg_certificate c[] = {with(0.1, 0.3), with(0.2, 0.9), with(0.1, 0.5), with(0.2, 0)};
    certreg_error why = {.struct_size = sizeof why};
    refused(c, 0, 2, "inputs is 0");
    refused(c, 2, 0, "levels 0");
    refused(NULL, 2, 2, "certificates is NULL");
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, &why, NULL, NULL), CERTREG_E_INVALID);
    KIT_SAYS(&why, "level is NULL");
    c[2].sigma = 0.3; /* another level at another input */
    refused(c, 2, 2, "certificates[2].sigma is 0.3");
    c[2].sigma = 0.1, c[3].radius = NAN;
    refused(c, 2, 2, "certificates[3].radius is nan");
    c[3].radius = INFINITY;
    refused(c, 2, 2, "certificates[3].radius is inf");
    c[3].radius = 0, c[3].status = CERTREG_E_MODEL_FAILED; /* its radius of 0 is no answer */
    refused(c, 2, 2, "certificates[3].status is 4");
    c[3].status = CERTREG_OK;
    size_t level = 9;
    ck_assert_int_eq(certreg_choose_sigma(c, 2, 2, &why, NULL, &level), CERTREG_OK);
    ck_assert_int_eq(why.status, CERTREG_OK);
    c[1].sigma = c[3].sigma = 0.1; /* two questions, not two levels */
    refused(c, 2, 2, "certificates[0] and certificates[1] have the same sigma");
    c[1].sigma = c[3].sigma = 0.2;
    c[0].struct_size = 8;
    refused(c, 2, 2, "certificates.struct_size is 8");
}

KIT_MAIN("noise levels")
