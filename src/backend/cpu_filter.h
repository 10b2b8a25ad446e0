/* The linear filter of denoisers, over the lanes of the including file. Sum l of SUMS adds the
 * features with j % SUMS == l in order, and every product and sum is rounded on its own. So all
 * paths give the same bits, and a row's bits do not depend on its position. */
#ifndef CR_BACKEND_CPU_FILTER_H
#define CR_BACKEND_CPU_FILTER_H
#include "backend/cpu_kernels.h"

#define SUMS CR_FILTER_SUMS
#define COMPONENT_GROUP CR_FILTER_GROUP /* components of one pass over the features */
enum { BLOCK = 4, ROWS = 32 };          /* rows per load of a constant from L1; from L2 */

/* Some rows. x_last and y_last have the features after the last multiple of SUMS, padded with
 * zeros. */
typedef struct row_block {
    const float *x;
    float *y;
    float x_last[ROWS][SUMS], y_last[ROWS][SUMS];
} row_block;

/* Subtracts analysis[c] (x[r] - center) from s[r][c], at one vector of features. */
CR_ALWAYS_INLINE void subtract_products(vf s[BLOCK][2], size_t rows, const float *x, size_t pitch,
                                        vf center, const vf analysis[2])
{
    for (size_t r = 0; r < rows; r++) {
        const vf d = v_sub(v_load(x + r * pitch), center);
        for (int c = 0; c < 2; c++) s[r][c] = v_sub(s[r][c], v_mul(analysis[c], d));
    }
}

/* Sets t[r][c] = -(analysis[c], x[r] - center) for two components. */
CR_ALWAYS_INLINE void multiply_analysis(const cr_filter *f, const float *analysis,
                                        const row_block *p, size_t row, size_t rows,
                                        float t[BLOCK][COMPONENT_GROUP])
{
    const size_t n = f->inputs, vector_end = n - n % SUMS;
    float sums[BLOCK][2][SUMS];
    for (size_t l = 0; l < SUMS; l += VECTOR) {
        vf s[BLOCK][2];
        for (size_t r = 0; r < rows; r++) s[r][0] = s[r][1] = v_set(0.0f);
        for (size_t j = l; j < f->pitch; j += SUMS) {
            const vf pair[2] = {v_load(analysis + j), v_load(analysis + f->pitch + j)};
            const vf center = v_load(f->center + j);
            if (j < vector_end) subtract_products(s, rows, p->x + row * n + j, n, center, pair);
            else subtract_products(s, rows, p->x_last[row] + l, SUMS, center, pair);
        }
        for (size_t r = 0; r < rows; r++)
            for (int c = 0; c < 2; c++) v_store(sums[r][c] + l, s[r][c]);
    }
    for (size_t r = 0; r < rows; r++)
        for (int c = 0; c < 2; c++) {
            for (int half = SUMS / 2; half; half /= 2)
                for (int l = 0; l < half; l++) sums[r][c][l] += sums[r][c][l + half];
            t[r][c] = sums[r][c][0];
        }
}

/* Subtracts the sum of t[c] synthesis[c] from y, at one vector of features. */
CR_ALWAYS_INLINE void add_synthesis(const cr_filter *f, const float *synthesis,
                                    const float t[COMPONENT_GROUP], float *y)
{
    vf v = v_load(y);
    for (size_t c = 0; c < COMPONENT_GROUP; c++)
        v = v_sub(v, v_mul(v_set(t[c]), v_load(synthesis + c * f->pitch)));
    v_store(y, v);
}

CR_ALWAYS_INLINE void apply_components(const cr_filter *f, size_t component, row_block *p,
                                       size_t row, size_t rows)
{
    const size_t n = f->inputs, vector_end = n - n % SUMS;
    const float *synthesis = f->synthesis + component * f->pitch;
    float t[BLOCK][COMPONENT_GROUP];
    for (size_t c = 0; c < COMPONENT_GROUP; c += 2) {
        float pair[BLOCK][COMPONENT_GROUP];
        multiply_analysis(f, f->analysis + (component + c) * f->pitch, p, row, rows, pair);
        for (size_t r = 0; r < rows; r++) {
            t[r][c] = pair[r][0];
            t[r][c + 1] = pair[r][1];
        }
    }
    for (size_t j = 0; j < vector_end; j += VECTOR)
        for (size_t r = 0; r < rows; r++)
            add_synthesis(f, synthesis + j, t[r], p->y + (row + r) * n + j);
    for (size_t j = vector_end; j < f->pitch; j += VECTOR)
        for (size_t r = 0; r < rows; r++)
            add_synthesis(f, synthesis + j, t[r], p->y_last[row + r] + j - vector_end);
}

/* Sets y = center - base_gain (center - x), at one vector of features. */
static inline void apply_base_gain(const cr_filter *f, size_t j, const float *x, float *y)
{
    const vf center = v_load(f->center + j), d = v_sub(center, v_load(x));
    v_store(y, v_sub(center, v_mul(v_load(f->base_gain + j), d)));
}

static inline void filter_rows(const cr_filter *f, row_block *p, size_t rows)
{
    const size_t n = f->inputs, vector_end = n - n % SUMS, tail = n - vector_end;
    for (size_t r = 0; r < rows; r++) {
        memset(p->x_last[r], 0, sizeof p->x_last[r]);
        memcpy(p->x_last[r], p->x + r * n + vector_end, tail * sizeof *p->x);
        for (size_t j = 0; j < vector_end; j += VECTOR)
            apply_base_gain(f, j, p->x + r * n + j, p->y + r * n + j);
        for (size_t j = vector_end; j < f->pitch; j += VECTOR)
            apply_base_gain(f, j, p->x_last[r] + j - vector_end, p->y_last[r] + j - vector_end);
    }
    for (size_t c = 0; c < f->components; c += COMPONENT_GROUP) {
        size_t r = 0;
        for (; r + BLOCK <= rows; r += BLOCK) apply_components(f, c, p, r, BLOCK);
        for (; r < rows; r++) apply_components(f, c, p, r, 1);
    }
    for (size_t r = 0; r < rows; r++)
        memcpy(p->y + r * n + vector_end, p->y_last[r], tail * sizeof *p->y);
}

static void kernel_filter(const cr_filter *f, const float *x, size_t rows, float *y)
{
    for (size_t r = 0; r < rows; r += ROWS) {
        row_block p;
        p.x = x + r * f->inputs;
        p.y = y + r * f->inputs;
        filter_rows(f, &p, cr_min_size(rows - r, ROWS));
    }
}

#endif
