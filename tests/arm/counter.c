/* counter [PATH OPERATION SAMPLES]: does one operation of one path's kernels on samples of 128
 * inputs, for an emulator that counts instructions (instructions.sh). Without arguments: the names
 * of the paths that this processor has. */
#include "backend/cpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 128, MOST = 64 };
static float z[INPUTS], deviation[INPUTS], weights[2 * MOST], x[MOST * INPUTS];
static double sums[2 * INPUTS], dots[MOST], norms[MOST];

static void operate(const cr_cpu_kernel_table *kernels, const char *operation, size_t samples)
{
    const cr_noise noise = {.seed = 42, .noise_id = 7, .inputs = INPUTS};
    for (size_t j = 0; j < INPUTS; j++) z[j] = (float)(j % 17), deviation[j] = 0.25f;
    for (size_t i = 0; i < 2 * MOST; i++) weights[i] = 0.5f;
    if (!strcmp(operation, "draw")) kernels->draw(&noise, z, deviation, 0, samples, x);
    else if (!strcmp(operation, "replay"))
        kernels->replay(&noise, 0, samples, 2, weights, MOST, sums, 0, INPUTS);
    else kernels->project(&noise, 0, samples, z, deviation, dots, norms);
}

int main(int count, char **arguments)
{
    for (int path = 0; path < CR_CPU_PATHS; path++) {
        const cr_cpu_kernel_table *kernels = cr_cpu_path(path);
        if (!kernels) continue;
        if (count < 4) puts(kernels->name);
        else if (!strcmp(kernels->name, arguments[1]))
            operate(kernels, arguments[2], (size_t)atol(arguments[3]));
    }
    return 0;
}
