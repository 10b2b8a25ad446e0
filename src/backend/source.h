/* A stream of noise as the kernels of every device take it: with the keys of all rounds, and by value, so that they are constants there. */
#ifndef CR_BACKEND_SOURCE_H
#define CR_BACKEND_SOURCE_H
#include "backend/backend.h"
#include "backend/philox.h"

typedef struct cr_source {
    uint32_t keys[2 * CR_PHILOX_ROUNDS];
    uint64_t stream, row; /* row: blocks of four normals to a sample */
    size_t inputs;
    int32_t centre;
} cr_source;

static inline cr_source cr_source_of(const cr_noise *noise)
{
    cr_source s;
    cr_philox_keys(noise->seed, s.keys);
    s.stream = noise->stream;
    s.row = noise->inputs / 4 + (noise->inputs % 4 != 0);
    s.inputs = noise->inputs;
    s.centre = noise->centre;
    return s;
}

#endif
