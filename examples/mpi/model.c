/* The model, which stands for yours: a position from five sensors, of which one may break. */
#include "certify.h"
#include <math.h>
#include <stdio.h>

static char why[64];

const char *model_why(void)
{
    return why;
}

int model_rows(size_t rows, const float *x, float *y)
{
    for (size_t i = 0; i < rows; i++, x += INPUTS) {
        if (fabsf(x[4]) > 50) return snprintf(why, sizeof why, "sensor 4 reads %g", x[4]), 7;
        y[i] = cosf(x[0] + x[1]) + 0.3f * fabsf(x[2]) - 0.2f * x[3] * x[4];
    }
    return 0;
}
