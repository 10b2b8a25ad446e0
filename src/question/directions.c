#include "question/directions.h"
#include "base/constants.h"
#include <float.h>
#include <math.h>

size_t cr_directions_count(const certreg_estimator *e, const cr_question *q)
{
    return cr_question_has_directions(q)
               ? cr_net_size(cr_question_net(q), cr_question_outputs(e, q))
               : 1;
}

/* ---- blocks */
static size_t block_of(const certreg_estimator *e, const cr_question *q, size_t k, size_t *size)
{
    const size_t outputs = cr_question_outputs(e, q), place = k - cr_question_first(q);
    const cr_net net = cr_question_net(q);
    size_t first = 0, block = 0;
    *size = cr_net_block(net, outputs, block, &first);
    while (first + *size <= place) *size = cr_net_block(net, outputs, ++block, &first);
    return block;
}

/* Blocks whose vectors are all shorter than these parts of the tolerance make one that is shorter
 * than the tolerance. What a direction loses to the block counts as well. */
void cr_directions_share(certreg_estimator *e, const cr_question *q)
{
    const cr_net net = cr_question_net(q);
    const size_t outputs = cr_question_outputs(e, q), blocks = cr_net_blocks(net, outputs);
    double sum = 0;
    for (size_t b = 0; b < blocks; b++) {
        size_t first;
        e->here.share[b] = 1 / cr_net_part(net, cr_net_block(net, outputs, b, &first));
        sum += e->here.share[b] * e->here.share[b];
    }
    for (size_t b = 0; b < blocks; b++) e->here.share[b] /= sqrt(sum);
}

static double tolerance_of(const certreg_estimator *e, const cr_question *q, size_t block,
                           size_t size)
{
    const double all = q->tolerance * (1 - CR_ROUNDING - 1e-15 * (double)e->model.outputs);
    return all * e->here.share[block] * cr_net_part(cr_question_net(q), size);
}

double cr_directions_tolerance(const certreg_estimator *e, const cr_question *q, size_t k)
{
    size_t size;
    const size_t block = block_of(e, q, k, &size);
    return tolerance_of(e, q, block, size);
}

/* ---- a direction */
/* Rounding may change the function of which the bounds are, by this much at each of the two ends of
 * a change; scores with two values have their own margin. */
static double lost_to_rounding(const certreg_estimator *e, const cr_score *s, size_t first)
{
    const double unsure = cr_score_unsure(s, e->model.lo + first, e->model.hi + first);
    return s->kind == CR_SCORE_OUTPUT ? 2 * unsure : s->kind == CR_SCORE_LINEAR ? unsure : 0;
}

int32_t cr_directions_aim(const certreg_estimator *e, const cr_question *q, size_t direction,
                          cr_score *s)
{
    const cr_direction d =
        cr_net_direction(cr_question_net(q), cr_question_outputs(e, q), direction);
    const size_t first = cr_question_first(q) + d.first;
    const double *psi = e->here.center + first;
    s->tolerance = tolerance_of(e, q, d.block, d.outputs);
    s->prediction = *psi;
    s->outputs = 0, s->center = NULL;
    if (d.outputs == 1) return (int32_t)first;
    s->outputs = d.outputs;
    if (s->kind != CR_SCORE_OUTPUT) s->center = psi;
    for (size_t k = 0; k < d.outputs; k++) s->along[k] = d.along[k];
    s->tolerance = fmax(DBL_MIN, s->tolerance - lost_to_rounding(e, s, first));
    return (int32_t)first;
}
