/* models.h: the models that make_models.py and make_torch.cpp write, computed without them. */
#ifndef TESTS_ENGINES_MODELS_H
#define TESTS_ENGINES_MODELS_H
#include <stddef.h>

enum { DENSE_INPUTS = 6, DENSE_HIDDEN = 5, DENSE_COLUMNS = 2 };

static inline float dense_weight(size_t index, size_t start)
{
    return (float)((int)((index * 7 + start) % 17) - 8) / 8.0f;
}

/* y = W2 relu(W1 x + b1) + b2; hidden or y may be NULL. */
static inline void dense_row(const float *x, float *hidden, float *y)
{
    float h[DENSE_HIDDEN];
    for (size_t i = 0; i < DENSE_HIDDEN; i++) {
        h[i] = dense_weight(i, 1);
        for (size_t j = 0; j < DENSE_INPUTS; j++)
            h[i] += dense_weight(i * DENSE_INPUTS + j, 3) * x[j];
        h[i] = h[i] > 0.0f ? h[i] : 0.0f;
        if (hidden != NULL) hidden[i] = h[i];
    }
    for (size_t k = 0; k < DENSE_COLUMNS && y != NULL; k++) {
        y[k] = dense_weight(k, 2);
        for (size_t i = 0; i < DENSE_HIDDEN; i++)
            y[k] += dense_weight(k * DENSE_HIDDEN + i, 5) * h[i];
    }
}

/* Base score and two trees. */
static inline float trees_row(const float *x)
{
    const float first = x[0] < 0.5f ? (x[1] < -0.25f ? 1.0f : 2.0f) : (x[2] < 1.0f ? 4.0f : 8.0f);
    const float second = x[2] < 0.0f ? (x[0] < 0.75f ? -0.5f : 0.25f)
                                     : (x[1] < 0.5f ? 0.125f : 16.0f);
    return 0.5f + first + second;
}
#endif
