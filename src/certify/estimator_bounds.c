/* certreg_estimator_bounds: the bounds behind one side of a question, for the solver. */
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "bounds/bounds.h"
#include "certify/bound_selection.h"
#include "certify/evaluate.h"
#include <math.h>

/* Returns the condition of a side; -1: there is none. A single condition is about both sides. */
static int index_of_side(const cr_conditions *conditions, int32_t side)
{
    for (int i = 0; i < conditions->count; i++)
        if (cr_conditions_side(conditions->each + i) == side ||
            (conditions->count == 1 && side == CERTREG_SIDE_UPPER))
            return i;
    return -1;
}

/* Subtracts from a counted score the mean that it has to exceed, so that every side needs a
 * positive mean. */
static void subtract_threshold(const cr_score *score, certreg_bounds *b)
{
    const double threshold =
        cr_score_traits_of(score->kind).two_valued ? 2 * score->required_probability - 1 : 0;
    if (threshold == 0) return;
    b->mean_lo = nextafter(b->mean_lo - threshold, -INFINITY);
    b->mean_hi = nextafter(b->mean_hi - threshold, INFINITY);
    b->range_lo = nextafter(b->range_lo - threshold, -INFINITY);
    b->range_hi = nextafter(b->range_hi - threshold, INFINITY);
}

/* The bounds of a vector are the bounds along the direction that limits its radius. */
static certreg_status find_bounds(const cr_context *w, const certreg_question *question,
                                  int32_t side, cr_evaluation *e, int *index)
{
    cr_conditions *conditions = &e->conditions;
    certreg_certificate c;
    cr_question q;
    certreg_status status = cr_question_load(w->record, question, &q, w->why);
    if (status) return status;
    conditions->question = q;
    status = cr_conditions_prepare(w->record, conditions, w->why);
    if (status) return status;
    *index = index_of_side(conditions, side);
    if (*index < 0)
        return cr_error_set(
            w->why, CERTREG_E_INVALID,
            "side is %d, and this question has no such side; give CERTREG_SIDE_LOWER or "
            "_UPPER (or, for the median or Huber location of an angle, "
            "CERTREG_SIDE_NEAR_LOWER or _NEAR_UPPER)",
            (int)side);
    if (q.directions > 1) {
        status = cr_evaluate_question(w, &q, w->record->sample_count, 0, e, &c);
        cr_conditions_select_direction(w->record, conditions, e->proven.direction);
    }
    if (!status) cr_bound_selection_choose(w, conditions);
    if (!status) status = cr_bounds_compute(w->replay, conditions, e->bounds, &e->abstained);
    if (!status) cr_query_log_add_current(w->record, cr_question_looks_digest(&q));
    return status;
}

static certreg_status bounds_of_side(const cr_context *w, const certreg_question *question,
                                     int32_t side, certreg_bounds *out)
{
    cr_evaluation e = {.conditions = {.scratch = w->scratch}};
    int index = 0;
    certreg_status status = cr_struct_check(out, CR_OLDEST_BOUNDS, "bounds", w->why);
    if (status) return status;
    status = find_bounds(w, question, side, &e, &index);
    certreg_bounds found = cr_bounds_init(w->record, &e.conditions);
    if (!status && !e.abstained) {
        found = e.bounds[index].moments;
        subtract_threshold(&e.conditions.each[index].score, &found);
    }
    cr_struct_write(out, out->struct_size, &found, sizeof found);
    return status;
}

certreg_status certreg_estimator_bounds(certreg_estimator *e, const certreg_question *question,
                                        int32_t side, certreg_bounds *out)
{
    const certreg_bounds nothing = {.struct_size = sizeof nothing}; /* no constraints, no claim */
    cr_context w;
    const certreg_status status = cr_estimator_enter(e, &w);
    if (!status) return cr_estimator_leave(e, bounds_of_side(&w, question, side, out));
    cr_struct_write_empty(out, CR_OLDEST_BOUNDS, &nothing, sizeof nothing);
    return status;
}
