#include "promises.h"

#include <math.h>

/* Odd numbers: a median of them is one of them. */
static const double failure_rate = 0.01;
static const certreg_serving serving[SERVED] = {
    {.struct_size = sizeof *serving, .samples = 1001, .failure_rate = failure_rate},
    {.struct_size = sizeof *serving, .samples = 101, .failure_rate = failure_rate}};
const double promises_at[REACHES] = {0.25, 0.5};

void promises_questions(double tolerance, double alpha, certreg_question *out)
{
    const certreg_question median = ask_question(&asks[ASK_MEDIAN], tolerance, alpha);
    for (size_t k = 0; k < PROMISES; k++) {
        out[k] = median;
        if (k < SERVED) out[k].serving = serving + k;
        else out[k].tolerance = 0.0; /* half a turn */
    }
}

void promises_heading(FILE *rows)
{
    fprintf(rows,
            "image,sigma,center,served_samples,at_radius,radius,prediction,output_lo,output_hi\n");
}

void promises_add(struct promises *p, size_t sigma, size_t image, const certreg_certificate *c,
                  FILE *rows)
{
    for (size_t k = 0; k < PROMISES; k++) {
        const double width = c[k].output_hi - c[k].output_lo;
        fprintf(rows, "%zu,%g,%s,%zu,%g,%.6f,%.3f,%.3f,%.3f\n", image, c[k].sigma,
                k < SERVED ? "served" : "reach", k < SERVED ? serving[k].samples : (size_t)0,
                k < SERVED ? 0 : promises_at[k - SERVED], c[k].radius, c[k].prediction,
                c[k].output_lo, c[k].output_hi);
        if (k < SERVED) {
            p->radius[sigma][k] += c[k].radius;
        } else if (isfinite(width)) {
            p->width[sigma][k - SERVED] += 0.5 * width;
            p->answers[sigma][k - SERVED]++;
        }
    }
}

void promises_print(const struct promises *p, const struct results *r, FILE *out)
{
    fprintf(out,
            "\nthe exact median: mean radius as it is served, from so many fresh calls, which may "
            "leave the tolerance once in %.0f\n"
            "requests; and how far it can be moved within a given distance (degrees either way, "
            "mean over so many images)\n",
            1.0 / failure_rate);
    fprintf(out, "sigma   itself");
    for (size_t k = 0; k < SERVED; k++) fprintf(out, "%8zu", serving[k].samples);
    for (size_t k = 0; k < REACHES; k++)
        fprintf(out, "%*swithin %g", k == 0 ? 4 : 9, "", promises_at[k]);
    fprintf(out, "\n");
    for (size_t s = 0; s < p->sigmas; s++) {
        fprintf(out, "%-6g%8.3f", r->sigma[s], results_mean(r, s, ASK_MEDIAN));
        for (size_t k = 0; k < SERVED; k++)
            fprintf(out, "%8.3f", p->radius[s][k] / (double)p->images);
        for (size_t k = 0; k < REACHES; k++) {
            if (p->answers[s][k] > 0)
                fprintf(out, "%8.1f (%3zu of %zu)", p->width[s][k] / (double)p->answers[s][k],
                        p->answers[s][k], p->images);
            else fprintf(out, "%8s (none)     ", "-");
        }
        fprintf(out, "\n");
    }
}
