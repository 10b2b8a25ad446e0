/* onnx [MODEL]: an .onnx file on the GPU, run by ONNX Runtime. Its CUDA provider reads the noisy
 * inputs where the library drew them, writes the outputs where the library reads them, and works on
 * the library's stream: nothing waits, and no row is copied to the host. The model takes 28x28 grey
 * values "x" and returns the cosine and sine of an angle "y", as the default does,
 * examples/models/rotation.onnx.
 * Prints the certified radius, or without a device or ONNX Runtime's CUDA provider why it was
 * skipped. */
#include <certreg/backend.h>
#include <stdio.h>

#include "../engines/engine.h"

enum { SIDE = 28, INPUTS = SIDE * SIDE, SAMPLES = 20000, BATCH = 2048 };

/* A slanted stroke. */
static void draw(float *z)
{
    for (size_t row = 5; row < 23; row++)
        for (size_t k = 0; k < 3; k++) z[row * SIDE + 16 - row / 4 + k] = 1.0f;
}

static certreg_status answer(certreg_estimator *e, size_t whole)
{
    float z[INPUTS] = {0};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 10};
    certreg_certificate c = {.struct_size = sizeof c};
    draw(z);
    certreg_status status = certreg_estimator_begin(e, z, 0.25, 0);
    if (!status) status = certreg_model_check(e, whole, NULL); /* on the device */
    if (!status) status = certreg_certify(e, SAMPLES, &q, 1, &c);
    if (!status)
        printf("within %g degrees of %.2f for every shift below %.4f\n", c.tolerance, c.prediction,
               c.radius);
    return status;
}

static int certify(certreg_backend *gpu, struct engine *engine)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -180, hi = 180;
    certreg_model m = {.struct_size = sizeof m, .kind = &kind, .lo = &lo, .hi = &hi};
    const certreg_plan p = {
        .struct_size = sizeof p, .audit = CERTREG_AUDIT_WHOLE, .max_samples = SAMPLES}; /* seed:
                                                                                           drawn */
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    engine_model(engine, &m);
    m.outputs = 1; /* of two columns */
    if (m.batch == 0) m.batch = BATCH;
    if (certreg_estimator_create(gpu, &m, &p, &why, &e)) return puts(why.text), 1;
    const certreg_status status = answer(e, engine->batch);
    if (status) puts(engine->why[0] ? engine->why : certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}

static int run(certreg_backend *gpu, const char *model)
{
    const struct engine_options on_device = {.engine = "onnxruntime", .on_device = 1};
    struct engine engine;
    const int bad = engine_open(model, &on_device, &engine);
    if (bad == ENGINE_ABSENT) return printf("skipped: %s\n", engine.why), 0;
    if (bad) return puts(engine.why), 1;
    const int failed = engine_fits(&engine, model, INPUTS, 2) ? (puts(engine.why), 1)
                                                              : certify(gpu, &engine);
    engine_close(&engine);
    return failed;
}

int main(int argc, char **argv)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *gpu = NULL;
    const certreg_status status = certreg_backend_open("cuda", 0, NULL, &why, &gpu);
    if (status == CERTREG_E_NO_DEVICE || status == CERTREG_E_NO_BACKEND)
        return printf("skipped: %s\n", why.text), 0;
    if (status) return puts(why.text), 1;
    const int bad = run(gpu, argc > 1 ? argv[1] : "examples/models/rotation.onnx");
    certreg_backend_close(gpu); /* last: the engine works on its stream */
    return bad;
}
