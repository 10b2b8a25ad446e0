#include "record/hessian_shape.h"
#include "base/arena.h"
#include "record/replay.h"
#include <math.h>

#define LEAST_ROWS 16u
/* The least with the matrix, where squares of products are known from within tiles only. */
#define MATRIX_ROWS 128u
#define USUAL_LIMIT ((size_t)256 << 20)

static double bytes_without_matrix(double inputs, double max_samples, double tile)
{
    return 4 * (inputs + 2 * tile * inputs + tile * tile) + 8 * tile + 20 * max_samples +
           11 * CR_ALIGN;
}

/* In doubles: no size is so large that it would wrap round. */
cr_hessian_shape cr_hessian_choose(size_t inputs, size_t active, size_t max_samples, size_t limit)
{
    const double most = (double)(limit ? limit : USUAL_LIMIT), d = (double)active,
                 n = (double)max_samples;
    const double matrix = 4 * (d * d + CR_HESSIAN_EIGEN_ROOM * d);
    cr_hessian_shape shape = {CR_HESSIAN_MOST_ROWS, 0, 0};
    while (shape.tile > LEAST_ROWS && shape.tile / 2 >= max_samples) shape.tile /= 2;
    double rest = bytes_without_matrix((double)inputs, n, (double)shape.tile);
    /* Beyond a quarter of the samples the matrix is more work than the pairs, and the bound of no
     * use either way. */
    const double least = fmin(MATRIX_ROWS, (double)shape.tile);
    shape.matrix = d <= n / 4 && matrix + bytes_without_matrix((double)inputs, n, least) <= most;
    while (shape.tile > LEAST_ROWS && rest + (shape.matrix ? matrix : 0) > most)
        rest = bytes_without_matrix((double)inputs, n, (double)(shape.tile /= 2));
    const double bytes = rest + (shape.matrix ? matrix : 0);
    if (bytes > most || inputs > INT32_MAX) shape.tile = 0; /* BLAS counts in int */
    shape.bytes = bytes < (double)SIZE_MAX / 4 ? (size_t)bytes : SIZE_MAX;
    return shape;
}
