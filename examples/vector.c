/* Several outputs, and inputs of different precision. A scanner of twelve range finders estimates
 * where an object is, two positions in metres and a bearing in degrees, by one call of the model.
 * Errors grow with distance (`scale`), and a broken range finder is masked. Prints
 *   - the radius of each output, and one radius within which all keep their tolerances together
 *   - the largest balls in which all shifts are certified, in the 2-, maximum and 1-norm
 *   - one radius for the pose, the position as a vector and the bearing, and what a server returns
 */
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <math.h>
#include <stdio.h>

enum { READINGS = 12, BROKEN = 11, OUTPUTS = 3, SAMPLES = 10000 };
static const double sigma = 0.25;
static const float z[READINGS] = {3.6f, 2.9f, 2.4f, 2.1f, 2,    2.1f,
                                  2.4f, 2.9f, 3.6f, 4.5f, 5.6f, 6.9f};
static const float scale[READINGS] = {0.36f, 0.29f, 0.24f, 0.21f, 0.2f,  0.21f,
                                      0.24f, 0.29f, 0.36f, 0.45f, 0.56f, [BROKEN] = 0};

/* ---- the stand-in: a weighted center of the points that the readings see */
static void locate(const float *reading, float *position, float *bearing)
{
    double x = 0, y = 0, sum = 0;
    for (int j = 0; j < BROKEN; j++) {
        const double far = fabs((double)reading[j]), near = exp(-1.5 * far); /* near counts most */
        const double beam = 6.283185307179586 * (j + 0.5) / 48; /* a quarter circle ahead */
        x += near * far * cos(beam);
        y += near * far * sin(beam);
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

/* An estimator of all outputs. Without a pilot it is a server's: every sample counts. */
static certreg_estimator *make(size_t n, size_t pilot)
{
    static const int32_t kind[OUTPUTS] = {[2] = CERTREG_OUTPUT_ANGLE}; /* else real numbers */
    static const double lo[OUTPUTS] = {-INFINITY, -INFINITY, -180},
                        hi[OUTPUTS] = {INFINITY, INFINITY, 180};
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = all,
                             .inputs = READINGS,
                             .outputs = OUTPUTS,
                             .scale = scale,
                             .kind = kind,
                             .lo = lo,
                             .hi = hi};
    /* The seed makes the output repeat; a deployment gives none. */
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42,
                            .max_samples = n,
                            .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), NULL;
    return e;
}

/* ---- positions within 4 and 3 cm and the bearing within 1 degree, together */
static certreg_status outputs_together(certreg_estimator *e)
{
    static const char *const name[OUTPUTS] = {"x", "y", "bearing"};
    const certreg_question q[OUTPUTS] = {
        {.struct_size = sizeof *q, .output = 0, .tolerance = 0.04},
        {.output = 1, .tolerance = 0.03},
        {.output = 2, .tolerance = 1, .statistic = CERTREG_STATISTIC_HUBER, .huber_width = 0.5}};
    certreg_certificate each[OUTPUTS] = {{.struct_size = sizeof *each}},
                        together = {.struct_size = sizeof together};
    const certreg_status status = certreg_certify_outputs(e, SAMPLES, q, OUTPUTS, each, &together);
    if (status) return status;
    for (int i = 0; i < OUTPUTS; i++)
        printf("%-8s %7.3f within %4g up to %.4f\n", name[i], each[i].prediction, each[i].tolerance,
               each[i].radius);
    printf("together up to %.4f; %s is the first to leave its tolerance\n", together.radius,
           name[together.output]);
    printf("in metres: %.4f in the 2-norm, %.4f in the maximum norm, %.4f in the 1-norm\n",
           together.radius_l2, together.radius_linf, together.radius_l1);
    printf("the first reading alone: %.4f, the broken one: %.4f\n",
           together.radius * (double)scale[0], together.radius * (double)scale[BROKEN]);
    return status;
}

/* ---- the pose: a position within 5 cm, wherever it moves to, and a bearing within 1 degree */
static const certreg_question pose[2] = {
    {.struct_size = sizeof *pose, .output_count = 2, .tolerance = 0.05}, /* outputs 0 and 1 */
    {.struct_size = sizeof *pose, .output = 2, .tolerance = 1}};
static certreg_status pose_together(certreg_estimator *e)
{
    certreg_certificate each[2] = {{.struct_size = sizeof *each}},
                        together = {.struct_size = sizeof together};
    const certreg_status status = certreg_certify_outputs(e, SAMPLES, pose, 2, each, &together);
    if (status) return status;
    printf("the pose keeps its tolerances up to %.4f: the position %.4f, the bearing %.4f\n",
           together.radius, each[0].radius, each[1].radius);
    return status;
}

/* The medians of 101 fresh samples. */
static certreg_status serve(certreg_estimator *server, uint64_t request)
{
    double position[2], bearing;
    certreg_status status = certreg_estimator_begin(server, z, sigma, request);
    if (!status) status = certreg_estimator_sample(server, 0, 101);
    if (!status) status = certreg_estimator_estimate(server, pose, position);
    if (!status) status = certreg_estimator_estimate(server, pose + 1, &bearing);
    if (status) return puts(certreg_estimator_error(server)->text), status;
    printf("served: (%.3f, %.3f) at %.2f degrees\n", position[0], position[1], bearing);
    return status;
}

int main(void)
{
    certreg_estimator *e = make(SAMPLES, 0), *server = make(101, SIZE_MAX);
    if (!e || !server) return 1;
    certreg_status status = certreg_estimator_begin(e, z, sigma, 0);
    if (!status) status = outputs_together(e);
    if (!status) status = pose_together(e); /* from the same record */
    if (status) puts(certreg_estimator_error(e)->text);
    else status = serve(server, 1000);
    certreg_estimator_destroy(server);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
