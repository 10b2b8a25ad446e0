/* The path that runs on every machine: plain C11, one lane. */
#include "backend/lanes_scalar.h"
/* after the lanes */
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

const cr_cpu_kernels *cr_cpu_portable_kernels(void)
{
    static const cr_cpu_kernels kernels = {"portable",    kernel_draw,    kernel_normals,
                                           kernel_replay, kernel_project, kernel_filter,
                                           kernel_gram,   kernel_sweep};
    return &kernels;
}
