/* Looks ahead: requests the noise sums of several questions or directions before the first is
 * answered. */
#include "certify/prefetch.h"
#include "bounds/bounds.h"
#include "record/noise_sums.h"

/* Zero if there is no room for the sums of this question beside those requested already. */
static int request_sums(const cr_context *w, const cr_request *r, size_t index)
{
    cr_question q;
    if (cr_request_question(w, r, index, &q) ||
        cr_conditions_check_reuse(w->record, &q, r->samples, w->why))
        return 1; /* refused in its turn */
    cr_conditions conditions = {.question = q, .scratch = w->scratch};
    if (q.is_ordered || !(cr_bounds_constraints(w->record, &q) & CERTREG_CONSTRAINT_GRADIENT))
        return 1;
    if (q.directions > 1) return !cr_noise_sums_pending(w->replay); /* it looks ahead itself */
    return cr_conditions_prepare(w->record, &conditions, w->why) ||
           cr_bounds_prefetch(w->replay, &conditions);
}

size_t cr_prefetch_questions(const cr_context *w, const cr_request *r, size_t index)
{
    size_t i = index + 1;
    if (!request_sums(w, r, index)) {
        cr_noise_sums_clear(w->replay);
        request_sums(w, r, index);
    }
    if (!cr_noise_sums_pending(w->replay)) return i;
    while (i < r->call->count && request_sums(w, r, i)) i++;
    cr_noise_sums_compute(w->replay);
    return i;
}

void cr_prefetch_directions(const cr_context *w, cr_conditions *conditions, size_t direction)
{
    if (!cr_bounds_prefetch(w->replay, conditions)) {
        cr_noise_sums_clear(w->replay);
        cr_bounds_prefetch(w->replay, conditions);
    }
    if (!cr_noise_sums_pending(w->replay)) return;
    for (size_t i = direction + 1, room = 1; room && i < conditions->question.directions; i++) {
        cr_conditions_turn(w->record, conditions, i);
        room = (size_t)cr_bounds_prefetch(w->replay, conditions);
    }
    cr_conditions_turn(w->record, conditions, direction);
}
