/* check_engines [MODEL]: do ONNX Runtime and the built-in engine agree? Evaluates both on images, noise and an odd number of rows,
 * and prints how long each takes. Returns 0 if they agree to 1e-5, or if there is no ONNX Runtime to compare with ("skip"). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ort.h"
#include "plain.h"

enum { INPUTS = 784, COLUMNS = 2, ROWS = 259, ROUNDS = 8 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Row r: a bar of changing place under noise that grows with r; the first row is black. */
static void fill(float *x)
{
    uint64_t state = 42;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < INPUTS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const float noise = (float)(state >> 40) / 8388608.0f - 1.0f;
            const float bar = r > 0 && (i % 28 + r) % 9 < 3 && i / 28 > 5 && i / 28 < 22 ? 1.0f : 0.0f;
            x[r * INPUTS + i] = bar + noise * (float)r / ROWS;
        }
}

static int timed(const struct engine *e, const float *x, float *y)
{
    double best = 1e9;
    memset(y, 0, ROWS * COLUMNS * sizeof *y);
    for (int k = 0; k < ROUNDS; k++) {
        const double began = seconds();
        if (e->run(e->self, x, y, ROWS))
            return 1;
        best = fmin(best, seconds() - began);
    }
    printf("%-24s %6.1f us a row\n", e->name, 1e6 * best / ROWS);
    return 0;
}

/* Largest difference, relative where outputs exceed 1. */
static double difference(const float *a, const float *b, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double d = fabs((double)a[i] - (double)b[i]) / fmax(1.0, fabs((double)b[i]));
        most = d <= most ? most : d; /* NaN stays */
    }
    return most;
}

static int compare(const struct engine *ort, const struct engine *plain)
{
    static float x[ROWS * INPUTS], y[ROWS * COLUMNS], z[ROWS * COLUMNS], one[COLUMNS];
    fill(x);
    if (timed(plain, x, y) || (ort->run != NULL && timed(ort, x, z)))
        return 1;
    if (plain->run(plain->self, x + (ROWS - 1) * INPUTS, one, 1))
        return 1;
    const double alone = difference(one, y + (ROWS - 1) * COLUMNS, COLUMNS);
    const double apart = ort->run != NULL ? difference(y, z, ROWS * COLUMNS) : 0.0;
    printf("a row alone or among others: %.1e; the two engines: %.1e\n", alone, apart);
    return !(alone <= 1e-5 && apart <= 1e-5);
}

/* What must be refused, with a reason. */
static int refusals(void)
{
    char why[ENGINE_WHY] = "";
    struct engine e;
    if (engine_open_plain("no/such/model.onnx", INPUTS, COLUMNS, 1, &e, why) == 0 || why[0] == '\0')
        return 1;
    why[0] = '\0';
    return engine_open_plain("/dev/null", INPUTS, COLUMNS, 1, &e, why) == 0 || why[0] == '\0';
}

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "examples/models/rotation.onnx";
    char why[ENGINE_WHY] = "", why_plain[ENGINE_WHY] = "";
    struct engine ort, plain;
    if (engine_open_plain(model, INPUTS, COLUMNS, 1, &plain, why_plain)) {
        fprintf(stderr, "%s\n", why_plain);
        return 1;
    }
    if (engine_open_ort(model, INPUTS, COLUMNS, 1, &ort, why))
        printf("skip ONNX Runtime: %s\n", why);
    const int bad = compare(&ort, &plain);
    if (bad)
        fprintf(stderr, "the engines disagree, or failed. %s%s\n", why, why_plain);
    if (ort.close != NULL)
        ort.close(ort.self);
    plain.close(plain.self);
    if (refusals() == 0)
        return bad;
    fprintf(stderr, "a file that is no model was not refused\n");
    return 1;
}
