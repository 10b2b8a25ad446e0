#include "calls.h"

static const double sigma = 0.35;
static const size_t tried[] = {16, 32, 64, 100, 200, 500, 1000};
enum { TRIED = sizeof tried / sizeof *tried, SMALL_BATCH = 64 };
/* Of the target radius. The batch is small because its unused rows count as calls too. */
enum { MOST_CALLS = 400, TARGET_PILOT = 12, TARGET_BATCH = 4 };

/* Mean radius of the finite-sample median from new, small records. */
static int median_from(struct demo *d, size_t samples, uint64_t noise_id, double *mean)
{
    certreg_estimator *e = NULL;
    const certreg_question question =
        question_of(&questions[QUESTION_MEDIAN], demo_tolerance, demo_alpha);
    double sum = 0.0;
    int bad = demo_open(d, samples, 0, samples < SMALL_BATCH ? samples : SMALL_BATCH, &e);
    if (bad) return 1;
    for (size_t i = 0; i < d->images.count && !bad; i++) {
        certreg_certificate answer = {.struct_size = sizeof answer};
        bad = demo_begin(d, e, i, sigma, noise_id + i) ||
              demo_certify(d, e, samples, &question, 1, &answer);
        sum += answer.radius;
    }
    certreg_estimator_destroy(e);
    *mean = sum / (double)d->images.count;
    return bad;
}

int calls_few(struct demo *d, FILE *rows, uint64_t *noise_id)
{
    const double paper = results_paper_best(&d->results);
    size_t enough = 0;
    printf("\nThe finite-sample median from few calls, at sigma %g.\nThe paper's best mean radius, "
           "from "
           "%zu calls, is %.3f.\n   calls  radius   ratio\n",
           sigma, d->set.samples, paper);
    fprintf(rows, "calls,sigma,mean_radius,paper_best\n");
    for (size_t k = 0; k < TRIED; k++) {
        double mean;
        if (median_from(d, tried[k], *noise_id, &mean)) return 1;
        *noise_id += d->images.count;
        printf("%8zu%8.3f%8.2f\n", tried[k], mean, mean / paper);
        fprintf(rows, "%zu,%g,%.6f,%.6f\n", tried[k], sigma, mean, paper);
        if (enough == 0 && mean >= paper) enough = tried[k];
    }
    if (enough > 0)
        printf("%zu calls reach the paper's best mean radius: %.0f times fewer.\n", enough,
               (double)d->set.samples / (double)enough);
    return 0;
}

/* Every image is counted once: as proved, smaller or none. */
struct outcomes {
    size_t proved, smaller, none;
    size_t stopped; /* of the last two: early, when the target was out of reach */
    uint64_t calls;
};

static int try_target(struct demo *d, certreg_estimator *e, double radius, uint64_t noise_id,
                      struct outcomes *o)
{
    certreg_question question =
        question_of(&questions[QUESTION_MEDIAN], demo_tolerance, demo_alpha);
    const certreg_target target = {.struct_size = sizeof target, .radius = radius};
    question.target = &target;
    for (size_t i = 0; i < d->images.count; i++) {
        certreg_certificate c = {.struct_size = sizeof c};
        if (demo_begin(d, e, i, sigma, noise_id + i) ||
            demo_certify(d, e, MOST_CALLS, &question, 1, &c))
            return 1;
        *(c.radius >= radius ? &o->proved : c.radius > 0.0 ? &o->smaller : &o->none) += 1;
        o->stopped += c.radius < radius && c.stop == CERTREG_STOP_HOPELESS;
        o->calls += c.samples;
    }
    return 0;
}

int calls_for_target(struct demo *d, uint64_t *noise_id)
{
    certreg_estimator *e = NULL;
    struct outcomes o = {0};
    const size_t images = d->images.count;
    const double radius = 0.5 * results_mean(&d->results,
                                             results_best_sigma(&d->results, QUESTION_MEDIAN),
                                             QUESTION_MEDIAN);
    if (!(radius > 0.0)) return 0;
    int bad = demo_open(d, MOST_CALLS, TARGET_PILOT, TARGET_BATCH, &e);
    if (bad) return 1;
    bad = try_target(d, e, radius, *noise_id, &o);
    *noise_id += images;
    certreg_estimator_destroy(e);
    if (bad) return 1;
    printf("\nTarget radius %.3f, half of the finite-sample median's best mean, at sigma %g.\n"
           "With at most %d calls per image, %zu of %zu images reach it, %zu a smaller radius, "
           "%zu none;\n%.1f calls on average.\n",
           radius, sigma, MOST_CALLS, o.proved, images, o.smaller, o.none,
           (double)o.calls / (double)images);
    if (o.proved < images)
        printf("Of the %zu that miss it, sampling stopped early for %zu: it was out of reach.\n",
               images - o.proved, o.stopped);
    return 0;
}
