/* Several outputs, and inputs of different precision. A scanner of twelve range finders estimates
 * where an object is: two positions in metres and a bearing in degrees. All outputs share one draw
 * of noise and one call of the model per sample. Prints
 *   - the radius of each output, and one radius within which all keep their tolerances together.
 *     The scale makes it an ellipsoid of shifts: near readings are precise, far ones are not, and a
 *     broken range finder is masked
 *   - the largest balls inside that ellipsoid in the 2-norm, the maximum norm ("every reading is
 *     wrong by at most ...") and the 1-norm
 *   - one radius for the pose: the position as a vector, in the 2-norm, and the bearing; and what a
 *     server returns for it */
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>

enum { READINGS = 12, BROKEN = 11, OUTPUTS = 3, SAMPLES = 10000 };
static const double sigma = 0.25;

/* ---- the stand-in: a weighted center of the points that the readings see */
static double beam(int j)
{
    return 6.283185307179586 * (j + 0.5) / 48; /* a quarter circle ahead */
}

static void locate(const float *reading, float *position, float *bearing)
{
    double x = 0, y = 0, sum = 0;
    for (int j = 0; j < READINGS; j++) {
        if (j == BROKEN) continue;
        const double near = exp(-1.5 * fabs((double)reading[j])); /* near points count most */
        x += near * fabs((double)reading[j]) * cos(beam(j));
        y += near * fabs((double)reading[j]) * sin(beam(j));
        sum += near;
    }
    position[0] = (float)(x / sum);
    position[1] = (float)(y / sum);
    *bearing = (float)(atan2(y, x) * 57.29577951308232);
}

static int all(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        locate(b->x + i * READINGS, b->y + i * OUTPUTS, b->y + i * OUTPUTS + 2);
    return 0;
}

static void input(float *z, float *scale)
{
    for (int j = 0; j < READINGS; j++) {
        z[j] = 2 + 0.1f * (float)((j - 4) * (j - 4));
        scale[j] = j == BROKEN ? 0 : 0.1f * z[j]; /* errors grow with distance */
    }
}

/* An estimator of all outputs. Without a pilot it is a server's: every sample counts. */
static certreg_estimator *make(size_t samples, size_t pilot)
{
    static const int32_t kind[OUTPUTS] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_REAL,
                                          CERTREG_OUTPUT_ANGLE};
    static const double lo[OUTPUTS] = {-INFINITY, -INFINITY, -180},
                        hi[OUTPUTS] = {INFINITY, INFINITY, 180};
    float z[READINGS], scale[READINGS];
    input(z, scale);
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = all,
                             .inputs = READINGS,
                             .outputs = OUTPUTS,
                             .scale = scale,
                             .kind = kind,
                             .lo = lo,
                             .hi = hi};
    const certreg_plan p = {.struct_size = sizeof p,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = samples,
                            .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), NULL;
    return e;
}

/* ---- positions within 4 and 3 cm and the bearing within 1 degree, together */
static certreg_status outputs_together(void)
{
    static const char *const name[OUTPUTS] = {"x", "y", "bearing"};
    const certreg_question q[OUTPUTS] = {
        {.struct_size = sizeof *q, .output = 0, .tolerance = 0.04},
        {.output = 1, .tolerance = 0.03},
        {.output = 2, .tolerance = 1, .statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5}};
    float z[READINGS], scale[READINGS];
    certreg_certificate each[OUTPUTS] = {{.struct_size = sizeof *each}},
                        together = {.struct_size = sizeof together};
    certreg_estimator *e = make(SAMPLES, 0);
    if (e == NULL) return CERTREG_E_INVALID;
    input(z, scale);
    certreg_status status = certreg_estimator_begin(e, z, sigma, 0);
    if (!status) status = certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &together);
    if (status) puts(certreg_estimator_error(e)->text);
    for (int i = 0; !status && i < OUTPUTS; i++)
        printf("%-8s %7.3f within %4g up to %.4f\n", name[i], each[i].prediction, each[i].tolerance,
               each[i].radius);
    if (!status) {
        printf("together up to %.4f; %s is the first to leave its tolerance\n", together.radius,
               name[together.output]);
        printf("in metres: %.4f in the 2-norm, %.4f in the maximum norm, %.4f in the 1-norm\n",
               together.radius_l2, together.radius_linf, together.radius_l1);
        printf("the first reading alone: %.4f, the broken one: %.4f\n",
               together.radius * (double)scale[0], together.radius * (double)scale[BROKEN]);
    }
    certreg_estimator_destroy(e);
    return status;
}

/* ---- the pose: a position within 5 cm, wherever it moves to, and a bearing within 1 degree */
static const certreg_question pose[2] = {
    {.struct_size = sizeof *pose, .output_count = 2, .tolerance = 0.05}, /* outputs 0 and 1 */
    {.output = 2, .tolerance = 1}};

/* The medians of 101 fresh samples. */
static certreg_status serve(const float *z, uint64_t request)
{
    double position[2], bearing;
    certreg_estimator *server = make(101, SIZE_MAX);
    if (server == NULL) return CERTREG_E_INVALID;
    certreg_status status = certreg_estimator_begin(server, z, sigma, request);
    if (!status) status = certreg_estimator_sample(server, 0, 101);
    if (!status) status = certreg_estimator_estimate(server, pose, position);
    if (!status) {
        certreg_question alone = pose[1];
        alone.struct_size = sizeof alone;
        status = certreg_estimator_estimate(server, &alone, &bearing);
    }
    if (status) puts(certreg_estimator_error(server)->text);
    else printf("served: (%.3f, %.3f) at %.2f degrees\n", position[0], position[1], bearing);
    certreg_estimator_destroy(server);
    return status;
}

static certreg_status pose_together(void)
{
    float z[READINGS], scale[READINGS];
    certreg_certificate each[2] = {{.struct_size = sizeof *each}},
                        together = {.struct_size = sizeof together};
    certreg_estimator *e = make(SAMPLES, 0);
    if (e == NULL) return CERTREG_E_INVALID;
    input(z, scale);
    certreg_status status = certreg_estimator_begin(e, z, sigma, 0);
    if (!status) status = certreg_certify_outputs(e, SAMPLES, pose, 2, each, &together);
    if (status) puts(certreg_estimator_error(e)->text);
    else
        printf("the pose keeps its tolerances up to %.4f: the position %.4f, the bearing %.4f\n",
               together.radius, each[0].radius, each[1].radius);
    certreg_estimator_destroy(e);
    return status ? status : serve(z, 1000);
}

int main(void)
{
    return outputs_together() || pose_together();
}
