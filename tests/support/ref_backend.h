/* The specification of a backend as plain loops, one normal at a time. Every backend must give
 * its bits (CUDA: draw and replay). What it draws follows from the definition of the noise, not
 * from the recipe of the backends. */
#ifndef REF_BACKEND_H
#define REF_BACKEND_H
#include "backend/backend.h"
#include "backend/double_double.h"

/* Stateless; not to be closed. */
certreg_backend *ref_backend(void);
/* e[i][j] of the replay, in float */
float ref_backend_normal(const cr_noise *, uint64_t i, size_t j);
/* Normal k of a block, from words of 96 bits */
cr_dd ref_backend_precise(const cr_noise *, uint64_t block, size_t k);

#endif
