#include "rows.h"

static const char *outcome(const certreg_certificate *c)
{
    if (c->status != CERTREG_OK) return "failed";
    return c->outcome == CERTREG_OUTCOME_CERTIFIED ? "certified"
           : c->outcome == CERTREG_OUTCOME_CAPPED  ? "capped"
                                                   : "abstained";
}

static void write_certificates(const struct results *r, size_t sigma, size_t image, FILE *out)
{
    const certreg_certificate *c = results_record(r, sigma, image)->certificate;
    for (size_t k = 0; k < QUESTIONS; k++)
        fprintf(out, "%zu,%d,%.3f,%g,%.3f,\"%s\",%s,%u,%s,%.6f,%s,%llu\n", image,
                r->images->label[image], r->images->degrees[image], r->set->sigma[sigma],
                c[k].prediction, questions[k].name, statistic_name(questions[k].statistic),
                (unsigned)c[k].constraints, method_name(questions[k].method), c[k].radius,
                outcome(&c[k]), (unsigned long long)c[k].samples);
}

void rows_certificates(const struct results *r, FILE *out)
{
    fprintf(out, "image,class,angle,sigma,prediction,certificate,statistic,constraints,method,"
                 "radius,outcome,n\n");
    for (size_t s = 0; s < r->set->sigmas; s++)
        for (size_t i = 0; i < r->images->count; i++) write_certificates(r, s, i, out);
}
