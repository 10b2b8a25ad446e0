/* bench_certificates: targets of the certificates, and what was reached, on turned digits and the
 * demo's network; tolerance 10 degrees, alpha 0.1. Prints a table, and writes
 * bench_certificates.csv (the table), bench_radii.csv (every radius) and bench_attack.csv. Run from
 * the repository root. Settings come from the environment: CERTREG_MNIST  folder of the MNIST files
 * (default: drawn digits, for which the targets are not meant) CERTREG_ORT    libonnxruntime.so,
 * see ort.h                 BENCH_MODEL         the network (examples/models/rotation.onnx)
 *   BENCH_IMAGES   how many images (100)                        BENCH_N             samples of each
 * image and sigma (10000) BENCH_SIGMA    list (0.06,0.12,0.25,0.35,0.5,0.75)          BENCH_LIMIT_N
 * samples of the large records of row 5 (40000) BENCH_ROWS     digits of the rows wanted (12345678)
 * BENCH_CACHE         folder that keeps records between runs (default: none) BENCH_ATTACK_IMAGES
 * (50)   BENCH_ATTACK_SIGMA (0.5)         BENCH_OUT           folder of the files (lib) */
#include <cblas.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rows.h"

static void print_radii(const struct study *s)
{
    printf("\nmean radius %-18s", "sigma");
    for (size_t k = 0; k < s->lab->set.sigmas; k++) printf("%8g", s->lab->set.sigma[k]);
    for (size_t c = 0; c < COLUMNS; c++) {
        printf("\n%-30s", study_name[c]);
        for (size_t k = 0; k < s->lab->set.sigmas && s->refused[c] == 0; k++)
            printf("%8.3f", study_mean(s, k, c));
        printf("%s", s->refused[c] > 0 ? "not available" : "");
    }
    printf("\n");
    fflush(stdout);
}

static int fill(const struct study *s, struct lab *lab, struct table *t)
{
    const struct settings *set = &lab->set;
    if (s->radius != NULL) rows_compare(s, t);
    return (settings_wants(set, '4') && rows_calls(s, lab, t)) ||
           (settings_wants(set, '5') && rows_limit(s, lab, t)) ||
           (settings_wants(set, '7') && rows_prove(s, lab, t)) ||
           (settings_wants(set, '8') && rows_attack(lab, t));
}

static int write_files(const struct study *s, const struct table *t, int studied)
{
    char table[4096], radii[4096];
    if (snprintf(table, sizeof table, "%s/bench_certificates.csv", s->lab->set.out) >=
            (int)sizeof table ||
        snprintf(radii, sizeof radii, "%s/bench_radii.csv", s->lab->set.out) >= (int)sizeof radii)
        return 1;
    if (table_write(t, table) || (studied && study_write(s, radii))) return 1;
    printf("written: %s%s%s\n", table, studied ? ", " : "", studied ? radii : "");
    return 0;
}

int main(void)
{
    static struct lab lab;
    static struct table table;
    struct study study = {0};
    if (settings_read(&lab.set)) return 2;
    if (lab_open(&lab)) return 1;
    if (lab.set.cache != NULL) mkdir(lab.set.cache, 0777);
    printf("%zu %s, tolerance %g degrees, alpha %g, %zu samples\nnetwork: %s, run by %s; OpenBLAS "
           "core: %s\n",
           lab.images.count, lab.images.source, lab_tolerance, lab_alpha, lab.set.samples,
           lab.set.model, lab.engine.name, openblas_get_corename());
    study.lab = &lab;
    const int studied = strcspn(lab.set.rows, "1234567") < strlen(lab.set.rows); /* an attack makes
                                                                                    its own records
                                                                                  */
    int bad = studied && study_run(&study, &lab);
    if (!bad) {
        if (studied) print_radii(&study);
        bad = fill(&study, &lab, &table);
        table_print(&table, stdout);
        printf("\n%zu calls of the network, %.0f s in all; ", lab.calls, lab_seconds() - lab.began);
        bad |= write_files(&study, &table, studied);
    }
    study_close(&study);
    lab_close(&lab);
    return bad;
}
