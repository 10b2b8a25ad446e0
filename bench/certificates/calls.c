/* Rows 4 and 6: how few calls give the mean radius that the paper's procedure gets from N, and how
 * few prove a target radius. All calls are counted: also the one without noise, those of the pilot,
 * and rows of a batch that were not needed. */
#include <certreg/question.h>
#include <math.h>

#include "rows.h"

enum { FEW = 9, REPEATS = 4, DEADLINE = 400, PROVE_BATCH = 4, PROVE_PILOT = 12 };
static const size_t few[FEW] = {32, 36, 40, 48, 56, 64, 80, 100, 128};
static const double most_few = 64, most_prove = 90, target_share = 0.5;

/* Mean radius of the finite-sample median from records of that many samples. So few say little
 * about one record, so there are several of each image. */
static int mean_from(struct context *context, size_t samples, size_t k, double *mean)
{
    const size_t images = context->images.count, records = REPEATS * images,
                 noise_id = (samples * context->set.sigmas + k) * records;
    const certreg_question question = question_of(QUESTION_MEDIAN);
    struct bench_run run;
    double sum = 0.0;
    /* One batch that has exactly the samples. */
    int bad = bench_run_open(context, samples, samples, 0, CERTREG_CONSTRAINT_MEAN, &run);
    if (bad) return 1;
    for (size_t i = 0; i < records && !bad; i++) {
        certreg_certificate c;
        bad = bench_run_sample(&run, i % images, context->set.sigma[k], NOISE_FEW, noise_id + i) ||
              bench_run_certify(&run, 0, &question, 1, &c);
        sum += bad ? 0.0 : c.radius;
    }
    bench_run_close(&run);
    *mean = sum / (double)records;
    return bad;
}

int rows_calls(const struct radii *s, struct context *context, struct table *t)
{
    const double paper = radii_mean(s, radii_best_sigma(s, QUESTION_PAPER), QUESTION_PAPER);
    struct table_row r = {.number = "4",
                          .at_most = 1,
                          .target = most_few,
                          .reached = NAN,
                          .ours = NAN,
                          .reference = paper};
    snprintf(r.what, sizeof r.what, "calls for the paper's mean radius from %zu, median finite",
             context->set.samples);
    printf("\nmean radius of the finite-sample median from few calls (the paper's procedure, from "
           "%zu: "
           "%.3f)\ncalls ",
           context->set.samples, paper);
    for (size_t k = 0; k < context->set.sigmas; k++) printf("%8g", context->set.sigma[k]);
    for (size_t n = 0; n < FEW; n++) {
        double best = 0.0;
        size_t sigma = 0;
        printf("\n%-6zu", few[n]);
        for (size_t k = 0; k < context->set.sigmas; k++) {
            double mean;
            if (mean_from(context, few[n], k, &mean)) return 1;
            printf("%8.3f", mean);
            sigma = mean > best ? k : sigma;
            best = fmax(best, mean);
        }
        if (best < paper || !isnan(r.reached)) continue;
        r.reached = (double)few[n];
        r.ours = best;
        snprintf(r.note, sizeof r.note, "mean radius %.3f : %.3f, sigma %g", best, paper,
                 context->set.sigma[sigma]);
    }
    printf("\n");
    table_add(t, r);
    return 0;
}

struct proofs {                 /* at one sigma */
    size_t tried, proved, none; /* none: images whose radius from N samples is 0 */
    double calls;               /* mean over those tried; DEADLINE where there is no proof */
};

static int prove_one(const struct bench_run *run, size_t image, double sigma, size_t noise_id,
                     double radius, struct proofs *p)
{
    certreg_question question = question_of(QUESTION_MEDIAN);
    certreg_certificate c;
    const size_t before = run->context->calls;
    const certreg_target target = {.struct_size = sizeof target, .radius = radius};
    question.target = &target;
    if (bench_run_begin(run, image, sigma, NOISE_PROVE, noise_id) ||
        bench_run_certify(run, DEADLINE, &question, 1, &c))
        return 1;
    const int proved = c.status == CERTREG_OK && c.radius >= radius;
    p->tried++;
    p->proved += (size_t)proved;
    p->calls += proved ? (double)(run->context->calls - before) : DEADLINE;
    return 0;
}

static int prove_all(const struct radii *s, const struct bench_run *run, size_t k, struct proofs *p)
{
    const size_t images = run->context->images.count;
    *p = (struct proofs){0};
    for (size_t i = 0; i < images; i++) {
        const double radius = radii_get(s, k, i, QUESTION_MEDIAN);
        if (!(radius > 0.0)) p->none++;
        else if (prove_one(run, i, run->context->set.sigma[k], k * images + i,
                           target_share * radius, p))
            return 1;
    }
    p->calls /= (double)(p->tried > 0 ? p->tried : 1);
    return 0;
}

static void add_proofs(const struct radii *s, struct table *t, const struct proofs *p, size_t k,
                       const char *where)
{
    struct table_row r = {.number = "6",
                          .at_most = 1,
                          .target = most_prove,
                          .reached = p->calls,
                          .ours = p->calls,
                          .reference = NAN};
    snprintf(r.what, sizeof r.what, "mean calls to prove half the radius of %zu calls, %s",
             s->context->set.samples, where);
    snprintf(r.note, sizeof r.note, "sigma %g; %zu of %zu proved by %d calls, %zu without a radius",
             s->context->set.sigma[k], p->proved, p->tried, DEADLINE, p->none);
    table_add(t, r);
}

int rows_prove(const struct radii *s, struct context *context, struct table *t)
{
    struct proofs p[MOST_SIGMAS];
    struct bench_run run;
    size_t fewest = 0;
    int bad =
        bench_run_open(context, DEADLINE, PROVE_BATCH, PROVE_PILOT, CERTREG_CONSTRAINT_MEAN, &run);
    if (bad) return 1;
    printf("\ncalls to prove half the radius\n");
    for (size_t k = 0; k < context->set.sigmas && !bad; k++) {
        bad = prove_all(s, &run, k, &p[k]);
        printf("sigma %-5g mean %6.1f, %zu of %zu proved, %zu images without a radius\n",
               context->set.sigma[k], p[k].calls, p[k].proved, p[k].tried, p[k].none);
        fewest = p[k].calls < p[fewest].calls ? k : fewest;
    }
    bench_run_close(&run);
    if (bad) return 1;
    const size_t widest = radii_best_sigma(s, QUESTION_MEDIAN);
    add_proofs(s, t, &p[fewest], fewest, "sigma of the fewest");
    add_proofs(s, t, &p[widest], widest, "sigma of the largest radius");
    return 0;
}
