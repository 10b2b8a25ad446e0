/* demo: certify a neural network on turned digits.
 *
 * The network (examples/models) reads the angle by which a handwritten digit was turned. For every image and every sigma it is called
 * on noisy copies once, and nine certificates are asked of that one record: within which distance, in the 2-norm of the pixels, does
 * the smoothed angle stay within 10 degrees? Only <certreg/certreg.h> is used. Settings come from the environment:
 *   CERTREG_MNIST  folder of the MNIST files (default: digits drawn by the demo)
 *   CERTREG_ORT    libonnxruntime.so (default: looked for, see ort.h; where there is none, the built-in engine runs)
 *   DEMO_MODEL     the network (examples/models/rotation.onnx)       DEMO_OUT      folder of the results (lib/demo)
 *   DEMO_IMAGES    how many images (100)                             DEMO_N        samples of each image and sigma (10000)
 *   DEMO_SIGMA     list (0.06,0.12,0.25,0.35,0.5,0.75)               DEMO_THREADS  of the network (1)
 *   DEMO_ENGINE    ort or plain (default: ort if it is found)
 * Writes certificates.csv, calls.csv and radii.png into DEMO_OUT, tables to the screen, progress to the error stream. */
#include <certreg/certreg.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../engines/ort.h"
#include "../engines/plain.h"
#include "asks.h"
#include "images.h"
#include "plot.h"
#include "results.h"

enum { SEED = 42, BATCH = 256, SMALL_BATCH = 64, COLUMNS = 2 };
static const double tolerance = 10.0, alpha = 0.1;
static const double calls_sigma = 0.35;
static const size_t calls_tried[] = {16, 32, 64, 100, 200, 500, 1000};
enum { CALLS_TRIED = sizeof calls_tried / sizeof *calls_tried };

struct settings {
    const char *mnist, *model, *folder, *engine;
    size_t images, samples;
    int threads;
    size_t sigmas;
    double sigma[MOST_SIGMAS];
};

struct demo {
    struct settings set;
    struct images images;
    struct engine engine;
    struct results results;
    char why[ENGINE_WHY];
    double began;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *text(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

static int whole(const char *name, const char *otherwise, size_t least, size_t most, size_t *out)
{
    char *end;
    const char *value = text(name, otherwise);
    const unsigned long long v = strtoull(value, &end, 10);
    *out = (size_t)v;
    if (*end == '\0' && value[0] != '-' && v >= least && v <= most)
        return 0;
    fprintf(stderr, "%s must be a whole number from %zu to %zu, not \"%s\"\n", name, least, most, value);
    return 1;
}

static int read_sigmas(struct settings *s)
{
    const char *at = text("DEMO_SIGMA", "0.06,0.12,0.25,0.35,0.5,0.75");
    for (char *end; s->sigmas < MOST_SIGMAS; at = end + 1) {
        s->sigma[s->sigmas] = strtod(at, &end);
        if (end == at || !(s->sigma[s->sigmas++] > 0.0) || (*end != ',' && *end != '\0'))
            break;
        if (*end == '\0')
            return 0;
    }
    fprintf(stderr, "DEMO_SIGMA must be a list of at most %d positive numbers, with commas between\n", MOST_SIGMAS);
    return 1;
}

static int read_settings(struct settings *s)
{
    size_t threads = 1;
    s->mnist = text("CERTREG_MNIST", NULL);
    s->model = text("DEMO_MODEL", "examples/models/rotation.onnx");
    s->folder = text("DEMO_OUT", "lib/demo");
    s->engine = text("DEMO_ENGINE", "");
    if (whole("DEMO_IMAGES", "100", 1, 5000, &s->images) || whole("DEMO_N", "10000", 80, 10000000, &s->samples) ||
        whole("DEMO_THREADS", "1", 1, 256, &threads))
        return 1;
    s->threads = (int)threads;
    return read_sigmas(s);
}

static int open_engine(struct demo *d)
{
    const struct settings *s = &d->set;
    char plain_why[ENGINE_WHY];
    if (strcmp(s->engine, "plain") != 0) {
        if (engine_open_ort(s->model, DIGITS_PIXELS, COLUMNS, s->threads, &d->engine, d->why) == 0)
            return 0;
        fprintf(stderr, "%s\n", d->why);
        if (strcmp(s->engine, "ort") == 0)
            return 1;
        fprintf(stderr, "the built-in engine runs instead; it takes about three times as long\n");
    }
    if (engine_open_plain(s->model, DIGITS_PIXELS, COLUMNS, s->threads, &d->engine, plain_why) == 0)
        return 0;
    fprintf(stderr, "%s\n", plain_why);
    return 1;
}

/* The library's callback: (cos, sin) go straight into y. */
static int eval(void *user, const certreg_batch *b)
{
    const struct engine *e = user;
    return e->run(e->self, b->x, b->y, b->rows);
}

struct handles { /* all that certifying one input after another takes */
    certreg_estimator *estimator;
    certreg_solver *solver;
    certreg_bisection *bisection;
};

static void close_handles(struct handles *h)
{
    certreg_bisection_destroy(h->bisection);
    certreg_solver_destroy(h->solver);
    certreg_estimator_destroy(h->estimator);
}

static int open_handles(struct demo *d, size_t samples, size_t batch, struct handles *h)
{
    const int32_t kind = CERTREG_ANGLE_PAIR;
    const double lo = -180.0, hi = 180.0;
    const certreg_model model = {.struct_size = sizeof model, .eval = eval, .user = &d->engine, .inputs = DIGITS_PIXELS,
                                 .outputs = 1, .batch = batch, .kind = &kind, .lo = &lo, .hi = &hi};
    const certreg_plan plan = {.struct_size = sizeof plan, .seed = SEED, .capacity = samples};
    certreg_error why = {.struct_size = sizeof why};
    *h = (struct handles){0};
    if (certreg_estimator_create(NULL, &model, &plan, &why, &h->estimator) == CERTREG_OK &&
        certreg_solver_create(NULL, 0, &h->solver) == CERTREG_OK &&
        certreg_bisection_create(h->solver, NULL, 0, &h->bisection) == CERTREG_OK)
        return 0;
    fprintf(stderr, "the library could not start: %s\n", why.text);
    close_handles(h);
    return 1;
}

static int complain(const struct demo *d, const struct handles *h, certreg_status s)
{
    if (s == CERTREG_OK)
        return 0;
    fprintf(stderr, "\n%s: %s\n", certreg_status_text(s), certreg_estimator_error(h->estimator)->text);
    if (s == CERTREG_MODEL_FAILED)
        fprintf(stderr, "%s\n", d->why);
    return 1;
}

/* Starts a record of one image. The stream names its noise: never the same for two records. */
static int begin(const struct demo *d, const struct handles *h, size_t image, double sigma, uint64_t stream)
{
    return complain(d, h, certreg_estimator_begin(h->estimator, d->images.pixels + image * DIGITS_PIXELS, sigma, stream));
}

/* Samples what is missing of it, and answers. */
static int ask(const struct demo *d, const struct handles *h, size_t samples, const certreg_question *question, size_t count,
               certreg_certificate *out)
{
    return complain(d, h, certreg_certify(h->estimator, h->bisection, samples, question, count, out));
}

static void show_progress(const struct demo *d, size_t done, size_t total)
{
    const double spent = seconds() - d->began;
    fprintf(stderr, "\r%zu of %zu records, %.0f s, about %.0f s to go   ", done, total, spent, spent / (double)done * (double)(total - done));
    if (done == total)
        fprintf(stderr, "\n");
}

static FILE *open_file(const struct demo *d, const char *name, char *path, size_t room)
{
    FILE *f = NULL;
    if (snprintf(path, room, "%s/%s", d->set.folder, name) < (int)room)
        f = fopen(path, "w");
    if (f == NULL)
        fprintf(stderr, "%s/%s: %s\n", d->set.folder, name, strerror(errno));
    return f;
}

/* Every image at every sigma. */
static int certify_all(struct demo *d, const struct handles *h, FILE *rows)
{
    certreg_question question[ASKS];
    certreg_certificate answer[ASKS], alone;
    const size_t count = d->images.count, total = count * d->set.sigmas;
    for (size_t k = 0; k < ASKS; k++)
        question[k] = ask_question(&asks[k], tolerance, alpha);
    results_heading(rows);
    for (size_t at = 0; at < total; at++) {
        const size_t sigma = at / count, image = at % count;
        memset(answer, 0, sizeof answer);
        answer[0].struct_size = sizeof *answer;
        alone = answer[0];
        /* First the median alone, to see what it costs the library; then all, of the same record: the model is not called again. */
        if (begin(d, h, image, d->set.sigma[sigma], at) || ask(d, h, d->set.samples, &question[ASK_MEDIAN], 1, &alone) ||
            ask(d, h, 0, question, ASKS, answer))
            return 1;
        results_add(&d->results, sigma, image, answer, alone.library_seconds, rows);
        show_progress(d, at + 1, total);
    }
    return 0;
}

/* Mean radius of the exact median from small records of their own. */
static int median_from(struct demo *d, size_t samples, uint64_t stream, double *mean)
{
    struct handles h;
    const certreg_question question = ask_question(&asks[ASK_MEDIAN], tolerance, alpha);
    double sum = 0.0;
    int bad = open_handles(d, samples, samples < SMALL_BATCH ? samples : SMALL_BATCH, &h);
    if (bad)
        return 1;
    for (size_t i = 0; i < d->images.count && !bad; i++) {
        certreg_certificate answer = {.struct_size = sizeof answer};
        bad = begin(d, &h, i, calls_sigma, stream + i) || ask(d, &h, samples, &question, 1, &answer);
        sum += answer.radius;
    }
    close_handles(&h);
    *mean = sum / (double)d->images.count;
    return bad;
}

/* How few calls does the median need for what the paper's procedure gets out of all samples? */
static int count_calls(struct demo *d, FILE *rows)
{
    const double paper = results_paper_best(&d->results);
    uint64_t stream = d->images.count * d->set.sigmas;
    size_t enough = 0;
    printf("\nthe exact median from few calls, sigma %g (the paper's best, from %zu calls: %.3f)\n   calls  radius   ratio\n", calls_sigma,
           d->set.samples, paper);
    fprintf(rows, "calls,sigma,mean_radius,paper_best\n");
    for (size_t k = 0; k < CALLS_TRIED; k++) {
        double mean;
        if (median_from(d, calls_tried[k], stream, &mean))
            return 1;
        stream += d->images.count;
        printf("%8zu%8.3f%8.2f\n", calls_tried[k], mean, mean / paper);
        fprintf(rows, "%zu,%g,%.6f,%.6f\n", calls_tried[k], calls_sigma, mean, paper);
        if (enough == 0 && mean >= paper)
            enough = calls_tried[k];
    }
    if (enough > 0)
        printf("%zu calls reach the paper's best mean radius: %.0f times fewer\n", enough, (double)d->set.samples / (double)enough);
    return 0;
}

static int draw(const struct demo *d)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/radii.png", d->set.folder) < (int)sizeof path && plot_radii(&d->results, path) == 0)
        return 0;
    fprintf(stderr, "%s/radii.png could not be written\n", d->set.folder);
    return 1;
}

static int run(struct demo *d)
{
    char path[4096];
    struct handles h;
    FILE *rows = open_file(d, "certificates.csv", path, sizeof path);
    if (rows == NULL)
        return 1;
    int bad = open_handles(d, d->set.samples, BATCH, &h);
    if (!bad) {
        bad = certify_all(d, &h, rows);
        close_handles(&h);
    }
    if (fclose(rows) != 0 || bad)
        return 1;
    results_print(&d->results, stdout);
    if ((rows = open_file(d, "calls.csv", path, sizeof path)) == NULL)
        return 1;
    bad = count_calls(d, rows);
    if (fclose(rows) != 0 || bad || draw(d))
        return 1;
    printf("\n%.0f s in all; written to %s: certificates.csv, calls.csv, radii.png\n", seconds() - d->began, d->set.folder);
    return 0;
}

/* Makes the folder and those above it. */
static void make_folder(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return;
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
    if (read_settings(&d.set))
        return 2;
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
    printf("%zu %s, each turned by an angle of its own; %zu samples, tolerance %g degrees, alpha %g\nnetwork: %s, run by %s\n", d.images.count,
           d.images.source, d.set.samples, tolerance, alpha, d.set.model, d.engine.name);
    int bad = results_open(&d.results, &d.images, d.set.sigma, d.set.sigmas);
    if (bad)
        fprintf(stderr, "no memory for the results\n");
    bad = bad || run(&d);
    results_close(&d.results);
    d.engine.close(d.engine.self);
    images_close(&d.images);
    return bad;
}
