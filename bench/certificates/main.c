/* bench_certificates: compares the certificates with their targets, on turned digits and the demo's
 * network, with tolerance 10 degrees and alpha 0.1. Run it from the repository root.
 *
 * Prints a table, and writes bench_certificates.csv (the table), bench_radii.csv (every radius) and
 * bench_bracket.csv. Settings are environment variables, with their defaults:
 *
 *   CERTREG_MNIST                  folder of the MNIST files; without it digits are drawn, for
 *                                  which the targets are not meant
 *   CERTREG_ORT                    libonnxruntime.so, see ort_library.c
 *   BENCH_MODEL=examples/models/rotation.onnx
 *   BENCH_ROWS=1234567             digits of the rows to compute
 *   BENCH_IMAGES=100               number of images
 *   BENCH_N=10000                  samples per image and sigma
 *   BENCH_SIGMA=0.06,0.12,0.25,0.35,0.5,0.75
 *   BENCH_LIMIT_N=40000            samples of the large records of row 5
 *   BENCH_ATTACK_IMAGES=50         number of images that row 7 attacks
 *   BENCH_ATTACK_SIGMA=0.5
 *   BENCH_CACHE                    folder that keeps records between runs; none by default
 *   BENCH_OUT=lib                  folder of the files written */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rows.h"

static void print_means(const struct radii *s, const char *what,
                        double mean(const struct radii *, size_t, size_t))
{
    const struct settings *set = &s->context->set;
    printf("\n%-24ssigma", what);
    for (size_t k = 0; k < set->sigmas; k++) printf("%8g", set->sigma[k]);
    printf("    best");
    for (size_t c = 0; c < COLUMNS; c++) {
        double best = 0.0;
        printf("\n%-29s", column_name[c]);
        for (size_t k = 0; k < set->sigmas && s->refused[c] == 0; k++) {
            printf("%8.3f", mean(s, k, c));
            best = fmax(best, mean(s, k, c));
        }
        if (s->refused[c] > 0) printf("not available");
        else printf("%8.3f", best);
    }
    printf("\n");
}

/* A radius alone, and only where the prediction is right to the tolerance. */
static void print_radii(const struct radii *s)
{
    print_means(s, "mean radius", radii_mean);
    print_means(s, "mean useful radius", radii_useful);
    fflush(stdout);
}

static int fill_table(const struct radii *s, struct context *context, struct table *t)
{
    const struct settings *set = &context->set;
    if (s->radius != NULL) rows_compare(s, t);
    return (settings_has_row(set, '4') && rows_calls(s, context, t)) ||
           (settings_has_row(set, '5') && rows_limit(s, context, t)) ||
           (settings_has_row(set, '6') && rows_prove(s, context, t)) ||
           (settings_has_row(set, '7') && rows_bracket(context, t));
}

static int write_files(const struct radii *s, const struct table *t, int with_radii)
{
    char table[4096], every[4096];
    if (snprintf(table, sizeof table, "%s/bench_certificates.csv", s->context->set.out) >=
            (int)sizeof table ||
        snprintf(every, sizeof every, "%s/bench_radii.csv", s->context->set.out) >=
            (int)sizeof every)
        return 1;
    if (table_write(t, table) || (with_radii && radii_write(s, every))) return 1;
    printf("written: %s%s%s\n", table, with_radii ? ", " : "", with_radii ? every : "");
    return 0;
}

int main(void)
{
    static struct context context;
    static struct table table;
    struct radii radii = {0};
    if (settings_read(&context.set)) return 2;
    if (context_open(&context)) return 1;
    if (context.set.cache != NULL) mkdir(context.set.cache, 0777);
    printf("%zu %s, tolerance %g degrees, alpha %g, %zu samples\nnetwork: %s, run by %s; OpenBLAS "
           "core: %s\n",
           context.images.count, context.images.source, bench_tolerance, bench_alpha,
           context.set.samples, context.set.model, context.engine.name, openblas_get_corename());
    radii.context = &context;
    /* An attack makes its own records. */
    const int with_radii = strcspn(context.set.rows, "123456") < strlen(context.set.rows);
    int bad = with_radii && radii_run(&radii, &context);
    if (!bad) {
        if (with_radii) print_radii(&radii);
        bad = fill_table(&radii, &context, &table);
        table_print(&table, stdout);
        printf("\n%zu calls of the network, %.0f s in all; ", context.calls,
               seconds_now() - context.began);
        bad |= write_files(&radii, &table, with_radii);
    }
    radii_close(&radii);
    context_close(&context);
    return bad;
}
