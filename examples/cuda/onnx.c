/* onnx [MODEL]: an .onnx file on the GPU, run by ONNX Runtime. Its CUDA provider reads the noisy
 * inputs where the library drew them, writes the outputs where the library reads them, and works on
 * the library's stream: nothing waits, and no row is copied to the host. The model takes 28x28 grey
 * values "x" and returns the cosine and sine of an angle "y", as the default does,
 * examples/models/rotation.onnx.
 * Prints the certified radius, or without a device or ONNX Runtime's CUDA provider why it was
 * skipped. */
#include <certreg/certreg.h>
#include <stdio.h>

#include "../engines/ort.h"

enum { SIDE = 28, INPUTS = SIDE * SIDE, SAMPLES = 20000, BATCH = 2048 };

struct network {
    const char *path;
    struct engine engine; /* zero until it is open */
    int refused;          /* status of opening it */
    char why[ENGINE_WHY];
};

/* The session is opened in the first batch, because it needs the stream that the batch names. The
 * backend creates that stream, so this program does not link to CUDA. */
static int eval(void *user, const certreg_batch *b)
{
    struct network *net = user;
    if (net->engine.run == NULL)
        net->refused = engine_open_ort_bound(net->path, b->inputs, b->columns, b->device, b->stream,
                                             &net->engine, net->why);
    return net->refused ||
           net->engine.run(net->engine.self, b->x, b->y, b->rows); /* enqueued: no need to wait */
}

/* A slanted stroke. */
static void draw(float *z)
{
    for (size_t row = 5; row < 23; row++)
        for (size_t k = 0; k < 3; k++) z[row * SIDE + 16 - row / 4 + k] = 1.0f;
}

static certreg_status answer(certreg_estimator *e)
{
    float z[INPUTS] = {0};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 10};
    certreg_certificate c = {.struct_size = sizeof c};
    draw(z);
    certreg_status status = certreg_estimator_begin(e, z, 0.25, 0);
    if (!status) status = certreg_certify(e, SAMPLES, &q, 1, &c);
    if (!status)
        printf("within %g degrees of %.2f for every shift below %.4f\n", c.tolerance, c.prediction,
               c.radius);
    return status;
}

static int certify(certreg_backend *gpu, struct network *net)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -180, hi = 180;
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = eval,
                             .user = net,
                             .inputs = INPUTS,
                             .outputs = 1,
                             .batch = BATCH,
                             .kind = &kind,
                             .lo = &lo,
                             .hi = &hi};
    const certreg_plan p = {.struct_size = sizeof p, .max_samples = SAMPLES};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(gpu, &m, &p, &why, &e)) return puts(why.text), 1;
    const certreg_status status = answer(e);
    if (net->refused == ENGINE_ABSENT) printf("skipped: %s\n", net->why);
    else if (status) puts(net->why[0] ? net->why : certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    if (net->engine.close != NULL) net->engine.close(net->engine.self);
    return status && net->refused != ENGINE_ABSENT;
}

int main(int argc, char **argv)
{
    struct network net = {.path = argc > 1 ? argv[1] : "examples/models/rotation.onnx"};
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *gpu = NULL;
    const certreg_status status = certreg_backend_open_cuda(0, NULL, NULL, &why, &gpu);
    if (status == CERTREG_E_NO_DEVICE || status == CERTREG_E_NO_BACKEND)
        return printf("skipped: %s\n", why.text), 0;
    if (status) return puts(why.text), 1;
    const int bad = certify(gpu, &net);
    certreg_backend_close(gpu); /* last: the engine works on its stream */
    return bad;
}
