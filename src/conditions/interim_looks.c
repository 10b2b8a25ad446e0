/* Interim looks at a record for a target radius: their schedule, the tests at them
 * (group-sequential, or by the mixture at any time), and futility. */
#include "conditions/conditions.h"
#include "record/record.h"
#include "statistics/binomial.h"
#include "statistics/normal.h"
#include <math.h>
#include <string.h>

static const double default_growth = 1.1, fewest = 10; /* of main samples between default looks */
static const double fraction[CR_GROUP_RADII] = {1, 0.8, 0.6, 0.4, 0.2};

/* ---- the schedule */
static void default_looks(cr_view *v, uint64_t last, uint64_t together, cr_looks *out)
{
    const double pilot = (double)v->pilot, max_samples = (double)last, batch = (double)together;
    const double by =
        fmax(default_growth, pow(fmax(1, max_samples / fewest), 1.0 / (CR_LOOKS - 2 * fewest)));
    out->count = 0;
    for (double main = 1; out->count + 1 < CR_LOOKS;) {
        const double at = ceil((pilot + main) / batch) * batch;
        if (at >= max_samples) break;
        out->samples[out->count++] = (uint64_t)at;
        main = fmax(at - pilot + 1, ceil(by * (at - pilot)));
    }
    out->samples[out->count++] = last;
}

static int use_given_looks(const cr_question *q, cr_looks *out)
{
    if (!q->given.looks) return 0;
    memcpy(out->samples, q->given.looks, q->given.look_count * sizeof *q->given.looks);
    out->count = q->given.look_count;
    return 1;
}

/* ---- early looks */
/* Main samples at the looks: `first`, then growing, and last `end`. */
static size_t growing_trials(const cr_early_look *e, uint64_t *trials)
{
    const double last = (double)e->end, first = fmax(1, (double)e->first),
                 by = fmax(e->growth, pow(fmax(1, last / first), 1.0 / (CR_LOOKS - 2)));
    size_t count = 0;
    for (double at = first; at < last && count + 1 < CR_LOOKS; at = ceil(by * at))
        trials[count++] = (uint64_t)at;
    trials[count++] = e->end;
    return count;
}

/* Returns the least number of trials, from..end, that pass without failures; `end` if none do. */
static uint64_t least_trials(const cr_early_look *e, int is_group, double level, uint64_t from)
{
    uint64_t end = e->end;
    while (from < end) {
        const uint64_t middle = from + (end - from) / 2;
        if (is_group ? cr_binomial_critical(middle, e->q, level) >= 0
                     : cr_mixture_rejects(0, middle, e->q, level))
            end = middle;
        else from = middle + 1;
    }
    return end;
}

/* Makes a step of the search. All looks share alpha, so the search for their critical numbers gives
 * the level of the first one. If that is too low, the first look moves to the number that it
 * allows, by 1/128 at least, and the search begins again. Returns 1 when it is found. */
static int make_early_step(cr_early_look *e, double *paths)
{
    uint64_t trials[CR_LOOKS];
    int64_t critical[CR_LOOKS];
    const cr_group_design design = {trials, growing_trials(e, trials), e->q, e->alpha};
    if (!e->search.rounds) cr_group_search_init(&e->search, design.count, e->alpha);
    if (!cr_group_search_step(&e->search, &design, paths, CR_GROUP_WORK_DOUBLES, critical))
        return 0;
    if (critical[0] >= 0) return 1;
    e->first = least_trials(e, 1, cr_group_first_level(&e->search, &design),
                            e->first + 1 + e->first / 128);
    e->search.rounds = 0;
    return e->first >= e->end;
}

/* Returns an equal search that is kept, or begins this one in the place of the oldest one. */
static cr_early_look *find_or_begin_early(cr_workspace *s, const cr_early_look *now)
{
    for (size_t i = 0; i < CR_GROUP_CACHE_SIZE; i++) {
        cr_early_look *e = s->early_looks + i;
        if (e->alpha == now->alpha && e->q == now->q && e->growth == now->growth &&
            e->end == now->end)
            return e;
    }
    cr_early_look *oldest = s->early_looks + s->next_early_slot++ % CR_GROUP_CACHE_SIZE;
    *oldest = *now;
    oldest->first = least_trials(now, 1, now->alpha, now->end > 0);
    oldest->complete = oldest->first >= now->end;
    return oldest;
}

/* Serving makes a target harder, so the earliest looks are those without it. */
int cr_looks_early(cr_view *v, cr_workspace *scratch, const cr_question *q, double growth,
                   uint64_t last, cr_looks *out)
{
    const double shift = q->given.target_radius * (1 + CR_TARGET_MARGIN) / v->input.min_sigma;
    cr_early_look now = {.alpha = q->given.alpha,
                         .q = cr_shift_min_probability(0.5, shift),
                         .growth = growth,
                         .end = last > v->pilot ? last - v->pilot : 0};
    cr_early_look *e = q->is_group_sequential ? find_or_begin_early(scratch, &now) : &now;
    if (e == &now) {
        now.first = least_trials(&now, 0, now.alpha, now.end > 0);
        now.complete = 1;
    }
    while (!e->complete && !cr_deadline_expired(v->deadline))
        e->complete = make_early_step(e, scratch->group_paths);
    out->count = growing_trials(e, out->samples);
    for (size_t j = 0; j < out->count; j++) out->samples[j] += v->pilot;
    return e->complete;
}

/* Default looks are at whole batches, so that no row is evaluated twice. A group-sequential test
 * keeps the looks of the plan under which the record was first evaluated. */
int cr_looks_schedule(cr_view *v, cr_workspace *scratch, const cr_question *q, cr_looks *out)
{
    const uint64_t last = q->is_group_sequential ? cr_query_log_max_samples(v)
                                                 : v->plan.max_samples;
    if (use_given_looks(q, out)) return 1;
    if (q->given.growth != 0) return cr_looks_early(v, scratch, q, q->given.growth, last, out);
    default_looks(v, last, q->is_group_sequential ? cr_query_log_batch(v) : v->model.batch, out);
    return 1;
}

/* ---- the group-sequential test */
static int have_same_pairs(const cr_antithetic *a, const cr_antithetic *b)
{
    return a->samples == b->samples && a->min_outside == b->min_outside &&
           a->failure_rate == b->failure_rate;
}

/* A cached cr_antithetic_max_probability, which takes a search. */
static double cached_share_of_pairs(cr_workspace *s, const cr_antithetic *pairs, double shift)
{
    const cr_antithetic_cache now = {.pairs = *pairs, .shift = shift};
    for (size_t i = 0; i < CR_ANTITHETIC_CACHE_SIZE; i++) {
        const cr_antithetic_cache *k = s->antithetic_cache + i;
        if (k->shift == shift && have_same_pairs(&k->pairs, pairs)) return k->max_probability;
    }
    cr_antithetic_cache *oldest =
        s->antithetic_cache + s->next_antithetic_slot++ % CR_ANTITHETIC_CACHE_SIZE;
    *oldest = now;
    oldest->max_probability = cr_antithetic_max_probability(pairs, nextafter(shift, INFINITY));
    return oldest->max_probability;
}

/* Returns the probability below which failures at z prove the condition within a radius. */
static double critical_probability(cr_view *v, const cr_conditions *conditions,
                                   const cr_condition *c, double radius)
{
    const double shift = radius / v->input.min_sigma;
    return c->pairs.samples ? cached_share_of_pairs(conditions->scratch, &c->pairs, shift)
                            : cr_shift_min_probability(0.5 * (1 - c->threshold), shift);
}

/* The same for the target radius, without a test: with more failures no search finds it. */
static double attainable_probability(cr_view *v, const cr_conditions *conditions,
                                     const cr_condition *c)
{
    return critical_probability(v, conditions, c,
                                conditions->question.given.target_radius * (1 - CR_TARGET_MARGIN));
}

static int is_same(const cr_group_tests *a, const cr_group_tests *b)
{
    return a->count == b->count && a->alpha == b->alpha && a->radius == b->radius &&
           a->sigma == b->sigma && a->threshold == b->threshold &&
           have_same_pairs(&a->pairs, &b->pairs) &&
           !memcmp(a->trials, b->trials, a->count * sizeof *a->trials);
}

/* ---- critical numbers, which are kept in scratch */
static void widen(const int32_t *from, size_t count, int64_t *to)
{
    for (size_t j = 0; j < count; j++) to[j] = from[j];
}

static void narrow(const int64_t *from, size_t count, int32_t *to)
{
    for (size_t j = 0; j < count; j++) to[j] = (int32_t)from[j];
}

/* Makes a step of the search for the numbers of one radius. Returns 1 when they are complete. */
static int make_step(cr_group_tests *t, double *paths)
{
    uint64_t trials[CR_LOOKS];
    int64_t critical[CR_LOOKS];
    for (size_t j = 0; j < t->count; j++) trials[j] = t->trials[j];
    const cr_group_design design = {trials, t->count, t->q[t->completed], t->alpha};
    if (!cr_group_search_step(&t->search, &design, paths, CR_GROUP_WORK_DOUBLES, critical))
        return 0;
    narrow(critical, t->count, t->critical[t->completed]);
    return 1;
}

static void nest(cr_group_tests *t)
{
    int64_t critical[CR_LOOKS], next[CR_LOOKS];
    for (size_t i = CR_GROUP_RADII; --i > 0;) {
        widen(t->critical[i - 1], t->count, critical);
        widen(t->critical[i], t->count, next);
        cr_group_nest(critical, next, t->count);
        narrow(critical, t->count, t->critical[i - 1]);
    }
}

/* Continues the search from step to step until all numbers are complete or the deadline has
 * expired: then returns 0, and the next call continues it, so that the numbers never depend on the
 * time. */
static int continue_tests(cr_group_tests *t, double *paths, cr_deadline *deadline)
{
    while (t->completed < CR_GROUP_RADII) {
        if (cr_deadline_expired(deadline)) return 0;
        if (!make_step(t, paths)) continue;
        cr_group_search_init(&t->search, t->count, t->alpha);
        if (++t->completed == CR_GROUP_RADII) nest(t);
    }
    return 1;
}

/* Returns equal tests that are kept, or begins these in the place of the oldest ones. */
static cr_group_tests *find_or_begin(cr_workspace *s, const cr_group_tests *now)
{
    for (size_t i = 0; i < CR_GROUP_CACHE_SIZE; i++)
        if (is_same(s->group_tests + i, now)) return s->group_tests + i;
    cr_group_tests *oldest = s->group_tests + s->next_group_slot;
    s->next_group_slot = (s->next_group_slot + 1) % CR_GROUP_CACHE_SIZE;
    *oldest = *now;
    cr_group_search_init(&oldest->search, oldest->count, oldest->alpha);
    return oldest;
}

/* Returns the tests of a condition; NULL if the deadline expires before they are complete. */
static const cr_group_tests *group_tests(cr_view *v, const cr_conditions *conditions,
                                         const cr_condition *c)
{
    const cr_given *g = &conditions->question.given;
    cr_group_tests now = {.alpha = g->alpha,
                          .radius = g->target_radius,
                          .sigma = v->input.min_sigma,
                          .threshold = c->threshold,
                          .pairs = c->pairs};
    cr_looks looks;
    if (!cr_looks_schedule(v, conditions->scratch, &conditions->question, &looks)) return NULL;
    now.count = looks.count;
    for (size_t j = 0; j < looks.count; j++)
        now.trials[j] = (uint32_t)(looks.samples[j] - v->pilot);
    cr_group_tests *test = find_or_begin(conditions->scratch, &now);
    for (; test->known < CR_GROUP_RADII; test->known++) {
        if (c->pairs.samples && cr_deadline_expired(v->deadline)) return NULL;
        test->q[test->known] = critical_probability(
            v, conditions, c, fraction[test->known] * g->target_radius * (1 + CR_TARGET_MARGIN));
    }
    return continue_tests(test, conditions->scratch->group_paths, v->deadline) ? test : NULL;
}

/* ---- bounds */
static uint64_t count_failures(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                               size_t from, size_t end)
{
    const cr_samples s = cr_view_samples(v, &c->score, conditions->score_output, from,
                                         from < end ? end - from : 0, 0);
    return cr_samples_count_negative(&s);
}

/* The tests are nested, so a radius is proved if its test is passed at any look, with an error of
 * at most alpha for all radii together. Sets the number of failures in the record too. */
static double upper_of_test(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                            const cr_group_tests *test, uint64_t *failures)
{
    const size_t first = conditions->first_main_sample;
    size_t at = first, proven = CR_GROUP_RADII;
    *failures = 0;
    for (size_t j = 0; j < test->count && first + test->trials[j] <= conditions->samples; j++) {
        const size_t end = first + (size_t)test->trials[j];
        *failures += count_failures(v, conditions, c, at, end);
        at = end;
        while (proven > 0 && (int64_t)*failures <= test->critical[proven - 1][j]) proven--;
    }
    *failures += count_failures(v, conditions, c, at, conditions->samples);
    return proven < CR_GROUP_RADII ? test->q[proven] : 1;
}

double cr_looks_group_sequential_upper(cr_view *v, const cr_conditions *conditions,
                                       const cr_condition *c)
{
    const cr_group_tests *test = group_tests(v, conditions, c);
    uint64_t failures;
    return test ? upper_of_test(v, conditions, c, test, &failures) : 1;
}

/* The radius is the certificate's, rounded in the same way. (Targets have no sines.) */
enum cr_target_state cr_looks_decide(cr_view *v, const cr_conditions *conditions, double cap)
{
    int futile = 0;
    for (int i = 0; i < conditions->count; i++) {
        const cr_condition *c = conditions->each + i;
        const cr_group_tests *test = group_tests(v, conditions, c);
        uint64_t failures;
        if (!test) return CR_TARGET_OPEN;
        const double upper = upper_of_test(v, conditions, c, test, &failures);
        cap = cr_shift_max_radius(upper, 0.5 * (1 - c->threshold), cap);
        futile |= (int64_t)failures > test->critical[0][test->count - 1] && upper > test->q[0];
    }
    if (v->deadline->expired) return CR_TARGET_OPEN;
    if (conditions->has_prediction &&
        nextafter(cap * v->input.min_sigma, 0) >= conditions->question.given.target_radius)
        return CR_TARGET_PROVEN;
    return futile ? CR_TARGET_FUTILE : CR_TARGET_OPEN;
}

/* A bound that held at an earlier number of samples still holds. Some of these numbers give nearly
 * the least bound of all; their choice does not depend on the batch, so that the answer depends on
 * the outputs alone. */
double cr_looks_anytime_upper(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                              double alpha)
{
    cr_looks looks;
    uint64_t failures[CR_LOOKS + 1], trials[CR_LOOKS + 1], seen = 0;
    size_t at = conditions->first_main_sample, count = 0;
    if (!use_given_looks(&conditions->question, &looks))
        default_looks(v, v->plan.max_samples, 1, &looks);
    /* At each look, and at the end of the record. */
    while (at < conditions->samples && !v->deadline->expired) {
        const int last = count == looks.count || looks.samples[count] >= conditions->samples;
        const size_t end = last ? conditions->samples : (size_t)looks.samples[count];
        seen += count_failures(v, conditions, c, at, end);
        at = end;
        failures[count] = seen;
        trials[count++] = at - conditions->first_main_sample;
    }
    double best = 1;
    /* The last is mostly the best: each earlier one then takes one evaluation. */
    while (count-- > 0)
        if (best == 1 || cr_mixture_rejects(failures[count], trials[count], best, alpha))
            best = fmin(best, cr_mixture_upper(failures[count], trials[count], alpha));
    return best;
}

int cr_looks_passed(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                    uint64_t samples, uint64_t failures)
{
    const cr_question *q = &conditions->question;
    const uint64_t trials = samples - v->pilot;
    if (!q->is_group_sequential)
        return cr_mixture_rejects(failures, trials, attainable_probability(v, conditions, c),
                                  q->given.alpha);
    const cr_group_tests *test = group_tests(v, conditions, c);
    for (size_t j = 0; test && j < test->count; j++)
        if (test->trials[j] == trials) return (int64_t)failures <= test->critical[0][j];
    return 0;
}

/* ---- futility */
static int within_reach(cr_view *v, const cr_conditions *conditions, const cr_condition *c,
                        uint64_t failures)
{
    const uint64_t trials = v->plan.max_samples - conditions->first_main_sample;
    if (!conditions->question.is_group_sequential) {
        const double q = attainable_probability(v, conditions, c),
                     alpha = conditions->question.given.alpha;
        return cr_mixture_rejects(failures, trials, q, alpha) ||
               cr_looks_anytime_upper(v, conditions, c, alpha) <= q;
    }
    const cr_group_tests *test = group_tests(v, conditions, c);
    if (!test) return 1; /* until the test is complete */
    return (int64_t)failures <= test->critical[0][test->count - 1] ||
           cr_looks_group_sequential_upper(v, conditions, c) <= test->q[0];
}

int cr_looks_futile(cr_view *v, cr_conditions *conditions)
{
    const size_t first = conditions->first_main_sample, end = conditions->samples;
    for (size_t i = 0; i < conditions->question.directions; i++) {
        cr_conditions_select_direction(v, conditions, i);
        for (int j = 0; j < conditions->count; j++) {
            const cr_condition *c = conditions->each + j;
            if (c->is_binomial &&
                !within_reach(v, conditions, c, count_failures(v, conditions, c, first, end)))
                return 1;
        }
    }
    return 0;
}
