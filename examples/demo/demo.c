/* demo: certify a neural network on turned digits.
 *
 * The network (examples/models) reads the angle by which a handwritten digit was turned. For every
 * image and every sigma it is called on noisy copies once, and thirteen certificates are asked of
 * that one record: within which distance, in the 2-norm of the pixels, does the smoothed angle stay
 * within 10 degrees? Then: how far does what is *served* stay there, where can the angle go within
 * a given distance, and how few calls would have done? Only <certreg/certreg.h> is used. Settings
 * come from the environment: CERTREG_MNIST  folder of the MNIST files (default: digits drawn by the
 * demo) CERTREG_ORT    libonnxruntime.so (default: looked for, see ort.h; where there is none, the
 * built-in engine runs) DEMO_MODEL     the network (examples/models/rotation.onnx)       DEMO_OUT
 * folder of the results (lib/demo) DEMO_IMAGES    how many images (100) DEMO_N        samples of
 * each image and sigma (10000) DEMO_SIGMA     list (0.06,0.12,0.25,0.35,0.5,0.75) DEMO_THREADS  of
 * the network (1) DEMO_ENGINE    ort or plain (default: ort if it is found) Writes
 * certificates.csv, promises.csv, calls.csv and radii.png into DEMO_OUT, tables to the screen,
 * progress to the error stream. */
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
#include "plot.h"
#include "promises.h"

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
        if (engine_open_ort(s->model, DIGITS_PIXELS, COLUMNS, s->threads, &d->engine, d->why) == 0)
            return 0;
        fprintf(stderr, "%s\n", d->why);
        if (strcmp(s->engine, "ort") == 0) return 1;
        fprintf(stderr, "the built-in engine runs instead; it takes about three times as long\n");
    }
    if (engine_open_plain(s->model, DIGITS_PIXELS, COLUMNS, s->threads, &d->engine, plain_why) == 0)
        return 0;
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

/* Where what is found goes: kept, and written as rows. */
struct ledger {
    struct promises promises;
    FILE *certificates, *promised;
};

/* One image at one sigma. First the median alone, to see what it costs the library; then all, of
 * the same record: the network is not called again. */
static int certify(struct demo *d, const struct handles *h, size_t sigma, size_t image,
                   struct ledger *l)
{
    certreg_question question[ASKS], further[PROMISES];
    certreg_certificate alone = {.struct_size = sizeof alone}, answer[ASKS] = {alone},
                        promised[PROMISES] = {alone};
    certreg_run first = {.struct_size = sizeof first}, run = first;
    for (size_t k = 0; k < ASKS; k++)
        question[k] = ask_question(&asks[k], demo_tolerance, demo_alpha);
    promises_questions(demo_tolerance, demo_alpha, further);
    if (handles_begin(d, h, image, d->set.sigma[sigma], sigma * d->images.count + image) ||
        handles_ask(d, h, d->set.samples, &question[ASK_MEDIAN], 1, &alone) ||
        certreg_estimator_run(h->estimator, &first) ||
        handles_ask(d, h, 0, question, ASKS, answer) || certreg_estimator_run(h->estimator, &run) ||
        handles_ask(d, h, 0, further, SERVED, promised) ||
        handles_reach(d, h, further + SERVED, promises_at, REACHES, promised + SERVED))
        return 1;
    results_add(&d->results, sigma, image, answer, first.library_seconds, &run, l->certificates);
    promises_add(&l->promises, sigma, image, promised, l->promised);
    return 0;
}

static int certify_all(struct demo *d, const struct handles *h, struct ledger *l)
{
    const size_t count = d->images.count, total = count * d->set.sigmas;
    l->promises.sigmas = d->set.sigmas;
    l->promises.images = count;
    results_heading(l->certificates);
    promises_heading(l->promised);
    for (size_t at = 0; at < total; at++) {
        if (certify(d, h, at / count, at % count, l)) return 1;
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

/* Every image at every sigma, into two files and onto the screen. */
static int main_part(struct demo *d)
{
    char path[4096];
    struct handles h;
    struct ledger l = {.certificates = open_file(d, "certificates.csv", path, sizeof path)};
    int bad = l.certificates == NULL;
    if (!bad) bad = (l.promised = open_file(d, "promises.csv", path, sizeof path)) == NULL;
    if (!bad && !(bad = handles_open(d, d->set.samples, 0, BATCH, &h))) {
        bad = certify_all(d, &h, &l);
        handles_close(&h);
    }
    if (l.certificates != NULL) bad |= fclose(l.certificates) != 0;
    if (l.promised != NULL) bad |= fclose(l.promised) != 0;
    if (!bad) {
        results_print(&d->results, stdout);
        promises_print(&l.promises, &d->results, stdout);
    }
    return bad;
}

static int calls_part(struct demo *d)
{
    char path[4096];
    uint64_t stream = d->images.count * d->set.sigmas;
    FILE *rows = open_file(d, "calls.csv", path, sizeof path);
    if (rows == NULL) return 1;
    const int bad = calls_few(d, rows, &stream) || calls_wanted(d, &stream);
    return (fclose(rows) != 0) | bad;
}

static int run(struct demo *d)
{
    if (main_part(d) || calls_part(d) || draw(d)) return 1;
    printf("\n%.0f s in all; written to %s: certificates.csv, promises.csv, calls.csv, radii.png\n",
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
    printf("%zu %s, each turned by an angle of its own; %zu samples, tolerance %g degrees, alpha "
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
