#include "guarantees.h"

#include <math.h>

/* Odd numbers: the median is one of the calls. */
static const double failure_rate = 0.01;
static const certreg_serving serving[SERVED] = {
    {.struct_size = sizeof *serving, .samples = 1001, .failure_rate = failure_rate},
    {.struct_size = sizeof *serving, .samples = 101, .failure_rate = failure_rate}};
const double bounds_at[BOUNDED] = {0.25, 0.5};

void guarantees_questions(double tolerance, double alpha, certreg_question *out)
{
    const certreg_question median = question_of(&questions[QUESTION_MEDIAN], tolerance, alpha);
    for (size_t k = 0; k < GUARANTEES; k++) {
        out[k] = median;
        if (k < SERVED) out[k].serving = serving + k;
        else out[k].tolerance = 0.0; /* half a turn */
    }
}

void guarantees_heading(FILE *rows)
{
    fprintf(rows,
            "image,sigma,center,served_samples,at_radius,radius,prediction,output_lo,output_hi\n");
}

void guarantees_add(struct guarantees *g, size_t sigma, size_t image, const certreg_certificate *c,
                    FILE *rows)
{
    for (size_t k = 0; k < GUARANTEES; k++) {
        const double width = c[k].output_hi - c[k].output_lo;
        fprintf(rows, "%zu,%g,%s,%zu,%g,%.6f,%.3f,%.3f,%.3f\n", image, c[k].sigma,
                k < SERVED ? "served" : "bounds", k < SERVED ? serving[k].samples : (size_t)0,
                k < SERVED ? 0 : bounds_at[k - SERVED], c[k].radius, c[k].prediction,
                c[k].output_lo, c[k].output_hi);
        if (k < SERVED) {
            g->radius[sigma][k] += c[k].radius;
        } else if (isfinite(width)) {
            g->width[sigma][k - SERVED] += 0.5 * width;
            g->known[sigma][k - SERVED]++;
        }
    }
}

void guarantees_print(const struct guarantees *g, const struct results *r, FILE *out)
{
    fprintf(
        out,
        "\nThe finite-sample median: mean radius of the smoothed angle itself, and of the median "
        "of %zu or %zu\n"
        "fresh calls, which may leave the tolerance once in %.0f requests. Then how far the angle "
        "can move\n"
        "within a given distance: degrees either way, mean over the images that have output "
        "bounds.\n",
        serving[0].samples, serving[1].samples, 1.0 / failure_rate);
    fprintf(out, "%-8s%8s", "sigma", "itself");
    for (size_t k = 0; k < SERVED; k++) fprintf(out, "  of %4zu", serving[k].samples);
    for (size_t k = 0; k < BOUNDED; k++) fprintf(out, "%12s %-4g     ", "within", bounds_at[k]);
    fprintf(out, "\n");
    for (size_t s = 0; s < g->sigmas; s++) {
        fprintf(out, "%-8g%8.3f", r->sigma[s], results_mean(r, s, QUESTION_MEDIAN));
        for (size_t k = 0; k < SERVED; k++)
            fprintf(out, "%8.3f", g->radius[s][k] / (double)g->images);
        for (size_t k = 0; k < BOUNDED; k++) {
            if (g->known[s][k] > 0)
                fprintf(out, "%9.1f (%3zu of %3zu)", g->width[s][k] / (double)g->known[s][k],
                        g->known[s][k], g->images);
            else fprintf(out, "%9s (none)      ", "-");
        }
        fprintf(out, "\n");
    }
}
