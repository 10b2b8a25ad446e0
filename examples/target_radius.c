/* Target radii: sampling stops as soon as a radius is proved or out of reach. A controller may act
 * at once if its command stays within 0.1 for all sensor errors below 0.08; otherwise it falls
 * back to a slow, careful mode. The budget is 400 calls of the model per tick, and on average a
 * quarter of it is used.
 * Prints how many calls three radii would take, what became of 200 ticks, and the radius that an
 * anytime certificate has reached after every 80 calls. */
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <inttypes.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>

enum { SENSORS = 6, BUDGET = 400, TICKS = 200 };
static const double sigma = 0.1;
static const certreg_target target = {.struct_size = sizeof target, .radius = 0.08};
static alignas(64) unsigned char estimator_memory[256 * 1024];

/* ---- the stand-in: a command that is steep where the first sensor is near zero */
static float command(const float *x)
{
    return 0.25f * tanhf(6 * x[0]) + 0.3f * x[1] * x[2] - 0.1f * x[3] + 0.05f * sinf(x[4] + x[5]);
}

static int controller(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = command(b->x + i * SENSORS);
    return 0;
}

static void sense(int tick, float *z) /* a slow swing through zero and back */
{
    const float t = (float)tick / TICKS;
    for (int j = 0; j < SENSORS; j++) z[j] = 0.6f * cosf(6.2832f * t + (float)j);
}

/* ---- every tick: sample until the radius is proved, out of reach, or time is up */
static certreg_status drive(certreg_estimator *e)
{
    const certreg_question q = {
        .struct_size = sizeof q, .tolerance = 0.1, .alpha = 1e-3, .target = &target};
    certreg_certificate c = {.struct_size = sizeof c};
    int proved = 0, hopeless = 0;
    uint64_t calls = 0;
    for (int tick = 0; tick < TICKS; tick++) {
        float z[SENSORS];
        sense(tick, z);
        certreg_status status = certreg_estimator_begin(e, z, sigma, (uint64_t)tick);
        certreg_estimator_set_deadline(e, 10); /* generous here; a loop at 100 Hz would say 0.008 */
        if (!status) status = certreg_certify(e, BUDGET, &q, 1, &c);
        if (status) return status;
        proved += c.radius >= target.radius;
        /* A smaller radius may have been proved by then: c.radius has it. */
        hopeless += c.stop == CERTREG_STOP_HOPELESS;
        calls += c.samples;
    }
    printf("%d ticks: %d proved, %d given up early; %.1f calls per tick instead of %d\n", TICKS,
           proved, hopeless, (double)calls / TICKS, BUDGET);
    return CERTREG_OK;
}

/* ---- planning ahead: how many calls would a radius take? */
static certreg_status plan_ahead(certreg_estimator *e)
{
    float z[SENSORS];
    certreg_target t = {.struct_size = sizeof t};
    const certreg_question q = {
        .struct_size = sizeof q, .tolerance = 0.1, .alpha = 1e-3, .target = &t};
    certreg_forecast f = {.struct_size = sizeof f};
    sense(10, z);
    certreg_status status = certreg_estimator_begin(e, z, sigma, 1u << 20);
    /* The forecast knows more once it has seen some outputs. */
    if (!status) status = certreg_estimator_sample(e, 0, 120);
    for (int k = 1; k <= 3 && !status; k++) {
        t.radius = k * target.radius;
        status = certreg_estimator_forecast(e, &q, &f);
        if (status) return status;
        if (f.least_samples == 0) printf("radius %.2f: never, with %d calls\n", t.radius, BUDGET);
        else
            printf("radius %.2f: at least %" PRIu64 " calls, %.0f expected\n", t.radius,
                   f.least_samples, f.expected_samples);
    }
    return status;
}

/* ---- anytime: look as often as you like, and stop when you like. All radii together are true with
 * probability 1 - alpha. */
static certreg_status watch(certreg_estimator *e)
{
    const certreg_question q = {
        .struct_size = sizeof q, .tolerance = 0.1, .alpha = 1e-3, .method = CERTREG_METHOD_ANYTIME};
    certreg_certificate c = {.struct_size = sizeof c};
    float z[SENSORS];
    sense(10, z);
    certreg_status status = certreg_estimator_begin(e, z, sigma, 1u << 21);
    for (size_t n = 80; n <= BUDGET && !status; n += 80) {
        status = certreg_certify(e, n, &q, 1, &c);
        if (!status) printf("after %3zu calls: radius %.4f\n", n, c.radius);
    }
    return status;
}

int main(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = controller, .inputs = SENSORS, .outputs = 1, .batch = 8};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = BUDGET,
                            .pilot = 16,
                            .memory = estimator_memory,
                            .memory_bytes = sizeof estimator_memory};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;

    certreg_status status = plan_ahead(e);
    if (!status) status = drive(e);
    if (!status) status = watch(e);
    if (status) printf("%s: %s\n", certreg_status_text(status), certreg_estimator_error(e)->text);
    certreg_estimator_destroy(e);
    return status != CERTREG_OK;
}
