/* The model, which stands for yours: a position from five sensors, of which one may break. */
#include "certify.h"
#include <math.h>

double model_slope = 1;
static char why[TEXT];

const char *model_why(void)
{
    return why;
}

int model_rows(size_t rows, const float *x, float *y)
{
    for (size_t i = 0; i < rows; i++, x += INPUTS) {
        if (fabsf(x[4]) > 50) return snprintf(why, sizeof why, "sensor 4 reads %g", x[4]), 7;
        y[i] = cosf((float)model_slope * x[0] + x[1]) + 0.3f * fabsf(x[2]) - 0.2f * x[3] * x[4];
    }
    return 0;
}

int model_eval(void *user, const certreg_batch *b)
{
    (void)user;
    return model_rows(b->rows, b->x, b->y);
}

uint64_t digest(uint64_t h, const void *data, size_t size) /* FNV-1a */
{
    for (const unsigned char *p = data; size--; p++) h = (h ^ *p) * 0x100000001b3;
    return h;
}

uint64_t model_digest(uint64_t h)
{
    float x[8 * INPUTS], y[8] = {0};
    for (int i = 0; i < 8 * INPUTS; i++) x[i] = (float)((i * 37 % 41) - 20) / 16;
    const int status = model_rows(8, x, y);
    return digest(digest(h, &status, sizeof status), y, sizeof y);
}
