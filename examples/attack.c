/* How tight is a certificate? It says that no shift shorter than its radius moves the answer out of
 * the tolerance. An attack looks for a short shift that does, and proves it with samples of its
 * own. The truth lies between the two. Prints both ends for three budgets of calls, the shift that
 * was found, and which inputs the answer depends on most. */
#define CERTREG_EXPERIMENTAL 1 /* see "stability" in certreg.h */
#include <certreg/attack.h>
#include <stdio.h>

enum { INPUTS = 4, SAMPLES = 10000, CALLS = 20000 };
static const char *const names[INPUTS] = {"living area", "age", "distance to town", "garden"};
static const float house[INPUTS] = {120, 12, 6, 1},
                   scale[INPUTS] = {8, 5, 2, 0}; /* the garden is known exactly */

/* Thousands for a house; the price falls faster near the town. */
static int price(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * INPUTS;
        b->y[i] = 3.2f * x[0] / (1 + 0.05f * x[2] * x[2]) - 1.5f * x[1] + 25 * x[3];
    }
    return 0;
}

static int say(certreg_status status, const char *text)
{
    return printf("%s: %s\n", certreg_status_text(status), text), 1;
}

static int attack(certreg_attack *a, const certreg_question *q, double certified)
{
    float shift[INPUTS];
    double slope[INPUTS];
    certreg_attack_result r = {.struct_size = sizeof r};
    for (size_t calls = 200; calls <= CALLS; calls *= 10) {
        const certreg_attack_options o = {.struct_size = sizeof o, .calls = calls};
        const certreg_status status = certreg_attack_run(a, q, &o, shift, &r);
        if (status) return say(status, certreg_attack_error(a)->text);
        printf("certified %.3f, broken at %.3f by %zu calls\n", certified, r.radius, calls);
    }
    printf("forecast without calls: %.3f\n", r.forecast);
    const certreg_status status = certreg_attack_gradient(a, q, CERTREG_SIDE_LOWER, slope);
    if (status) return say(status, certreg_attack_error(a)->text);
    for (int j = 0; j < INPUTS; j++)
        printf("%-16s shift %+6.2f, slope %+6.3f\n", names[j], (double)shift[j], slope[j]);
    return 0;
}

int main(void)
{
    const certreg_model m = {
        .struct_size = sizeof m, .eval = price, .inputs = INPUTS, .outputs = 1, .scale = scale};
    const certreg_plan p = {.struct_size = sizeof p,
                            .audit = CERTREG_AUDIT_DEFAULT,
                            .seed = 42, /* so that the output repeats; a deployment gives none */
                            .max_samples = SAMPLES};
    const certreg_attack_plan at = {.struct_size = sizeof at, .max_calls = CALLS};
    const certreg_question q = {.struct_size = sizeof q, .tolerance = 60};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    certreg_attack *a = NULL;
    int bad = 0;
    if (certreg_estimator_create(NULL, &m, &p, &why, &e) || certreg_attack_create(e, &at, &why, &a))
        bad = say(why.status, why.text);
    else if (certreg_estimator_begin(e, house, 0.5, 0) || certreg_certify(e, SAMPLES, &q, 1, &c))
        bad = say(certreg_estimator_error(e)->status, certreg_estimator_error(e)->text);
    else bad = attack(a, &q, c.radius);
    certreg_attack_destroy(a);
    certreg_estimator_destroy(e);
    return bad;
}
