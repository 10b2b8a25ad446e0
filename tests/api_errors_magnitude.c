/* Numbers too large for a mean: what is refused names what the caller gave, never what the library
 * made of it. */
#include "support/api_kit.h"
#include <float.h>
#include <string.h>

static const float origin[3];
static const double size[] = {1e-30, 1, 1e16, 1e100, 1e149, 1e151, 1e155, 1e160, 1e216, DBL_MAX};
enum { SIZES = sizeof size / sizeof *size };

static certreg_estimator *with_range(double range)
{
    const double lo[2] = {-range, -range}, hi[2] = {range, range};
    certreg_model m = kit_model(kit_identity, NULL, 3, 2);
    certreg_plan p = kit_plan(300);
    m.lo = lo, m.hi = hi;
    p.pilot = SIZE_MAX;
    p.constraints = CERTREG_CONSTRAINTS_ECGM;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, origin, 1e-3, 0));
    return e;
}

static void check(certreg_estimator *e, const certreg_question *q, double radius)
{
    certreg_certificate c = kit_certificate();
    const certreg_status status = radius > 0 ? certreg_output_bounds(e, 300, q, 1, radius, &c)
                                             : certreg_certify(e, 300, q, 1, &c);
    const char *said = certreg_estimator_error(e)->text;
    if (!status) return;
    ck_assert_int_eq(status, CERTREG_E_INVALID);
    ck_assert_double_eq(c.radius, 0);
    ck_assert_msg(strstr(said, "question.prediction is") || strstr(said, "model.lo[") ||
                      strstr(said, "question.tolerance is"),
                  "%s", said);
}

TEST_TIMES(refusals_name_what_the_caller_gave, SIZES *SIZES)
{
    const double range = fmax(size[_i % SIZES], 0.1), prediction[2] = {size[_i / SIZES], 0};
    certreg_estimator *e = with_range(range);
    certreg_question q =
        QUESTION(.tolerance = 0.5, .statistic = CERTREG_STATISTIC_MEAN, .prediction = prediction);
    for (int i = 0; i < 12; i++) {
        static const int32_t methods[] = {CERTREG_METHOD_FINITE, CERTREG_METHOD_ASYMPTOTIC,
                                          CERTREG_METHOD_ANYTIME};
        q.method = methods[i % 3];
        q.center = i / 3 % 2 ? CERTREG_CENTER_TRUE_MEAN : CERTREG_CENTER_PREDICTION;
        q.output = i / 6 ? CERTREG_ALL_OUTPUTS : 0;
        q.prediction_count = i / 6 ? 2 : 1;
        q.constraints = i % 3 == 2 ? 0 : CERTREG_CONSTRAINTS_ECGM;
        check(e, &q, 0);
    }
    q.output = 0, q.prediction_count = 1, q.center = CERTREG_CENTER_PREDICTION;
    q.method = CERTREG_METHOD_FINITE;
    check(e, &q, 0.1);
}

/* Whatever is within a range of floats is accepted, and so is what is merely beyond it. */
TEST_TIMES(what_is_near_is_accepted, 6)
{
    static const double predictions[] = {0, 1, -1, 7, -1e6, 1e13};
    certreg_estimator *e = with_range(1);
    certreg_question q = QUESTION(.tolerance = 0.5, .statistic = CERTREG_STATISTIC_MEAN,
                                  .prediction = predictions + _i);
    certreg_certificate c = kit_ask(e, 300, q);
    ck_assert_int_eq(c.radius > 0, _i == 0);
}

KIT_MAIN("refusals of magnitudes")
