/* check_engines [MODEL]: do ONNX Runtime and the built-in engine agree? Evaluates both on images,
 * noise and an odd number of rows, and prints how long each takes. Returns 0 if
 *   - they agree to 1e-5, and ONNX Runtime gives the same bits for arrays that move and shrink, or
 *     there is no ONNX Runtime to compare with ("skip")
 *   - gradient.h gives the same outputs, and derivatives along random directions that agree with
 *     finite differences. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "gradient.h"

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

/* ---- gradients */
enum { DIRECTIONS = 24, WARM_UP = 40 };
static const float rise[COLUMNS] = {0.7f, -1.3f}; /* the sum of outputs that is differentiated */

static double sum_at(struct gradient *g, const float *x, const float *along, float step)
{
    float moved[INPUTS], y[COLUMNS];
    for (size_t i = 0; i < INPUTS; i++) moved[i] = x[i] + step * along[i];
    gradient_forward(g, moved, 1, y);
    return (double)rise[0] * (double)y[0] + (double)rise[1] * (double)y[1];
}

/* Central difference and derivative along a random direction from row r; the worst disagreement,
 * relative to the gradient's norm. ReLUs have kinks, and float has rounding: a step that crosses no
 * kink agrees far better than the worst one does. */
static double disagreement(struct gradient *g, const float *x, uint64_t *state)
{
    float along[INPUTS], gradient[INPUTS] = {0}, y[COLUMNS];
    const float step = 0.001f;
    double slope = 0.0, norm = 0.0, length = 0.0;
    for (size_t i = 0; i < INPUTS; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        along[i] = (float)(*state >> 40) / 8388608.0f - 1.0f;
    }
    gradient_forward(g, x, 1, y);
    gradient_backward(g, rise, gradient);
    for (size_t i = 0; i < INPUTS; i++) {
        slope += (double)gradient[i] * (double)along[i];
        norm += (double)gradient[i] * (double)gradient[i];
        length += (double)along[i] * (double)along[i];
    }
    const double difference =
        (sum_at(g, x, along, step) - sum_at(g, x, along, -step)) / (2.0 * (double)step);
    /* Along a random direction of 784 the slope is about norm*length/28. */
    return fabs(difference - slope) / (sqrt(norm * length / INPUTS) + 1e-30);
}

/* The gradient of several rows is the sum of theirs. */
static double additivity(struct gradient *g, const float *x)
{
    float y[GRADIENT_ROWS * COLUMNS], dy[GRADIENT_ROWS * COLUMNS], together[INPUTS] = {0},
                                                                   single[INPUTS] = {0};
    double worst = 0.0, most = 0.0;
    for (size_t i = 0; i < GRADIENT_ROWS * COLUMNS; i++)
        dy[i] = rise[i % COLUMNS] * (float)(1 + i / COLUMNS);
    gradient_forward(g, x, GRADIENT_ROWS, y);
    gradient_backward(g, dy, together);
    for (size_t r = 0; r < GRADIENT_ROWS; r++) {
        gradient_forward(g, x + r * INPUTS, 1, y);
        gradient_backward(g, dy + r * COLUMNS, single);
    }
    for (size_t i = 0; i < INPUTS; i++) {
        worst = fmax(worst, fabs((double)together[i] - (double)single[i]));
        most = fmax(most, fabs((double)single[i]));
    }
    return most > 0.0 ? worst / most : 1.0;
}

static int check_gradient(struct gradient *g, struct engine *plain)
{
    static float x[ROWS * INPUTS], y[ROWS * COLUMNS];
    float again[COLUMNS], dx[INPUTS] = {0}, many[GRADIENT_ROWS * COLUMNS] = {0};
    uint64_t state = 7;
    double apart = 0.0, worst = 0.0, mean = 0.0;
    fill(x);
    if (engine_run(plain, x, y, ROWS)) return 1;
    for (size_t k = 0; k < DIRECTIONS; k++) {
        const size_t r = 10 * (k + 1);
        gradient_forward(g, x + r * INPUTS, 1, again);
        apart = fmax(apart, difference(again, y + r * COLUMNS, COLUMNS));
        const double now = disagreement(g, x + r * INPUTS, &state);
        worst = fmax(worst, now);
        mean += now / DIRECTIONS;
    }
    const double sum = additivity(g, x + 40 * INPUTS), began = seconds();
    for (int k = 0; k < WARM_UP; k++) {
        gradient_forward(g, x, GRADIENT_ROWS, many);
        gradient_backward(g, many, dx);
    }
    printf("gradients                %6.1f us a row\n",
           1e6 * (seconds() - began) / (WARM_UP * GRADIENT_ROWS));
    printf("their outputs: %.1e; against differences: mean %.1e, worst %.1e; sums: %.1e\n", apart,
           mean, worst, sum);
    return !(apart <= 1e-5 && mean <= 0.01 && worst <= 0.05 && sum <= 1e-4);
}

static int gradients(const char *model, struct engine *plain)
{
    char why[ENGINE_WHY] = "";
    struct gradient *g = NULL;
    if (gradient_open(model, INPUTS, COLUMNS, &g, why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    const int bad = check_gradient(g, plain);
    gradient_close(g);
    if (bad) fprintf(stderr, "gradients disagree with differences of outputs\n");
    return bad || gradient_open("/dev/null", INPUTS, COLUMNS, &g, why) == 0;
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
    bad |= absent_device(model) | gradients(model, &plain);
    engine_close(&ort);
    engine_close(&plain);
    return bad;
}
