/* CPU backends of every instruction-set path and number of threads. */
#ifndef SUPPORT_CPU_SETUPS_H
#define SUPPORT_CPU_SETUPS_H
#include "backend/cpu.h"
#include "support/suite.h"
#include <certreg/backend.h>

enum { PATHS = CR_CPU_PATHS, MOST_THREADS = 3, SETUPS = PATHS * MOST_THREADS };

/* The backend of one setup, NULL where this machine cannot run it. */
static inline certreg_backend *backend_of(int setup)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_backend *backend = NULL;
    if (!cr_cpu_path(setup / MOST_THREADS)) return NULL;
    ck_assert_msg(!certreg_backend_open_cpu(1 + setup % MOST_THREADS, &why, &backend), "%s",
                  why.text);
    ck_assert_int_eq(cr_cpu_force(backend, cr_cpu_path(setup / MOST_THREADS)), CERTREG_OK);
    return backend;
}

#endif
