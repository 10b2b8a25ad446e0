/* One radius for an input and for everything that may be different about it: a house with another
 * kind of heating, or with a thermometer that has failed. A queue gives every alternative a record
 * of its own, and certifies the least of their radii around all of them, at the alpha of one
 * certificate (theory 1.11). Prints the estimate of each alternative, the one that limits the
 * radius, and the radius. */
#define CERTREG_EXPERIMENTAL 1 /* see "stability" in certreg.h */
#include <certreg/queue.h>
#include <math.h>
#include <stdio.h>

enum { AREA, AGE, INSIDE, HEATING, FEATURES, ALTERNATIVES = 3, SAMPLES = 1000 };
static const float scale[FEATURES] = {10, 5, 1, 0}; /* the kind of heating is exact */
static const float house[FEATURES] = {120, 30, 21, 1};
static const float changed[ALTERNATIVES][FEATURES] = {
    {120, 30, 21, 0}, {120, 30, 21, 2}, {120, 30, 0, 1}};
static const char *const names[] = {"as it is", "heating 0", "heating 2", "no thermometer"};

/* ---- the stand-in: the energy that a house takes */
static int model(void *user, const certreg_batch *b)
{
    static const float of_kind[] = {9, 10, 12};
    (void)user;
    for (size_t i = 0; i < b->used_count; i++) {
        const float *x = b->x + i * FEATURES, kind = of_kind[(int)x[HEATING]];
        b->y[i] = kind + 0.05f * x[AREA] + 0.03f * x[AGE] + 0.4f * tanhf(x[INSIDE] - 20);
    }
    return 0;
}

int main(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .inputs = FEATURES, .outputs = 1, .scale = scale};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES};
    const certreg_queue_plan qp = {
        .struct_size = sizeof qp, .capacity = 4, .sets = 1, .alternatives = ALTERNATIVES};
    const certreg_question ask = {.struct_size = sizeof ask, .tolerance = 3};
    const certreg_alternatives set = {
        .struct_size = sizeof set, .count = ALTERNATIVES, .z = changed[0], .first_noise_id = 1};
    const certreg_queue_input input = {.struct_size = sizeof input,
                                       .z = house,
                                       .sigma = 1,
                                       .noise_id = 0, /* the set takes the ids 2 to 4 */
                                       .questions = &ask,
                                       .count = 1,
                                       .alternatives = &set};
    certreg_error why = {.struct_size = sizeof why};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_alternative_result each[ALTERNATIVES + 1] = {{.struct_size = sizeof *each}};
    uint32_t limiting = 0;
    certreg_queue_result r = {.struct_size = sizeof r,
                              .error = &why,
                              .room = 1,
                              .certificates = &c,
                              .limiting = &limiting,
                              .alternative_room = ALTERNATIVES + 1,
                              .alternatives = each};
    certreg_queue *q = NULL;
    if (certreg_queue_create(NULL, &m, &p, &qp, &why, &q)) return puts(why.text), 1;
    if (certreg_queue_add(q, &input, NULL) || certreg_queue_run(q) || certreg_queue_take(q, &r))
        return puts(certreg_queue_error(q)->text), 1;
    if (r.status) return puts(why.text), 1;
    for (int a = 0; a <= ALTERNATIVES; a++) printf("%-14s %.2f\n", names[a], each[a].estimate);
    printf("within 3 of %.2f for all of them, and every shift below %.3f, which \"%s\" limits\n",
           c.prediction, c.radius, names[limiting]);
    certreg_queue_destroy(q);
    return 0;
}
