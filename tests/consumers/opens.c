/* Opens a module of the library and prints the status and its sentence, after it has gone to the
 * folder that is named. "opens cuda [FOLDER]" opens a CUDA device, "opens blas [FOLDER]" an
 * estimator for the second order. */
#include <certreg/backend.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int model(void *user, const certreg_batch *batch)
{
    (void)user;
    for (size_t i = 0; i < batch->rows; i++) batch->y[i] = 0;
    return 0;
}

static certreg_status open_cuda(certreg_error *why)
{
    certreg_backend *backend = NULL;
    const certreg_status status = certreg_backend_open("cuda", 0, NULL, why, &backend);
    certreg_backend_close(backend);
    return status;
}

static certreg_status open_blas(certreg_error *why)
{
    const certreg_model m = {.struct_size = sizeof m, .eval = model, .inputs = 2, .outputs = 1};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .max_samples = 1000,
                               .constraints = CERTREG_CONSTRAINT_MEAN |
                                              CERTREG_CONSTRAINT_SECOND_ORDER};
    certreg_estimator *estimator = NULL;
    const certreg_status status = certreg_estimator_create(NULL, &m, &plan, why, &estimator);
    certreg_estimator_destroy(estimator);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2 || (argc > 2 && chdir(argv[2]))) return 9;
    certreg_error why = {.struct_size = sizeof why};
    const certreg_status status = strcmp(argv[1], "blas") ? open_cuda(&why) : open_blas(&why);
    printf("%d %s\n", (int)status, why.text);
    return 0;
}
