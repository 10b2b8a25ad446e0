/* Opens a module of the library and prints the status and its sentence, after it has gone to the
 * folder that is named. "opens cuda [FOLDER]" opens a CUDA device, "opens blas [FOLDER]" makes a
 * denoiser. */
#define CERTREG_EXPERIMENTAL
#include <certreg/backend.h>
#include <certreg/denoiser.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    for (size_t i = 0; i < 2 * count; i++) x[i] = (float)((2 * first + i) % 7);
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
    const certreg_denoiser_plan plan = {
        .struct_size = sizeof plan, .inputs = 2, .rows = 20, .read = examples, .sigma = 1};
    certreg_denoiser *denoiser = NULL;
    const certreg_status status = certreg_denoiser_create(&plan, why, &denoiser);
    certreg_denoiser_destroy(denoiser);
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
