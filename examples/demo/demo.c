/* demo: certifies a neural network on turned digits.
 *
 * The network (examples/models) reads the angle by which a handwritten digit was turned. For every
 * image and every sigma it is called once on noisy copies, and thirteen certificates are computed
 * from these outputs: within which distance, in the 2-norm of the pixels, does the smoothed angle
 * stay within 10 degrees? Then: what is guaranteed about served estimates, how far can the angle
 * move within a given distance, and how few calls would have been enough?
 *
 * Prints tables, and writes certificates.csv, guarantees.csv, calls.csv and radii.png; progress
 * goes to the error stream. Settings are environment variables, with their defaults:
 *
 *   CERTREG_MNIST                  folder of the MNIST files; without it digits are drawn
 *   CERTREG_ORT                    libonnxruntime.so, see ort.h
 *   DEMO_ENGINE                    ort or plain; by default ort if it is found, else plain
 *   DEMO_MODEL=examples/models/rotation.onnx
 *   DEMO_IMAGES=100                number of images
 *   DEMO_N=10000                   samples per image and sigma
 *   DEMO_SIGMA=0.06,0.12,0.25,0.35,0.5,0.75
 *   DEMO_THREADS=1                 threads of the network
 *   DEMO_OUT=lib/demo              folder of the files written */
#include "demo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../engines/ort.h"
#include "../engines/plain.h"
#include "calls.h"
#include "environment.h"
#include "guarantees.h"
#include "plot.h"

enum { BATCH = 256 };
const double demo_tolerance = 10.0, demo_alpha = 0.1;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_settings(struct settings *s)
{
    size_t threads = 1;
    s->mnist = environment_text("CERTREG_MNIST", NULL);
    s->model = environment_text("DEMO_MODEL", "examples/models/rotation.onnx");
    s->folder = environment_text("DEMO_OUT", "lib/demo");
    s->engine = environment_text("DEMO_ENGINE", "");
    if (environment_whole("DEMO_IMAGES", "100", 1, 5000, &s->images) ||
        environment_whole("DEMO_N", "10000", 80, 10000000, &s->samples) ||
        environment_whole("DEMO_THREADS", "1", 1, 256, &threads))
        return 1;
    s->threads = (int)threads;
    return environment_numbers("DEMO_SIGMA", "0.06,0.12,0.25,0.35,0.5,0.75", MOST_SIGMAS, s->sigma,
                               &s->sigmas);
}

static int open_engine(struct demo *d)
{
    const struct settings *s = &d->set;
    char plain_why[ENGINE_WHY];
    if (strcmp(s->engine, "plain") != 0) {
        if (engine_open_ort(s->model, DIGITS_PIXELS, COLUMNS, &d->engine, d->why) == 0) return 0;
        fprintf(stderr, "%s\n", d->why);
        if (strcmp(s->engine, "ort") == 0) return 1;
        fprintf(stderr, "the built-in engine runs instead; it takes about three times as long\n");
    }
    if (engine_open_plain(s->model, DIGITS_PIXELS, COLUMNS, &d->engine, plain_why) == 0) return 0;
    fprintf(stderr, "%s\n", plain_why);
    return 1;
}

static void show_progress(const struct demo *d, size_t done, size_t total)
{
    const double spent = seconds() - d->began;
    fprintf(stderr, "\r%zu of %zu records, %.0f s, about %.0f s to go   ", done, total, spent,
            spent / (double)done * (double)(total - done));
    if (done == total) fprintf(stderr, "\n");
}

static FILE *open_file(const struct demo *d, const char *name, char *path, size_t room)
{
    FILE *f = NULL;
    if (snprintf(path, room, "%s/%s", d->set.folder, name) < (int)room) f = fopen(path, "w");
    if (f == NULL) fprintf(stderr, "%s/%s: %s\n", d->set.folder, name, strerror(errno));
    return f;
}

/* The guarantees of the records so far, and the files of rows. */
struct report {
    struct guarantees guarantees;
    FILE *certificates, *guaranteed;
};

/* One image at one sigma: first the median alone, to time the library, then all certificates from
 * the same record, without another call of the network. */
static int certify(struct demo *d, certreg_estimator *e, size_t sigma, size_t image,
                   struct report *r)
{
    certreg_question question[QUESTIONS], further[GUARANTEES];
    certreg_certificate alone = {.struct_size = sizeof alone}, answer[QUESTIONS] = {alone},
                        others[GUARANTEES] = {alone};
    certreg_run first = {.struct_size = sizeof first}, run = first;
    for (size_t k = 0; k < QUESTIONS; k++)
        question[k] = question_of(&questions[k], demo_tolerance, demo_alpha);
    guarantees_questions(demo_tolerance, demo_alpha, further);
    if (demo_begin(d, e, image, d->set.sigma[sigma], sigma * d->images.count + image) ||
        demo_certify(d, e, d->set.samples, &question[QUESTION_MEDIAN], 1, &alone) ||
        certreg_estimator_run(e, &first) || demo_certify(d, e, 0, question, QUESTIONS, answer) ||
        certreg_estimator_run(e, &run) || demo_certify(d, e, 0, further, SERVED, others) ||
        demo_output_bounds(d, e, further + SERVED, bounds_at, BOUNDED, others + SERVED))
        return 1;
    results_add(&d->results, sigma, image, answer, first.library_seconds, &run, r->certificates);
    guarantees_add(&r->guarantees, sigma, image, others, r->guaranteed);
    return 0;
}

static int certify_all(struct demo *d, certreg_estimator *e, struct report *r)
{
    const size_t count = d->images.count, total = count * d->set.sigmas;
    r->guarantees.sigmas = d->set.sigmas;
    r->guarantees.images = count;
    results_heading(r->certificates);
    guarantees_heading(r->guaranteed);
    for (size_t at = 0; at < total; at++) {
        if (certify(d, e, at / count, at % count, r)) return 1;
        show_progress(d, at + 1, total);
    }
    return 0;
}

static int draw(const struct demo *d)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/radii.png", d->set.folder) < (int)sizeof path &&
        plot_radii(&d->results, path) == 0)
        return 0;
    fprintf(stderr, "%s/radii.png could not be written\n", d->set.folder);
    return 1;
}

/* Certifies every image at every sigma; writes two files and prints the tables. */
static int certify_part(struct demo *d)
{
    char path[4096];
    certreg_estimator *e = NULL;
    struct report r = {.certificates = open_file(d, "certificates.csv", path, sizeof path)};
    int bad = r.certificates == NULL;
    if (!bad) bad = (r.guaranteed = open_file(d, "guarantees.csv", path, sizeof path)) == NULL;
    if (!bad && !(bad = demo_open(d, d->set.samples, 0, BATCH, &e))) {
        bad = certify_all(d, e, &r);
        certreg_estimator_destroy(e);
    }
    if (r.certificates != NULL) bad |= fclose(r.certificates) != 0;
    if (r.guaranteed != NULL) bad |= fclose(r.guaranteed) != 0;
    if (!bad) {
        results_print(&d->results, stdout);
        guarantees_print(&r.guarantees, &d->results, stdout);
    }
    return bad;
}

static int calls_part(struct demo *d)
{
    char path[4096];
    uint64_t noise_id = d->images.count * d->set.sigmas;
    FILE *rows = open_file(d, "calls.csv", path, sizeof path);
    if (rows == NULL) return 1;
    const int bad = calls_few(d, rows, &noise_id) || calls_for_target(d, &noise_id);
    return (fclose(rows) != 0) | bad;
}

static int run(struct demo *d)
{
    if (certify_part(d) || calls_part(d) || draw(d)) return 1;
    printf(
        "\n%.0f s in all; written to %s: certificates.csv, guarantees.csv, calls.csv, radii.png\n",
        seconds() - d->began, d->set.folder);
    return 0;
}

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

int main(void)
{
    static struct demo d;
    if (read_settings(&d.set)) return 2;
    if (images_open(d.set.mnist, d.set.images, &d.images, d.why)) {
        fprintf(stderr, "%s\n", d.why);
        return 1;
    }
    if (open_engine(&d)) {
        images_close(&d.images);
        return 1;
    }
    make_folder(d.set.folder);
    d.began = seconds();
    printf("%zu %s, each turned by its own angle; %zu samples, tolerance %g degrees, alpha "
           "%g\nnetwork: %s, run by %s\n",
           d.images.count, d.images.source, d.set.samples, demo_tolerance, demo_alpha, d.set.model,
           d.engine.name);
    int bad = results_open(&d.results, &d.images, d.set.sigma, d.set.sigmas);
    if (bad) fprintf(stderr, "no memory for the results\n");
    bad = bad || run(&d);
    results_close(&d.results);
    d.engine.close(d.engine.self);
    images_close(&d.images);
    return bad;
}
