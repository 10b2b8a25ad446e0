/* Compiled once for each kind of lanes (proof.mk): LANES is their header, WORDS the function. */
#include LANES
#include <string.h>
/* after the lanes */
#include "backend/grid_rounding.h"
#include "words.h"

static vu row_of(uint32_t first, uint32_t step)
{
    uint32_t row[V_LANES];
    vu lanes;
    for (uint32_t i = 0; i < V_LANES; i++) row[i] = first + i * step;
    memcpy(&lanes, row, sizeof lanes);
    return lanes;
}

static void radii(uint32_t first, float r[CHUNK], float strict[CHUNK])
{
    for (uint32_t i = 0; i < CHUNK; i += V_LANES) {
        const vu x = row_of(first + i, 1);
        const vf radius = cr_normal4_radius(x);
        v_store(r + i, radius);
        v_store(strict + i, v_nan_outside(radius, x, CR_NORMAL4_FIRST, CR_NORMAL4_COUNT));
    }
}

static void waves(uint32_t first, uint32_t step, float sine[CHUNK], float cosine[CHUNK])
{
    for (uint32_t i = 0; i < CHUNK; i += V_LANES) {
        vf s, c;
        cr_normal4_sincos(row_of(first + i * step, step), &s, &c);
        v_store(sine + i, s);
        v_store(cosine + i, c);
    }
}

static const recipe here = {radii, waves};

const recipe *WORDS(void)
{
    return &here;
}
