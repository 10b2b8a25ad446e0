/* The table of an instruction set's kernels; the including file includes one simd_*.h first. */
#ifndef CR_BACKEND_CPU_TABLE_H
#define CR_BACKEND_CPU_TABLE_H
#include "backend/cpu_filter.h"
#include "backend/cpu_gram.h"
#include "backend/cpu_sweep.h"

/* Defines the function that returns the table. */
#define CR_CPU_TABLE(function, name)                                                              \
    const cr_cpu_kernel_table *function(void)                                                     \
    {                                                                                             \
        static const cr_cpu_kernel_table kernels = {name,           kernel_draw,   kernel_replay, \
                                                    kernel_project, kernel_filter, kernel_gram,   \
                                                    kernel_sweep};                                \
        return &kernels;                                                                          \
    }

#endif
