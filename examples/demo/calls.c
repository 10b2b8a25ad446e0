#include "calls.h"

static const double sigma = 0.35;
static const size_t tried[] = {16, 32, 64, 100, 200, 500, 1000};
enum { TRIED = sizeof tried / sizeof *tried, SMALL_BATCH = 64 };
enum {
    DEADLINE = 400,
    DEADLINE_PILOT = 12,
    DEADLINE_BATCH = 4
}; /* few calls: what a batch rounds up is counted too */

/* Mean radius of the exact median from small records of their own. */
static int median_from(struct demo *d, size_t samples, uint64_t stream, double *mean)
{
    struct handles h;
    const certreg_question question = ask_question(&asks[ASK_MEDIAN], demo_tolerance, demo_alpha);
    double sum = 0.0;
    int bad = handles_open(d, samples, 0, samples < SMALL_BATCH ? samples : SMALL_BATCH, &h);
    if (bad) return 1;
    for (size_t i = 0; i < d->images.count && !bad; i++) {
        certreg_certificate answer = {.struct_size = sizeof answer};
        bad = handles_begin(d, &h, i, sigma, stream + i) ||
              handles_ask(d, &h, samples, &question, 1, &answer);
        sum += answer.radius;
    }
    handles_close(&h);
    *mean = sum / (double)d->images.count;
    return bad;
}

int calls_few(struct demo *d, FILE *rows, uint64_t *stream)
{
    const double paper = results_paper_best(&d->results);
    size_t enough = 0;
    printf("\nthe exact median from few calls, sigma %g (the paper's best, from %zu calls: %.3f)\n "
           "  calls  radius   ratio\n",
           sigma, d->set.samples, paper);
    fprintf(rows, "calls,sigma,mean_radius,paper_best\n");
    for (size_t k = 0; k < TRIED; k++) {
        double mean;
        if (median_from(d, tried[k], *stream, &mean)) return 1;
        *stream += d->images.count;
        printf("%8zu%8.3f%8.2f\n", tried[k], mean, mean / paper);
        fprintf(rows, "%zu,%g,%.6f,%.6f\n", tried[k], sigma, mean, paper);
        if (enough == 0 && mean >= paper) enough = tried[k];
    }
    if (enough > 0)
        printf("%zu calls reach the paper's best mean radius: %.0f times fewer\n", enough,
               (double)d->set.samples / (double)enough);
    return 0;
}

struct wanted { /* what became of the images */
    size_t proven, less, hopeless;
    uint64_t calls;
};

static int prove(struct demo *d, const struct handles *h, double radius, uint64_t stream,
                 struct wanted *w)
{
    certreg_question question = ask_question(&asks[ASK_MEDIAN], demo_tolerance, demo_alpha);
    const certreg_target target = {.struct_size = sizeof target, .radius = radius};
    question.target = &target;
    for (size_t i = 0; i < d->images.count; i++) {
        certreg_certificate c = {.struct_size = sizeof c};
        if (handles_begin(d, h, i, sigma, stream + i) ||
            handles_ask(d, h, DEADLINE, &question, 1, &c))
            return 1;
        w->proven += c.radius >= radius;
        w->less += c.radius > 0.0 && c.radius < radius;
        w->hopeless += c.stop == CERTREG_STOP_HOPELESS;
        w->calls += c.samples;
    }
    return 0;
}

int calls_wanted(struct demo *d, uint64_t *stream)
{
    struct handles h;
    struct wanted w = {0};
    const double radius =
        0.5 * results_mean(&d->results, results_best_sigma(&d->results, ASK_MEDIAN), ASK_MEDIAN);
    if (!(radius > 0.0)) return 0;
    int bad = handles_open(d, DEADLINE, DEADLINE_PILOT, DEADLINE_BATCH, &h);
    if (bad) return 1;
    bad = prove(d, &h, radius, *stream, &w);
    *stream += d->images.count;
    handles_close(&h);
    if (!bad)
        printf("\nto prove radius %.3f, half the exact median's best mean, sigma %g, at most %d "
               "calls an image:\n"
               "%zu of %zu images proven, %zu more with a smaller radius, %zu given up before the "
               "last call; %.1f calls on the average\n",
               radius, sigma, DEADLINE, w.proven, d->images.count, w.less, w.hopeless,
               (double)w.calls / (double)d->images.count);
    return bad;
}
