/* Several outputs at once, inputs in units of their own. A scanner of twelve range finders
 * estimates where a target is: two positions in metres and a bearing in degrees. One draw of noise
 * and one call of the model per sample serve all of them.
 *   - one radius within which all outputs keep their tolerances together
 *   - an ellipsoid of shifts: near range finders are precise, far ones are not, and a broken one is
 * masked
 *   - the same in the maximum norm ("every reading wrong by at most ...") and the 1-norm
 *   - the mean position as a vector, in the 2-norm, for which the outputs need ranges */
#include <certreg/certreg.h>
#include <math.h>
#include <stdio.h>

enum { READINGS = 12, BROKEN = 11, OUTPUTS = 3, SAMPLES = 10000 };
static const double sigma = 0.25;

/* ---- the stand-in: a center of what the readings see */
static double beam(int j)
{
    return 6.283185307179586 * (j + 0.5) / 48; /* a quarter circle ahead */
}

static void locate(const float *reading, float *position, float *bearing)
{
    double x = 0, y = 0, sum = 0;
    for (int j = 0; j < READINGS; j++) {
        if (j == BROKEN) continue;
        const double near = exp(-1.5 * fabs((double)reading[j])); /* what is near counts most */
        x += near * fabs((double)reading[j]) * cos(beam(j));
        y += near * fabs((double)reading[j]) * sin(beam(j));
        sum += near;
    }
    position[0] = (float)(x / sum);
    position[1] = (float)(y / sum);
    if (bearing != NULL) *bearing = (float)(atan2(y, x) * 57.29577951308232);
}

static int all(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        locate(b->x + i * READINGS, b->y + i * OUTPUTS, b->y + i * OUTPUTS + 2);
    return 0;
}

static int position(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) locate(b->x + i * READINGS, b->y + i * 2, NULL);
    return 0;
}

static void input(float *z, float *scale)
{
    for (int j = 0; j < READINGS; j++) {
        z[j] = 2 + 0.1f * (float)((j - 4) * (j - 4));
        scale[j] = j == BROKEN ? 0 : 0.1f * z[j]; /* errors grow with distance; 0: never moved */
    }
}

/* ---- positions within 4 and 3 cm and the bearing within 1 degree, together */
static certreg_status bonferroni(void)
{
    static const int32_t kind[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL,
                                          CERTREG_OUTPUT_ANGLE};
    static const double lo[OUTPUTS] = {-INFINITY, -INFINITY, -180},
                        hi[OUTPUTS] = {INFINITY, INFINITY, 180};
    static const char *const name[OUTPUTS] = {"x", "y", "bearing"};
    const certreg_question q[OUTPUTS] = {
        {.struct_size = sizeof *q, .output = 0, .tolerance = 0.04},
        {.output = 1, .tolerance = 0.03},
        {.output = 2, .tolerance = 1, .statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5}};
    float z[READINGS], scale[READINGS];
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = all,
                             .inputs = READINGS,
                             .outputs = OUTPUTS,
                             .scale = scale,
                             .kind = kind,
                             .lo = lo,
                             .hi = hi};
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = SAMPLES};
    certreg_certificate each[OUTPUTS] = {{.struct_size = sizeof *each}},
                        together = {.struct_size = sizeof together};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    input(z, scale);
    certreg_status status = certreg_estimator_create(NULL, &m, &p, &why, &e);
    if (status) return puts(why.text), status;
    status = certreg_estimator_begin(e, z, sigma, 0);
    if (!status) status = certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &together);
    if (status) puts(certreg_estimator_error(e)->text);
    for (int i = 0; !status && i < OUTPUTS; i++)
        printf("%-8s %7.3f within %4g up to %.4f\n", name[i], each[i].prediction, each[i].tolerance,
               each[i].radius);
    if (!status) {
        printf("together up to %.4f; %s gives way first\n", together.radius, name[together.output]);
        printf("in metres: %.4f in the 2-norm, %.4f in the maximum norm, %.4f in the 1-norm\n",
               together.radius_l2, together.radius_linf, together.radius_l1);
        printf("the first reading alone: %.4f, the broken one: %.4f\n",
               together.radius * (double)scale[0], together.radius * (double)scale[BROKEN]);
    }
    certreg_estimator_destroy(e);
    return status;
}

/* ---- the mean position as a vector */
static certreg_status vector(void)
{
    static const double lo[2] = {-8, -8}, hi[2] = {8, 8}; /* what the model can answer, whatever it
                                                             sees */
    const certreg_question q = {.struct_size = sizeof q,
                                .output = CERTREG_ALL_OUTPUTS,
                                .statistic = CERTREG_STATISTIC_MEAN,
                                .tolerance = 0.08,
                                .center = CERTREG_CENTER_TRUE_MEAN,
                                .method = CERTREG_METHOD_ASYMPTOTIC};
    float z[READINGS], scale[READINGS];
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = position,
                             .inputs = READINGS,
                             .outputs = 2,
                             .scale = scale,
                             .lo = lo,
                             .hi = hi};
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = SAMPLES};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    input(z, scale);
    certreg_status status = certreg_estimator_create(NULL, &m, &p, &why, &e);
    if (status) return puts(why.text), status;
    status = certreg_estimator_begin(e, z, sigma, 0);
    if (!status) status = certreg_certify(e, SAMPLES, &q, 1, &c);
    if (status) puts(certreg_estimator_error(e)->text);
    else
        printf("the mean position moves by at most %g, as a vector, up to %.4f\n", c.tolerance,
               c.radius);
    certreg_estimator_destroy(e);
    return status;
}

int main(void)
{
    return bonferroni() || vector();
}
