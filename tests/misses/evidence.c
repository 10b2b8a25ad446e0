#include "misses/evidence.h"
#include "support/simulate.h"
#include <math.h>

static const double stakes[STAKES] = {0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.95};

evidence evidence_of(double alpha, int weighted)
{
    return (evidence){.alpha = alpha, .weighted = weighted};
}

void evidence_add(evidence *e, double count)
{
    e->runs++;
    e->misses += count > 0;
    e->sum += count, e->squares += count * count;
    for (int k = 0; e->weighted && k < STAKES; k++)
        e->log_capital[k] += log1p(stakes[k] * (count / e->alpha - 1));
}

double evidence_rate(const evidence *e)
{
    return e->runs ? e->sum / (double)e->runs : 0;
}

double evidence_error(const evidence *e)
{
    const double rate = evidence_rate(e), n = (double)e->runs;
    return e->runs ? sqrt(fmax(0, e->squares / n - rate * rate) / n) : 1;
}

double evidence_p_value(const evidence *e)
{
    double capital = 0;
    if (!e->weighted) return simulate_at_least(e->misses, e->runs, e->alpha);
    for (int k = 0; k < STAKES; k++) capital += exp(fmin(e->log_capital[k], 690)) / STAKES;
    return capital > 1 ? 1 / capital : 1;
}
