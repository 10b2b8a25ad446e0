/* The bounds behind one side of a question. */
#include "base/sizes.h"
#include "base/structs.h"
#include "bounds/bounds.h"
#include "certify/laws.h"
#include "certify/solve.h"
#include <math.h>

/* A single condition is about both sides. */
static int index_of_side(const cr_conditions *conditions, int32_t side)
{
    for (int i = 0; i < conditions->count; i++)
        if (cr_conditions_side(conditions->each + i) == side ||
            (conditions->count == 1 && side == CERTREG_SIDE_UPPER))
            return i;
    return -1;
}

/* The score of an arc minus what its mean has to exceed, so that every side needs a positive
 * mean. */
static void subtract_threshold(const cr_score *score, certreg_bounds *b)
{
    if (score->kind != CR_SCORE_ARC) return;
    const double threshold = 2 * score->needed - 1;
    b->mean_lo = nextafter(b->mean_lo - threshold, -INFINITY);
    b->mean_hi = nextafter(b->mean_hi - threshold, INFINITY);
    b->range_lo = nextafter(b->range_lo - threshold, -INFINITY);
    b->range_hi = nextafter(b->range_hi - threshold, INFINITY);
}

static certreg_status no_such_side(const cr_work *w, int32_t side)
{
    return cr_fail(w->why, CERTREG_E_INVALID,
                   "side is %d, and this question has no such side; give CERTREG_SIDE_LOWER or "
                   "_UPPER (or, for the "
                   "median or Huber location of an angle, CERTREG_SIDE_NEAR_LOWER or _NEAR_UPPER)",
                   (int)side);
}

/* Bounds of a vector are those of the direction that limits its radius. */
static certreg_status turn_to_limiting(const cr_work *w, cr_answer *a)
{
    cr_solved solved;
    certreg_status status = cr_solve_directions(w, a, &solved);
    if (status) return status;
    cr_conditions_turn(w->record, &a->conditions, solved.direction);
    return cr_laws_bounds(w, a);
}

static certreg_status find(const cr_work *w, const certreg_question *question, int32_t side,
                           cr_answer *a, int *index)
{
    cr_conditions *c = &a->conditions;
    certreg_status status = cr_sense_take(w->record, question, &c->question, w->why);
    if (!status) status = cr_conditions_prepare(w->record, c, w->why);
    if (status) return status;
    *index = index_of_side(c, side);
    if (*index < 0) return no_such_side(w, side);
    status = cr_laws_bounds(w, a);
    if (!status && !a->abstained && c->question.directions > 1) status = turn_to_limiting(w, a);
    if (!status) cr_asked_remember_now(w->record, cr_allowed_looks(&c->question));
    return status;
}

static certreg_status bounds_of_side(const cr_work *w, const certreg_question *question,
                                     int32_t side, certreg_bounds *out)
{
    cr_answer a = {.conditions = {.scratch = w->scratch}};
    int index = 0;
    certreg_status status = cr_struct_check(out, CR_OLDEST_BOUNDS, "bounds", w->why);
    if (status) return status;
    status = find(w, question, side, &a, &index);
    certreg_bounds found = cr_bounds_blank(w->record, &a.conditions);
    if (!status && !a.abstained) {
        found = a.bounds[index];
        subtract_threshold(&a.conditions.each[index].score, &found);
    }
    cr_struct_write(out, out->struct_size, &found, sizeof found);
    return status;
}

certreg_status certreg_estimator_bounds(certreg_estimator *e, const certreg_question *question,
                                        int32_t side, certreg_bounds *out)
{
    const certreg_bounds nothing = {.struct_size = sizeof nothing}; /* no constraints, no claim */
    cr_work w;
    const certreg_status status = cr_estimator_enter(e, &w);
    if (!status) return cr_estimator_leave(e, bounds_of_side(&w, question, side, out));
    cr_struct_refuse(out, CR_OLDEST_BOUNDS, &nothing, sizeof nothing);
    return status;
}
