/* demo: certifies a neural network on turned digits.
 *
 * The network (examples/models) reads the angle by which a handwritten digit was turned. For every
 * image and every sigma it is called on one set of noisy copies. From these outputs thirteen
 * certificates are computed: radii, in the 2-norm of the pixels, within which the smoothed angle
 * stays within 10 degrees.
 *
 * Prints tables, and writes certificates.csv and radii.svg; progress goes to the error stream.
 * Settings are environment variables, with their defaults:
 *
 *   CERTREG_MNIST                  folder of the MNIST files; without it digits are drawn
 *   CERTREG_ORT                    libonnxruntime.so, see ort_library.c
 *   DEMO_MODEL=examples/models/rotation.onnx
 *   DEMO_IMAGES=20                 number of images; make demo-full takes 100
 *   DEMO_N=4000                    samples per image and sigma; make demo-full takes 10000
 *   DEMO_SIGMA=0.06,0.12,0.25,0.35,0.5,0.75
 *   DEMO_THREADS                   threads; one per core by default. Results do not depend on it
 *   DEMO_OUT=lib/demo              folder of the files written */
#include "demo.h"

#include <certreg/sampling.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "plot.h"
#include "progress.h"
#include "rows.h"
#include "tables.h"

enum { BATCH = 256 };
enum file { FILE_CERTIFICATES, FILE_PLOT, FILES };
static const char *const file_name[FILES] = {"certificates.csv", "radii.svg"};

/* Makes the folder and those above it. */
static void make_folder(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path) return;
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    mkdir(path, 0777);
}

static int close_files(FILE **file)
{
    int bad = 0;
    for (int i = 0; i < FILES; i++) bad |= file[i] != NULL && (ferror(file[i]) | fclose(file[i]));
    return bad;
}

/* Opens all files, before anything is computed. */
static int open_files(const char *folder, FILE **file)
{
    char path[4096];
    make_folder(folder);
    for (int i = 0; i < FILES; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, file_name[i]) < (int)sizeof path)
            file[i] = fopen(path, "w");
        if (file[i] != NULL) continue;
        fprintf(stderr, "DEMO_OUT: %s/%s cannot be written: %s\n", folder, file_name[i],
                strerror(errno));
        return 1;
    }
    return 0;
}

/* Samples a new record and evaluates the median only, to measure the library's time for it. */
static certreg_status certify_median(const struct demo *d, certreg_estimator *e, size_t item,
                                     double *seconds)
{
    const struct settings *set = &d->set;
    const float *z = d->images.pixels + item % set->images * DIGITS_PIXELS;
    const certreg_question median =
        question_of(&questions[QUESTION_MEDIAN], demo_tolerance, demo_alpha);
    certreg_certificate answer = {.struct_size = sizeof answer};
    certreg_run run = {.struct_size = sizeof run};
    certreg_status bad = certreg_estimator_begin(e, z, set->sigma[item / set->images], item);
    if (!bad) bad = certreg_certify(e, set->samples, &median, 1, &answer);
    if (!bad) bad = certreg_estimator_info(e, &run);
    *seconds = run.library_seconds;
    return bad;
}

/* One image at one sigma. All certificates come from one record. */
static certreg_status certify_record(void *user, certreg_estimator *e, size_t item)
{
    const struct demo *d = user;
    struct record *r = &d->results.record[item];
    certreg_question question[QUESTIONS];
    for (size_t k = 0; k < QUESTIONS; k++)
        question[k] = question_of(&questions[k], demo_tolerance, demo_alpha);
    r->certificate[0].struct_size = sizeof r->certificate[0];
    r->run.struct_size = sizeof r->run;
    certreg_status bad = certify_median(d, e, item, &r->median_seconds);
    if (!bad) bad = certreg_certify(e, 0, question, QUESTIONS, r->certificate);
    if (!bad) bad = certreg_estimator_info(e, &r->run);
    return bad;
}

static int certify_all(struct demo *d)
{
    const struct task task = {.what = "records",
                              .items = d->set.images * d->set.sigmas,
                              .samples = d->set.samples,
                              .batch = BATCH,
                              .one = certify_record,
                              .user = d};
    return workers_run(&d->workers, &task);
}

static int run(struct demo *d, FILE **file)
{
    const double began = seconds_now();
    settings_print(&d->set, workers_call_seconds(&d->workers));
    printf("%s, each turned by its own angle; tolerance %g degrees, alpha %g\n"
           "network: %s, run by %s; threads: %zu\n",
           d->images.source, demo_tolerance, demo_alpha, d->set.model, d->workers.engine[0].name,
           d->set.threads);
    if (certify_all(d)) return 1;
    rows_certificates(&d->results, file[FILE_CERTIFICATES]);
    tables_radii(&d->results);
    tables_times(&d->results);
    if (plot_radii(&d->results, file[FILE_PLOT])) return 1;
    printf("\n%.0f s in all; written to %s: certificates.csv, radii.svg\n", seconds_now() - began,
           d->set.folder);
    return 0;
}

static int open_parts(struct demo *d)
{
    char why[IMAGES_WHY];
    if (images_open(d->set.mnist, d->set.images, &d->images, why)) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (results_open(&d->results, &d->set, &d->images)) {
        fprintf(stderr, "no memory for the certificates of %zu images\n", d->set.images);
        return 1;
    }
    return workers_open(&d->workers, d->set.model, d->set.threads);
}

int main(void)
{
    static struct demo d;
    FILE *file[FILES] = {NULL};
    setvbuf(stdout, NULL, _IOLBF, 0); /* a pipe gets each line at once */
    if (settings_read(&d.set)) return 2;
    int bad = open_parts(&d) || open_files(d.set.folder, file) || run(&d, file);
    if (close_files(file) && !bad) {
        fprintf(stderr, "%s: not all could be written\n", d.set.folder);
        bad = 1;
    }
    workers_close(&d.workers);
    results_close(&d.results);
    images_close(&d.images);
    return bad;
}
