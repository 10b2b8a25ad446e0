/* How few calls: for the mean radius that the paper's procedure gets out of N, and to prove a
 * wanted radius. All calls are counted, the noise-free one, those of the pilot and the rows of a
 * batch that were not needed as well. */
#include <math.h>

#include "rows.h"

enum { FEW = 8, DEADLINE = 400, PROVE_BATCH = 4, PROVE_PILOT = 12 };
static const size_t few[FEW] = {32, 40, 48, 56, 64, 80, 100, 128};
static const double most_few = 64, most_prove = 90, wanted_share = 0.5;

/* Mean radius of the exact median from records of so many samples. */
static int mean_from(struct lab *lab, size_t samples, size_t k, size_t stream, double *mean)
{
    const certreg_question question = study_question(ASK_MEDIAN);
    struct desk desk;
    double sum = 0.0;
    int bad = desk_open(lab, samples, samples, 0, CERTREG_CONSTRAINT_MEAN, &desk); /* one batch, all
                                                                                      of it wanted
                                                                                    */
    if (bad) return 1;
    for (size_t i = 0; i < lab->images.count && !bad; i++) {
        certreg_certificate c;
        bad = desk_record(&desk, i, lab->set.sigma[k], LAB_FEW, stream + i) ||
              desk_ask(&desk, 0, &question, 1, &c);
        sum += bad ? 0.0 : c.radius;
    }
    desk_close(&desk);
    *mean = sum / (double)lab->images.count;
    return bad;
}

int rows_calls(const struct study *s, struct lab *lab, struct table *t)
{
    const double paper = study_mean(s, study_best(s, ASK_PAPER), ASK_PAPER);
    struct table_row r = {.number = "4",
                          .at_most = 1,
                          .target = most_few,
                          .reached = NAN,
                          .ours = NAN,
                          .reference = paper};
    snprintf(r.what, sizeof r.what, "calls for the paper's mean radius from %zu, median finite",
             lab->set.samples);
    printf("\nmean radius of the exact median from few calls (the paper's procedure, from %zu: "
           "%.3f)\ncalls ",
           lab->set.samples, paper);
    for (size_t k = 0; k < lab->set.sigmas; k++) printf("%8g", lab->set.sigma[k]);
    for (size_t n = 0; n < FEW; n++) {
        double best = 0.0;
        size_t sigma = 0;
        printf("\n%-6zu", few[n]);
        for (size_t k = 0; k < lab->set.sigmas; k++) {
            double mean;
            if (mean_from(lab, few[n], k, (n * lab->set.sigmas + k) * lab->images.count, &mean))
                return 1;
            printf("%8.3f", mean);
            sigma = mean > best ? k : sigma;
            best = fmax(best, mean);
        }
        if (best < paper || !isnan(r.reached)) continue;
        r.reached = (double)few[n];
        r.ours = best;
        snprintf(r.note, sizeof r.note, "mean radius %.3f : %.3f, sigma %g", best, paper,
                 lab->set.sigma[sigma]);
    }
    printf("\n");
    table_add(t, r);
    return 0;
}

struct proofs {                 /* at one sigma */
    size_t asked, proven, none; /* none: images whose radius from N samples is 0 */
    double calls;               /* mean over those asked; without a proof, the deadline's */
};

static int prove_one(const struct desk *desk, size_t image, double sigma, size_t stream,
                     double wanted, struct proofs *p)
{
    certreg_question question = study_question(ASK_MEDIAN);
    certreg_certificate c;
    const size_t before = desk->lab->calls;
    const certreg_target target = {.struct_size = sizeof target, .radius = wanted};
    question.target = &target;
    if (desk_begin(desk, image, sigma, LAB_PROVE, stream) ||
        desk_ask(desk, DEADLINE, &question, 1, &c))
        return 1;
    const int proven = c.status == CERTREG_OK && c.radius >= wanted;
    p->asked++;
    p->proven += (size_t)proven;
    p->calls += proven ? (double)(desk->lab->calls - before) : DEADLINE;
    return 0;
}

static int prove_all(const struct study *s, const struct desk *desk, size_t k, struct proofs *p)
{
    const size_t images = desk->lab->images.count;
    *p = (struct proofs){0};
    for (size_t i = 0; i < images; i++) {
        const double radius = study_radius(s, k, i, ASK_MEDIAN);
        if (!(radius > 0.0)) p->none++;
        else if (prove_one(desk, i, desk->lab->set.sigma[k], k * images + i, wanted_share * radius,
                           p))
            return 1;
    }
    p->calls /= (double)(p->asked > 0 ? p->asked : 1);
    return 0;
}

static void add_proofs(const struct study *s, struct table *t, const struct proofs *p, size_t k,
                       const char *where)
{
    struct table_row r = {.number = "7",
                          .at_most = 1,
                          .target = most_prove,
                          .reached = p->calls,
                          .ours = p->calls,
                          .reference = NAN};
    snprintf(r.what, sizeof r.what, "mean calls to prove half the radius of %zu calls, %s",
             s->lab->set.samples, where);
    snprintf(r.note, sizeof r.note, "sigma %g; %zu of %zu proven by %d calls, %zu without a radius",
             s->lab->set.sigma[k], p->proven, p->asked, DEADLINE, p->none);
    table_add(t, r);
}

int rows_prove(const struct study *s, struct lab *lab, struct table *t)
{
    struct proofs p[MOST_SIGMAS];
    struct desk desk;
    size_t fewest = 0;
    int bad = desk_open(lab, DEADLINE, PROVE_BATCH, PROVE_PILOT, CERTREG_CONSTRAINT_MEAN, &desk);
    if (bad) return 1;
    printf("\ncalls to prove half the radius\n");
    for (size_t k = 0; k < lab->set.sigmas && !bad; k++) {
        bad = prove_all(s, &desk, k, &p[k]);
        printf("sigma %-5g mean %6.1f, %zu of %zu proven, %zu images without a radius\n",
               lab->set.sigma[k], p[k].calls, p[k].proven, p[k].asked, p[k].none);
        fewest = p[k].calls < p[fewest].calls ? k : fewest;
    }
    desk_close(&desk);
    if (bad) return 1;
    const size_t widest = study_best(s, ASK_MEDIAN);
    add_proofs(s, t, &p[fewest], fewest, "sigma of the fewest");
    add_proofs(s, t, &p[widest], widest, "sigma of the largest radius");
    return 0;
}
