/* An output that is an angle: a heading close to north, where 359 and 1 degree are two degrees
 * apart. The model is a ring of eight detectors; it returns the direction of the source as
 * (cos, sin). Several noise levels, and several tolerances answered from the samples of each.
 * Prints, for each noise level and tolerance, the smoothed heading and its certified radius. */
#include <certreg/certreg.h>
#include <math.h>
#include <stdio.h>

enum { DETECTORS = 8, SAMPLES = 4000, SIGMAS = 3, TOLERANCES = 4 };
static const double turn = 6.283185307179586;

static double bearing(size_t detector)
{
    return turn * (double)detector / DETECTORS;
}

static int direction(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        double c = 0, s = 0;
        for (size_t j = 0; j < DETECTORS; j++) {
            c += (double)b->x[i * DETECTORS + j] * cos(bearing(j));
            s += (double)b->x[i * DETECTORS + j] * sin(bearing(j));
        }
        b->y[2 * i] = (float)c; /* any length will do: the library takes the angle */
        b->y[2 * i + 1] = (float)s;
    }
    return 0;
}

/* All radii of the table hold together with probability 1 - alpha: `bonferroni` divides alpha among
 * SIGMAS * TOLERANCES guarantees. (The radius for 15 degrees is one more, outside of the table.) */
static certreg_status sweep(certreg_estimator *e, const float *z, double sigma, uint64_t stream)
{
    static const double tolerance[TOLERANCES] = {5, 10, 20, 30};
    certreg_question q[TOLERANCES] = {{0}};
    certreg_certificate c[TOLERANCES] = {{.struct_size = sizeof *c}};
    for (size_t t = 0; t < TOLERANCES; t++)
        q[t] = (certreg_question){
            .struct_size = sizeof *q, .tolerance = tolerance[t], .bonferroni = SIGMAS * TOLERANCES};
    certreg_status status = certreg_estimator_begin(e, z, sigma, stream);
    if (!status) status = certreg_certify(e, SAMPLES, q, TOLERANCES, c);
    for (size_t t = 0; !status && t < TOLERANCES; t++)
        printf("sigma %.2f: heading %6.2f, within %2g degrees up to %.4f\n", sigma, c[t].prediction,
               c[t].tolerance, c[t].radius);
    if (status) return status;
    q[0].tolerance = 15; /* a later question: the record answers it, the model is not called */
    status = certreg_certify(e, 0, q, 1, c);
    if (!status)
        printf("sigma %.2f: afterwards,     within 15 degrees up to %.4f\n", sigma, c->radius);
    return status;
}

int main(void)
{
    static const double sigma[SIGMAS] = {0.05, 0.1, 0.2};
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = 0, hi = 360; /* one turn, in degrees */
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = direction,
                             .inputs = DETECTORS,
                             .outputs = 1,
                             .kind = &kind,
                             .lo = &lo,
                             .hi = &hi};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;
    certreg_status status = CERTREG_OK;
    float z[DETECTORS];
    for (size_t j = 0; j < DETECTORS; j++)
        z[j] = (float)fmax(0, cos(bearing(j) - turn * 358 / 360));
    for (size_t k = 0; !status && k < SIGMAS; k++) status = sweep(e, z, sigma[k], k);
    if (status) printf("%s: %s\n", certreg_status_text(status), certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
