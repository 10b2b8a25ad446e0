#include "calls.h"

#include <certreg/question.h>
#include <stdlib.h>

static const double sigma = 0.35;
static const size_t tried[] = {16, 32, 64, 100, 200, 500, 1000};
enum { TRIED = sizeof tried / sizeof *tried, SMALL_BATCH = 64 };
/* For the target radius. The batch is small because its unused rows count as calls too. */
enum { MOST_CALLS = 400, TARGET_PILOT = 12, TARGET_BATCH = 4 };

/* One certificate for each image, each from a new record. */
struct round {
    const struct demo *demo;
    certreg_question question;
    size_t samples;
    size_t number; /* of this round; every round has new noise */
    certreg_certificate *answer;
};

static certreg_status certify_image(void *user, certreg_estimator *e, size_t image)
{
    const struct round *round = user;
    const struct images *images = &round->demo->images;
    const uint64_t noise_id = (round->demo->set.sigmas + round->number) * images->count + image;
    const certreg_status bad =
        certreg_estimator_begin(e, images->pixels + image * DIGITS_PIXELS, sigma, noise_id);
    if (bad) return bad;
    round->answer[image].struct_size = sizeof *round->answer;
    return certreg_certify(e, round->samples, &round->question, 1, &round->answer[image]);
}

/* The caller frees round->answer. */
static int certify_round(struct demo *d, struct round *round, size_t pilot, size_t batch)
{
    const struct task task = {.what = "images from few calls",
                              .items = d->images.count,
                              .samples = round->samples,
                              .pilot = pilot,
                              .batch = batch,
                              .one = certify_image,
                              .user = round};
    round->demo = d;
    round->answer = calloc(d->images.count, sizeof *round->answer);
    if (round->answer == NULL) fprintf(stderr, "no memory for the certificates\n");
    return round->answer == NULL || workers_run(&d->workers, &task);
}

static certreg_question ask_median(void)
{
    return question_of(&questions[QUESTION_MEDIAN], demo_tolerance, demo_alpha);
}

static int mean_radius(struct demo *d, size_t number, double *mean)
{
    struct round round = {.question = ask_median(), .samples = tried[number], .number = number};
    const int bad =
        certify_round(d, &round, 0, round.samples < SMALL_BATCH ? round.samples : SMALL_BATCH);
    double sum = 0.0;
    for (size_t i = 0; i < d->images.count && !bad; i++) sum += round.answer[i].radius;
    *mean = sum / (double)d->images.count;
    free(round.answer);
    return bad;
}

int calls_few(struct demo *d, FILE *rows)
{
    const double paper = results_paper_best(&d->results);
    size_t enough = 0;
    printf("\nThe finite-sample median from few calls, at sigma %g\n"
           "calls per image    mean certified radius    times Zhang and Frank's best, %.3f\n",
           sigma, paper);
    fprintf(rows, "calls,sigma,mean_radius,paper_best\n");
    for (size_t k = 0; k < TRIED; k++) {
        double mean;
        if (mean_radius(d, k, &mean)) return 1;
        printf("%15zu%25.3f%38.2f\n", tried[k], mean, mean / paper);
        fprintf(rows, "%zu,%g,%.6f,%.6f\n", tried[k], sigma, mean, paper);
        if (enough == 0 && mean >= paper) enough = tried[k];
    }
    if (enough > 0)
        printf("%zu calls reach Zhang and Frank's best mean radius from %zu: %.0f times fewer.\n",
               enough, d->set.samples, (double)d->set.samples / (double)enough);
    return 0;
}

/* Every image is counted once: as proved, smaller or none. */
struct outcomes {
    size_t proved, smaller, none;
    size_t stopped; /* of `smaller` and `none`: early, with the target out of reach */
    uint64_t calls;
};

static struct outcomes count_outcomes(const certreg_certificate *answer, size_t count,
                                      double radius)
{
    struct outcomes o = {0};
    for (const certreg_certificate *c = answer; c < answer + count; c++) {
        *(c->radius >= radius ? &o.proved : c->radius > 0.0 ? &o.smaller : &o.none) += 1;
        o.stopped += c->radius < radius && c->stop == CERTREG_STOP_HOPELESS;
        o.calls += c->samples;
    }
    return o;
}

static void print_outcomes(const struct outcomes *o, size_t images, double radius)
{
    printf("\nTarget radius %.3f, half of the finite-sample median's best mean, at sigma %g.\n"
           "With at most %d calls per image, %zu of %zu images reach it, %zu a smaller radius, "
           "%zu none;\n%.1f calls on average.\n",
           radius, sigma, MOST_CALLS, o->proved, images, o->smaller, o->none,
           (double)o->calls / (double)images);
    if (o->proved < images)
        printf("Of the %zu that miss it, sampling stopped early for %zu: it was out of reach.\n",
               images - o->proved, o->stopped);
}

int calls_for_target(struct demo *d)
{
    const double radius = 0.5 * results_best(&d->results, QUESTION_MEDIAN);
    const certreg_target target = {.struct_size = sizeof target, .radius = radius};
    struct round round = {.question = ask_median(), .samples = MOST_CALLS, .number = TRIED};
    round.question.target = &target;
    if (!(radius > 0.0)) return 0;
    const int bad = certify_round(d, &round, TARGET_PILOT, TARGET_BATCH);
    if (!bad) {
        const struct outcomes o = count_outcomes(round.answer, d->images.count, radius);
        print_outcomes(&o, d->images.count, radius);
    }
    free(round.answer);
    return bad;
}
