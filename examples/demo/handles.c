#include <certreg/certreg.h>
#include <stdio.h>

#include "demo.h"

enum { SEED = 42 };

/* The library's callback: (cos, sin) go straight into y. */
static int eval(void *user, const certreg_batch *b)
{
    const struct engine *e = user;
    return e->run(e->self, b->x, b->y, b->rows);
}

void handles_close(struct handles *h)
{

    certreg_estimator_destroy(h->estimator);
}

int handles_open(struct demo *d, size_t samples, size_t pilot, size_t batch, struct handles *h)
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
    *h = (struct handles){0};
    if (certreg_estimator_create(NULL, &model, &plan, &why, &h->estimator) == CERTREG_OK) return 0;
    fprintf(stderr, "the library could not start: %s\n", why.text);
    handles_close(h);
    return 1;
}

static int complain(const struct demo *d, const struct handles *h, certreg_status s)
{
    if (s == CERTREG_OK) return 0;
    fprintf(stderr, "\n%s: %s\n", certreg_status_text(s),
            certreg_estimator_error(h->estimator)->text);
    if (s == CERTREG_E_MODEL_FAILED) fprintf(stderr, "%s\n", d->why);
    return 1;
}

int handles_begin(const struct demo *d, const struct handles *h, size_t image, double sigma,
                  uint64_t stream)
{
    return complain(d, h,
                    certreg_estimator_begin(h->estimator, d->images.pixels + image * DIGITS_PIXELS,
                                            sigma, stream));
}

int handles_reach(const struct demo *d, const struct handles *h, const certreg_question *question,
                  const double *radius, size_t count, certreg_certificate *out)
{
    int bad = 0;
    for (size_t k = 0; k < count && !bad; k++) {
        out[k].struct_size = sizeof *out;
        bad = complain(d, h,
                       certreg_output_bounds(h->estimator, 0, question + k, 1, radius[k], out + k));
    }
    return bad;
}

int handles_ask(const struct demo *d, const struct handles *h, size_t samples,
                const certreg_question *question, size_t count, certreg_certificate *out)
{
    return complain(d, h, certreg_certify(h->estimator, samples, question, count, out));
}
