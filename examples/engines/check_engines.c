/* check_engines [MODEL]: do ONNX Runtime and the built-in engine agree? Evaluates both on images,
 * noise and an odd number of rows, and prints how long each takes. Returns 0 if they agree to 1e-5,
 * and ONNX Runtime gives the same bits for arrays that move and shrink, or if there is no ONNX
 * Runtime to compare with ("skip"). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"

enum { INPUTS = 784, COLUMNS = 2, ROWS = 259, ROUNDS = 8 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Row r has a bar, whose position changes, and noise that grows with r; the first row is black. */
static void fill(float *x)
{
    uint64_t state = 42;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < INPUTS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const float noise = (float)(state >> 40) / 8388608.0f - 1.0f;
            const float bar = r > 0 && (i % 28 + r) % 9 < 3 && i / 28 > 5 && i / 28 < 22 ? 1.0f
                                                                                         : 0.0f;
            x[r * INPUTS + i] = bar + noise * (float)r / ROWS;
        }
}

static int timed(struct engine *e, const float *x, float *y)
{
    double best = 1e9;
    memset(y, 0, ROWS * COLUMNS * sizeof *y);
    for (int k = 0; k < ROUNDS; k++) {
        const double began = seconds();
        if (engine_run(e, x, y, ROWS)) return 1;
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

static int compare(struct engine *ort, struct engine *plain)
{
    static float x[ROWS * INPUTS], y[ROWS * COLUMNS], z[ROWS * COLUMNS], one[COLUMNS];
    fill(x);
    if (timed(plain, x, y) || (ort->run != NULL && timed(ort, x, z))) return 1;
    if (engine_run(plain, x + (ROWS - 1) * INPUTS, one, 1)) return 1;
    const double alone = difference(one, y + (ROWS - 1) * COLUMNS, COLUMNS);
    const double apart = ort->run != NULL ? difference(y, z, ROWS * COLUMNS) : 0.0;
    printf("a row alone or among others: %.1e; the two engines: %.1e\n", alone, apart);
    return !(alone <= 1e-5 && apart <= 1e-5);
}

/* Arrays are used in place. They move and shrink from run to run, as batches may. */
static int compare_moved(struct engine *ort)
{
    static float x[ROWS * INPUTS], y[ROWS * COLUMNS], z[ROWS * COLUMNS], moved[ROWS * INPUTS];
    static const size_t first[] = {0, ROWS - 1, 3}, rows[] = {ROWS, 1, 64};
    int bad = 0;
    fill(x);
    memcpy(moved, x, sizeof x);
    for (size_t k = 0; k < 3 && !bad; k++) {
        const size_t bytes = rows[k] * COLUMNS * sizeof *y;
        memset(z, 0xff, sizeof z);
        bad = engine_run(ort, x + first[k] * INPUTS, y, rows[k]) ||
              engine_run(ort, moved + first[k] * INPUTS, z + first[k], rows[k]) ||
              memcmp(y, z + first[k], bytes) != 0;
    }
    printf("moved arrays: %s\n", bad ? "other bits" : "same bits");
    if (bad) fprintf(stderr, "ONNX Runtime differs where arrays move, or failed. %s\n", ort->why);
    return bad;
}

/* A device that no machine has is refused with a reason, with and without a CUDA provider. */
static int absent_device(const char *model)
{
    const struct engine_options set = {.engine = "onnxruntime", .on_device = 1, .device = 1000};
    struct engine e;
    const int bad = engine_open(model, &set, &e) != ENGINE_ABSENT || e.why[0] == '\0' ||
                    e.close != NULL;
    printf("no such device: %s\n", e.why);
    if (bad) fprintf(stderr, "a CUDA device that does not exist was not refused\n");
    return bad;
}

int main(int argc, char **argv)
{
    const char *model = argc > 1 ? argv[1] : "examples/models/rotation.onnx";
    const struct engine_options with_ort = {.engine = "onnxruntime"},
                                built_in = {.engine = "builtin"};
    struct engine ort, plain;
    if (engine_open(model, &built_in, &plain) || engine_fits(&plain, model, INPUTS, COLUMNS)) {
        fprintf(stderr, "%s\n", plain.why);
        return 1;
    }
    if (engine_open(model, &with_ort, &ort)) printf("skip ONNX Runtime: %s\n", ort.why);
    int bad = compare(&ort, &plain);
    if (bad) fprintf(stderr, "the engines disagree, or failed. %s %s\n", ort.why, plain.why);
    if (ort.run != NULL) bad |= compare_moved(&ort);
    bad |= absent_device(model);
    engine_close(&ort);
    engine_close(&plain);
    return bad;
}
