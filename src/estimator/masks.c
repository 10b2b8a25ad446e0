/* Masks of units of features that may have arbitrary values (theory 1.12): their checks, the
 * library's copy, and the probability that none of k units is shown. */
#include "base/error.h"
#include "base/handle.h"
#include "base/struct_sizes.h"
#include "estimator/estimator.h"
#include <math.h>
#include <string.h>

enum { MAX_UNITS = 65536 };
#define WORDS 0x1p32 /* values of a word of the stream */

/* ---- the law */
/* Sets the largest probabilities, in descending order. */
static void find_likeliest(const double *probability, size_t units, double largest[CR_FAULTS])
{
    for (size_t k = 0; k < CR_FAULTS; k++) largest[k] = 0;
    for (size_t u = 0; u < units; u++) {
        double p = probability[u];
        for (size_t k = 0; k < CR_FAULTS; k++) {
            const double here = largest[k];
            largest[k] = fmax(here, p);
            p = fmin(here, p);
        }
    }
}

/* Sets the probability that no one of k units is shown, rounded down. Each step of the law of
 * `shown` units is exact up to a word's step. */
static void set_unseen(const certreg_masks *m, double unseen[CR_FAULTS])
{
    const double units = (double)m->units, shown = (double)m->shown;
    double largest[CR_FAULTS], product = unseen[0] = 1;
    if (!m->shown) find_likeliest(m->probability, m->units, largest);
    for (size_t k = 1; k < CR_FAULTS; k++) {
        const double i = (double)(k - 1);
        if (k > m->units) product *= m->shown ? 0 : 1;
        else if (m->shown) product *= fmax(0, units - shown - i) / (units - i);
        else product *= 1 - largest[k - 1];
        unseen[k] = fmax(0, product * (1 - 0x1p-45) - (m->shown ? units / WORDS : 0));
    }
}

/* ---- checks */
static certreg_status check_law(const certreg_masks *m, certreg_error *why)
{
    if (!(m->shown ? !m->probability && m->shown < m->units : m->probability != NULL))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.masks->shown is %zu, and probability is %s: give 1 to units - 1 "
                            "units that are shown, or 0 and the probability of each",
                            m->shown, m->probability ? "given" : "NULL");
    for (size_t u = 0; m->probability && u < m->units; u++)
        if (!(m->probability[u] >= 0 && m->probability[u] < 1))
            return cr_error_set(why, CERTREG_E_INVALID,
                                "model.masks->probability[%zu] is %g; it must be at least 0 and "
                                "below 1 (a feature that is always shown has the unit -1)",
                                u, m->probability[u]);
    return CERTREG_OK;
}

static certreg_status check_units(const certreg_masks *m, size_t inputs, certreg_error *why)
{
    if (!m->units || m->units > MAX_UNITS || m->units > inputs || (!m->unit && m->units != inputs))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.masks->units is %zu; it must be 1 to 65536, at most "
                            "model.inputs = %zu, and this number if unit is NULL",
                            m->units, inputs);
    for (size_t j = 0; m->unit && j < inputs; j++)
        if (m->unit[j] < -1 || (m->unit[j] >= 0 && (size_t)m->unit[j] >= m->units))
            return cr_error_set(why, CERTREG_E_INVALID,
                                "model.masks->unit[%zu] is %d; it must be a unit below %zu, or -1 "
                                "for a feature that is never hidden",
                                j, (int)m->unit[j], m->units);
    return CERTREG_OK;
}

certreg_status cr_masks_read(const certreg_model *model, const certreg_plan *plan,
                             certreg_masks *out, certreg_error *why)
{
    certreg_status status =
        cr_struct_read(out, sizeof *out, CR_OLDEST_MASKS, model->masks, "model.masks", why);
    if (!status) status = check_units(out, model->inputs, why);
    if (!status) status = check_law(out, why);
    if (status) return status;
    if (isinf(out->marker))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.masks->marker is %g; it must be NaN or finite",
                            (double)out->marker);
    if (plan->flags & CERTREG_PLAN_EPISODE && !isnan(out->marker))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.masks->marker is %g; with CERTREG_PLAN_EPISODE it must be NaN, "
                            "since a row is noise, which the loop adds to readings",
                            (double)out->marker);
    double unseen[CR_FAULTS];
    set_unseen(out, unseen);
    if (!(unseen[1] > 0.5))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "model.masks: a sample hides the unit that is shown most with "
                            "probability %g, and nothing is proved unless it is above 0.5: show "
                            "fewer units",
                            unseen[1]);
    if (!(plan->flags & CERTREG_PLAN_PAIRS)) return CERTREG_OK;
    return cr_error_set(why, CERTREG_E_INVALID,
                        "plan.flags has CERTREG_PLAN_PAIRS, and model.masks is not NULL: each "
                        "served sample needs a mask of its own, so leave out one of them");
}

/* ---- the library's copy */
static int32_t unit_of(const certreg_masks *m, size_t feature)
{
    return m->unit ? m->unit[feature] : (int32_t)feature;
}

/* Sorts the features by their units: counts, sums, and then places from behind. */
static void sort_features(const certreg_masks *m, size_t inputs, uint32_t *first, uint32_t *feature)
{
    memset(first, 0, (m->units + 1) * sizeof *first);
    for (size_t j = 0; j < inputs; j++)
        if (unit_of(m, j) >= 0) first[unit_of(m, j)]++;
    for (size_t u = 1; u <= m->units; u++) first[u] += first[u - 1];
    for (size_t j = inputs; j-- > 0;)
        if (unit_of(m, j) >= 0) feature[--first[unit_of(m, j)]] = (uint32_t)j;
}

void cr_masks_copy(certreg_estimator *e, const certreg_masks *theirs)
{
    const size_t inputs = e->record.model.inputs;
    cr_mask_memory *own = e->masks;
    for (size_t j = 0; j < inputs; j++) own->unit[j] = unit_of(theirs, j);
    for (size_t u = 0; u < theirs->units; u++)
        own->host.probability[u] = theirs->shown ? 0 : theirs->probability[u];
    sort_features(theirs, inputs, own->host.first, own->host.feature);
    set_unseen(theirs, own->unseen);
    own->given = *theirs;
    own->given.unit = own->unit;
    own->given.probability = theirs->shown ? NULL : own->host.probability;
    own->drawn = (cr_masks){.units = theirs->units,
                            .shown = theirs->shown,
                            .probability = own->device.probability,
                            .first = own->device.first,
                            .feature = own->device.feature,
                            .marker = theirs->marker,
                            .is_fixed = (e->record.plan.flags & CERTREG_PLAN_DEPLOYED) != 0};
    e->record.model.masks = &own->given;
    e->record.unseen = own->unseen;
    e->batches.masks = &own->drawn;
}

certreg_status cr_masks_store(certreg_estimator *e)
{
    const cr_mask_memory *m = e->masks;
    const cr_mask_arrays *to = &m->device, *from = &m->host;
    const size_t inputs = e->record.model.inputs, units = m->given.units;
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } arrays[] = {{to->probability, from->probability, units * sizeof *to->probability},
                  {to->first, from->first, (units + 1) * sizeof *to->first},
                  {to->feature, from->feature, inputs * sizeof *to->feature}};
    certreg_status status = CERTREG_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = e->backend->ops->store(e->backend, arrays[i].to, arrays[i].from, arrays[i].bytes);
    return status;
}
