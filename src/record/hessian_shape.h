/* The memory that the second order takes. */
#ifndef CR_RECORD_HESSIAN_SHAPE_H
#define CR_RECORD_HESSIAN_SHAPE_H
#include <stddef.h>

/* The most rows of a tile: each normal drawn is multiplied with so many others that drawing is
 * cheap compared with the products. */
#define CR_HESSIAN_MOST_ROWS 512u

/* Rows of a tile, and whether the d x d matrix has room and can pay; the bytes they take are at
 * most `limit` (0: 256 MiB), or tile is 0, and then the bytes are what the least tile takes. */
typedef struct cr_hessian_shape {
    size_t tile, matrix, bytes;
} cr_hessian_shape;
cr_hessian_shape cr_hessian_choose(size_t inputs, size_t active, size_t max_samples, size_t limit);

#endif
