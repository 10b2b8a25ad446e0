/* The estimator of the demo. */
#include <certreg/certreg.h>
#include <stdio.h>

#include "demo.h"

enum { SEED = 42 }; /* fixed, so that the demo can be repeated */

/* The library's callback: the network writes (cos, sin) straight into y. */
static int eval(void *user, const certreg_batch *b)
{
    const struct engine *e = user;
    return e->run(e->self, b->x, b->y, b->rows);
}

int demo_open(struct demo *d, size_t samples, size_t pilot, size_t batch, certreg_estimator **e)
{
    const int32_t kind = CERTREG_OUTPUT_ANGLE_PAIR;
    const double lo = -180.0, hi = 180.0;
    const certreg_model model = {.struct_size = sizeof model,
                                 .eval = eval,
                                 .user = &d->engine,
                                 .inputs = DIGITS_PIXELS,
                                 .outputs = 1,
                                 .batch = batch,
                                 .kind = &kind,
                                 .lo = &lo,
                                 .hi = &hi};
    const certreg_plan plan = {.struct_size = sizeof plan,
                               .constraints = CERTREG_CONSTRAINTS_ECGM,
                               .seed = SEED,
                               .max_samples = samples,
                               .pilot = pilot};
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_estimator_create(NULL, &model, &plan, &why, e) == CERTREG_OK) return 0;
    fprintf(stderr, "the library could not start: %s\n", why.text);
    return 1;
}

static int report(const struct demo *d, const certreg_estimator *e, certreg_status s)
{
    if (s == CERTREG_OK) return 0;
    fprintf(stderr, "\n%s: %s\n", certreg_status_text(s), certreg_estimator_error(e)->text);
    if (s == CERTREG_E_MODEL_FAILED) fprintf(stderr, "%s\n", d->why);
    return 1;
}

int demo_begin(const struct demo *d, certreg_estimator *e, size_t image, double sigma,
               uint64_t noise_id)
{
    return report(
        d, e,
        certreg_estimator_begin(e, d->images.pixels + image * DIGITS_PIXELS, sigma, noise_id));
}

int demo_output_bounds(const struct demo *d, certreg_estimator *e, const certreg_question *question,
                       const double *radius, size_t count, certreg_certificate *out)
{
    int bad = 0;
    for (size_t k = 0; k < count && !bad; k++) {
        out[k].struct_size = sizeof *out;
        bad = report(d, e, certreg_output_bounds(e, 0, question + k, 1, radius[k], out + k));
    }
    return bad;
}

int demo_certify(const struct demo *d, certreg_estimator *e, size_t samples,
                 const certreg_question *question, size_t count, certreg_certificate *out)
{
    return report(d, e, certreg_certify(e, samples, question, count, out));
}
