/* Models that read the bits of their input (support/bit_reading_models.h), or count what noise on a
 * grid may favour (support/grid_counting_models.h): what is certified of them is true of Gaussian
 * noise. */
#include "support/api_kit.h"
#include "support/bit_reading_models.h"
#include "support/grid_counting_models.h"
#include "support/grid.h"

static const double alpha = 1e-3;

/* ---- models with one answer for Gaussian noise */
/* T of round_h and the model at z + shift, by noise that is not the library's; NaN: it is not clear
 * enough. */
static double smoothed(const bits_model *m, double shift, uint64_t seed)
{
    enum { ROWS = 12, CLEAR = 11 };
    simulate_source source;
    float *x = malloc(m->input.inputs * sizeof *x);
    int tens = 0;
    ck_assert_ptr_nonnull(x);
    simulate_seed(&source, seed);
    for (int i = 0; i < ROWS; i++) {
        grid_draw(&source, m->input.z, m->input.step, m->input.inputs, shift, x);
        tens += bits_answer(m, x) > 5;
    }
    free(x);
    return tens >= CLEAR ? 10 : tens <= ROWS - CLEAR ? 0 : NAN;
}

/* So far from z is all of it moved, in each feature that has noise: together 5e-5 sigma. */
static double short_shift(const bits_model *m)
{
    size_t moving = 0;
    for (size_t j = 0; j < m->input.inputs; j++) moving += m->input.step[j] != 0;
    return 5e-5 * m->is->sigma / sqrt((double)moving);
}

/* Questions whose answers hold at the number of samples that they get. */
static size_t ask(certreg_question *q)
{
    for (int i = 0; i < 3; i++) q[i] = kit_question(1), q[i].alpha = alpha;
    q[1].method = CERTREG_METHOD_ANYTIME;
    q[2].statistic = CERTREG_STATISTIC_HUBER, q[2].huber_width = 1;
    return 3;
}

TEST_TIMES(models_that_read_input_bits_get_no_false_certificate, bits_case_count)
{
    enum { INPUTS = 3 };
    bits_model model = {.is = bits_cases + _i};
    bits_make(model.is, &model.input);
    certreg_model m = kit_model(bits_evaluate, &model, model.input.inputs, 1);
    m.scale = model.input.scale, m.batch = 10;
    certreg_plan p = kit_plan(model.is->samples);
    p.constraints = 0;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    const double truth[] = {smoothed(&model, 0, 1), smoothed(&model, short_shift(&model), 2)};
    int proved = 0;
    ck_assert_msg(truth[0] == truth[1], "%s: T is %g and %g", model.is->name, truth[0], truth[1]);
    for (uint64_t id = 0; id < INPUTS; id++) {
        certreg_question q[3];
        certreg_certificate c[3] = {{.struct_size = sizeof *c}};
        KIT_OK(e, certreg_estimator_begin(e, model.input.z, model.is->sigma, id));
        KIT_OK(e, certreg_certify(e, model.is->samples, q, ask(q), c));
        for (int i = 0; i < 3; i++) {
            ck_assert_msg(!(c[i].radius > 0) ||
                              (c[i].output_lo < truth[0] && truth[0] < c[i].output_hi),
                          "%s: T is %g, certified %g within %g sigma", model.is->name, truth[0],
                          c[i].prediction, c[i].radius / model.is->sigma);
            proved += c[i].radius > 0;
        }
    }
    ck_assert_int_gt(proved, 0);
    certreg_estimator_destroy(e);
    bits_free(&model.input);
}

/* ---- models that are undecided for Gaussian noise */
TEST(models_that_count_cells_get_no_certificate)
{
    enum { INPUTS = 1 << 17, SAMPLES = 250 };
    static const double found;
    static certreg_question q[2 * CELLS_MOST];
    static certreg_certificate c[2 * CELLS_MOST];
    cells_models models;
    cells_make(&models, INPUTS);
    certreg_model m = kit_model(cells_evaluate, &models, INPUTS, models.outputs);
    m.scale = models.scale, m.batch = 2;
    certreg_plan p = kit_plan(SAMPLES);
    p.constraints = 0, p.pilot = SIZE_MAX;
    certreg_estimator *e = kit_create(NULL, &m, &p);
    for (size_t k = 0; k < models.outputs; k++) {
        q[k] = kit_question(1), c[k] = kit_certificate();
        q[k].output = (int32_t)k, q[k].prediction = &found;
        q[k].alpha = alpha, q[k].bonferroni = models.outputs;
    }
    KIT_OK(e, certreg_estimator_begin(e, models.z, 1, 0));
    KIT_OK(e, certreg_certify(e, SAMPLES, q, models.outputs, c));
    for (size_t k = 0; k < models.outputs; k++) {
        const cells_statistic *s = models.statistic + k / 2;
        ck_assert_msg(c[k].radius == 0, "%s %zu, group %td, %s: certified within %g", s->name,
                      s->lag, s->group - models.group, k % 2 ? "many" : "few", c[k].radius);
    }
    certreg_estimator_destroy(e);
    cells_free(&models);
}

TEST_MAIN("input_bits")
