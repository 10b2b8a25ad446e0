/* A denoiser in front of a model that never saw noise. The model finds the place of an echo in a
 * signal: the sample that is largest. That is exact for clean signals, and poor under noise. From
 * 2,000 clean signals, whose places nobody has to know, comes a filter that knows what signals look
 * like. Prints for some signals how far each sample may change, in the 2-norm, before the place can
 * move by 3, without and with the filter. */
#define CERTREG_EXPERIMENTAL 1 /* see "stability" in certreg.h */
#include <certreg/certreg.h>
#include <certreg/denoiser.h>
#include <math.h>
#include <stdio.h>

enum { LENGTH = 128, EXAMPLES = 2000, SIGNALS = 5, CALLS = 1000, BATCH = 100 };
static const double sigma = 0.3;

static void signal_at(double place, float *x)
{
    for (int j = 0; j < LENGTH; j++) {
        const double far = (j - place) / 8;
        x[j] = (float)(exp(-far * far / 2) * cos(far));
    }
}

/* The examples, which are read several times: the same ones each time. */
static int read_examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        const double share = fmod((double)(first + i) * 0.6180339887498949, 1);
        signal_at(20 + share * (LENGTH - 40), x + i * LENGTH);
    }
    return 0;
}

static float place_of(const float *x)
{
    int largest = 0;
    for (int j = 1; j < LENGTH; j++)
        if (x[j] > x[largest]) largest = j;
    return (float)largest;
}

static int alone(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = place_of(b->x + i * LENGTH);
    return 0;
}

typedef struct denoised { /* what the model behind the filter needs: no call allocates */
    certreg_denoiser *denoiser;
    float clean[BATCH * LENGTH];
} denoised;

static int behind_filter(void *user, const certreg_batch *b)
{
    denoised *d = user;
    if (certreg_denoiser_apply(d->denoiser, b->x, b->rows, d->clean)) return 1;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = place_of(d->clean + i * LENGTH);
    return 0;
}

static certreg_estimator *estimator_of(certreg_eval model, void *user)
{
    const certreg_model m = {.struct_size = sizeof m,
                             .eval = model,
                             .user = user,
                             .inputs = LENGTH,
                             .outputs = 1,
                             .batch = BATCH};
    const certreg_plan p = {
        .struct_size = sizeof p, .audit = CERTREG_AUDIT_DEFAULT, .max_samples = CALLS, .seed = 1};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) puts(why.text);
    return e;
}

static certreg_status radius_at(certreg_estimator *e, const float *z, certreg_certificate *c)
{
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 3};
    const certreg_status status = certreg_estimator_begin(e, z, sigma, 1);
    return status ? status : certreg_certify(e, CALLS, &q, 1, c);
}

static certreg_status compare(certreg_estimator *plain, certreg_estimator *filtered)
{
    certreg_certificate a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    for (int i = 0; i < SIGNALS; i++) {
        float z[LENGTH];
        const double place = 30.3 + 16.7 * i;
        signal_at(place, z);
        certreg_status status = radius_at(plain, z, &a);
        if (!status) status = radius_at(filtered, z, &b);
        if (status) return status;
        printf("echo at %5.1f: predicted %3.0f, radius %.2f; with the filter %3.0f, radius %.2f\n",
               place, a.prediction, a.radius, b.prediction, b.radius);
    }
    return CERTREG_OK;
}

int main(void)
{
    const certreg_denoiser_plan plan = {.struct_size = sizeof plan,
                                        .inputs = LENGTH,
                                        .rows = EXAMPLES,
                                        .read = read_examples,
                                        .sigma = sigma};
    certreg_error why = {.struct_size = sizeof why};
    static denoised d;
    if (certreg_denoiser_create(&plan, &why, &d.denoiser)) return puts(why.text), 1;
    certreg_estimator *plain = estimator_of(alone, NULL),
                      *filtered = estimator_of(behind_filter, &d);
    const certreg_status status = plain && filtered ? compare(plain, filtered)
                                                    : CERTREG_E_NO_MEMORY;
    certreg_estimator_destroy(plain);
    certreg_estimator_destroy(filtered);
    certreg_denoiser_destroy(d.denoiser);
    return status != CERTREG_OK;
}
