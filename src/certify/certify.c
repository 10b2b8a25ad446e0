/* The pipeline: sample, then answer every question from the record. */
#include "base/structs.h"
#include "bisection/bisection.h"
#include "certify/answer.h"
#include "certify/certify.h"
#include "certify/closing.h"
#include "question/looks.h"
#include "question/question.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    OLDEST_CERTIFICATE = sizeof(certreg_certificate),
    OLDEST_QUESTION = sizeof(certreg_question)
};

typedef struct job {
    certreg_estimator *estimator;
    certreg_bisection *bisection;
    const certreg_question *questions;
    size_t count;
    uint32_t share;   /* alpha is divided by it */
    uint64_t samples; /* at which it is asked: those present, or those asked for, if more */
    int stop;         /* CERTREG_STOP_..., or CR_STOP_FAILED */
    int told;         /* something about the main samples was told, or decided about going on */
    int by_outputs;   /* they may have decided how many there are */
} job;

/* ---- all questions */
static void write_all(const certreg_estimator *e, certreg_status status, int stop, size_t count,
                      certreg_certificate *out)
{
    certreg_certificate nothing;
    const uint32_t size = out->struct_size;
    cr_answer_blank(e, &(certreg_question){0}, &nothing);
    nothing.status = status;
    nothing.stop = stop;
    for (size_t i = 0; i < count; i++)
        cr_struct_write((unsigned char *)out + i * size, size, &nothing, sizeof nothing);
}

void cr_certify_nothing(const certreg_estimator *e, certreg_status status, int stop, size_t count,
                        certreg_certificate *out)
{
    if (!cr_struct_check(out, OLDEST_CERTIFICATE, "certificate", NULL))
        write_all(e, status, stop, count, out);
}

void cr_certify_keep_first(const certreg_estimator *e, certreg_status status, const char *what,
                           size_t index, certreg_error *first)
{
    if (first->status || !status) return;
    *first = e->error;
    if (what)
        snprintf(first->text, sizeof first->text, "%s %zu: %.200s", what, index, e->error.text);
}

static certreg_status read_question(const job *j, size_t index, certreg_question *q)
{
    const certreg_status status =
        cr_struct_element(q, sizeof *q, j->questions, index, "question", &j->estimator->error);
    if (status || j->share == 1) return status;
    if (!q->bonferroni) q->bonferroni = 1;
    if (q->bonferroni > UINT32_MAX / j->share)
        return cr_fail(&j->estimator->error, CERTREG_E_INVALID,
                       "question.bonferroni is %u; it is too large", q->bonferroni);
    q->bonferroni *= j->share;
    return CERTREG_OK;
}

static certreg_status answer_all(job *j, void *out)
{
    certreg_estimator *e = j->estimator;
    const uint32_t size = ((certreg_certificate *)out)->struct_size;
    certreg_error first;
    cr_error_clear(&first);
    cr_answer a = {.known = 0};
    for (size_t i = 0; i < j->count; i++) {
        certreg_certificate c;
        certreg_question q;
        const double start = cr_estimator_now(e);
        cr_error_clear(&e->error);
        cr_answer_blank(e, &(certreg_question){0}, &c);
        c.status = read_question(j, i, &q);
        if (!c.status)
            c.status = cr_answer_question(e, j->bisection, &q, j->samples,
                                          j->stop != CERTREG_STOP_ALL, &a, &c);
        const int given_up = c.status == CERTREG_E_DEADLINE; /* those before it keep their answers
                                                              */
        c.stop = given_up ? CERTREG_STOP_DEADLINE : j->stop;
        if (given_up) c.status = CERTREG_OK;
        e->clock.library_seconds += cr_estimator_now(e) - start;
        c.model_seconds = e->clock.model_seconds, c.library_seconds = e->clock.library_seconds;
        cr_certify_keep_first(e, c.status, j->count > 1 ? "question" : NULL, i, &first);
        cr_struct_write((unsigned char *)out + i * size, size, &c, sizeof c);
    }
    j->told |= a.told;
    e->error = first; /* an abstention leaves no error behind */
    return first.status;
}

/* ---- sampling */
static certreg_status stop_of(certreg_status sampled, int *stop)
{
    if (sampled == CERTREG_E_CANCELLED) *stop = CERTREG_STOP_CANCELLED;
    if (sampled == CERTREG_E_DEADLINE) *stop = CERTREG_STOP_DEADLINE;
    return *stop == CERTREG_STOP_ALL ? sampled : CERTREG_OK;
}

typedef struct survey { /* of the questions, before the model is called */
    int valid;          /* one at least; else there is nothing to sample for */
    int all_wanted;     /* each valid one has a wanted radius; only then may their outcome end the
                           sampling: the others count on all samples */
    size_t from;        /* the fewest samples that answer one of them */
    uint64_t hash;
} survey;

static survey look_over(const job *j)
{
    survey all = {.all_wanted = 1, .from = SIZE_MAX, .hash = j->count};
    for (size_t i = 0; i < j->count; i++) {
        certreg_question q;
        cr_conditions read;
        if (read_question(j, i, &q) || cr_question_read(j->estimator, &q, &read) ||
            cr_question_allowed(j->estimator, &read.question, j->samples))
            continue;
        const size_t from = cr_conditions_least(j->estimator, &read.question);
        if (from > j->samples)
            continue; /* there will be too few, which is told when its turn comes */
        all.valid = 1;
        all.all_wanted &= read.question.wanted > 0;
        if (from < all.from) all.from = from;
        all.hash = cr_closing_hash(all.hash, &read.question);
    }
    return all;
}

enum { OPEN, PROVEN, HOPELESS };

static int state_of(job *j, const certreg_question *q)
{
    certreg_certificate c;
    cr_answer a = {.known = 0};
    const certreg_status status =
        cr_answer_question(j->estimator, j->bisection, q, j->samples, 1, &a, &c);
    j->told |= a.told;
    if (status == CERTREG_E_DEADLINE) return OPEN;
    if (status) return HOPELESS; /* told when it is answered for good */
    if (c.radius >= c.wanted) return PROVEN;
    return a.known && cr_looks_hopeless(j->estimator, &a.conditions) ? HOPELESS : OPEN;
}

/* Before anything is sampled only failures are missing: what is out of reach now stays so. Main
 * samples that are there already do not count yet, so that what is found here tells nothing about
 * them. (This also makes the tests, which takes longer than asking them.) */
static int state_at_first(const job *j, const certreg_question *q)
{
    cr_conditions conditions;
    if (cr_question_read(j->estimator, q, &conditions)) return HOPELESS;
    if (cr_conditions_preview(j->estimator, &conditions)) return OPEN;
    if (conditions.samples > conditions.main_first) conditions.samples = conditions.main_first;
    return cr_looks_hopeless(j->estimator, &conditions) ? HOPELESS : OPEN;
}

/* Before the samples only a part of the time is spent, so that there are some. */
static double half_the_time(const certreg_estimator *e)
{
    return fmax(0, (e->clock.deadline - cr_estimator_now(e)) / 2);
}

/* Whether every wanted radius is settled, by the record so far or, `at_first`, before there is one.
 */
static int is_settled(job *j, int at_first)
{
    int open = 0, proven = 0;
    const double start =
        cr_closing_start(j->estimator, at_first ? half_the_time(j->estimator) : INFINITY);
    for (size_t i = 0; !open && i < j->count; i++) {
        certreg_question q;
        const int state = read_question(j, i, &q) ? HOPELESS
                          : at_first              ? state_at_first(j, &q)
                                                  : state_of(j, &q);
        open = state == OPEN;
        proven |= state == PROVEN;
    }
    open |= cr_closing_end(j->estimator, start, 0);
    j->estimator->clock.library_seconds += cr_estimator_now(j->estimator) - start;
    if (!open) j->stop = proven ? CERTREG_STOP_TARGET : CERTREG_STOP_HOPELESS;
    return !open;
}

/* ---- the time it takes to answer */
enum { REHEARSED = 192 }; /* samples beyond the fewest */

static void answer_made_up(const job *j, size_t samples)
{
    certreg_estimator *e = j->estimator;
    certreg_certificate unused;
    certreg_question q;
    cr_conditions read;
    cr_answer a = {.known = 0};
    cr_closing_make_up(e, samples);
    for (size_t i = 0; i < j->count; i++)
        if (!read_question(j, i, &q) && !cr_question_read(e, &q, &read))
            cr_closing_make_up_for(e, &q, samples);
    for (size_t i = 0; i < j->count; i++)
        if (!read_question(j, i, &q))
            cr_answer_question(e, j->bisection, &q, j->samples, 1, &a, &unused);
    cr_record_clear(e);
}

/* Nobody knows yet what the questions take: they are answered once about outputs that are made up,
 * so that how many samples there will be does not depend on theirs (theory 5.1). A quarter of the
 * time is the most for that. */
static void rehearse(const job *j, const survey *all, size_t samples)
{
    certreg_estimator *e = j->estimator;
    const size_t count = samples - all->from < REHEARSED ? samples : all->from + REHEARSED;
    const double start =
        cr_closing_start(e, fmax(0, (e->clock.deadline - cr_estimator_now(e)) / 4));
    answer_made_up(j, count);
    if (cr_closing_end(e, start, count)) /* that was too little to learn from */
        *e->clock.closing.cost = (cr_cost){.asked = all->hash};
    e->clock.library_seconds += cr_estimator_now(e) - start;
}

static void prepare_closing(job *j, const survey *all, size_t samples)
{
    certreg_estimator *e = j->estimator;
    const int enough = samples >= all->from && samples <= e->plan.max_samples;
    if (!(e->clock.deadline > 0) || cr_cost_known(e->clock.closing.cost)) return;
    if (!e->record.present && enough) rehearse(j, all, samples);
    e->clock.closing.supposed = fmax(0, (e->clock.deadline - cr_estimator_now(e)) / 2);
}

/* ---- how far to sample */
/* The next number of samples at which any question wants to look; `most` where there is none
 * before. */
static uint64_t next_look(const job *j, uint64_t after, uint64_t most)
{
    uint64_t next = most;
    for (size_t i = 0; i < j->count; i++) {
        certreg_question q;
        cr_conditions read;
        cr_looks looks;
        if (read_question(j, i, &q) || cr_question_read(j->estimator, &q, &read)) continue;
        cr_looks_make(j->estimator, &read.question, &looks);
        for (size_t k = 0; k < looks.count; k++)
            if (looks.at[k] > after && looks.at[k] < next) next = looks.at[k];
    }
    return next;
}

static certreg_status sample_until_settled(job *j, const survey *all, size_t samples)
{
    certreg_estimator *e = j->estimator;
    size_t known; /* samples without a gap: the looks among them are all settled by asking once */
    if (is_settled(j, 1)) return CERTREG_OK;
    prepare_closing(j, all, samples); /* now that the tests are made */
    j->by_outputs = 1;
    cr_record_length(e, &known, NULL);
    if (known > e->plan.pilot && is_settled(j, 0)) return CERTREG_OK;
    for (uint64_t at = known; at < samples;) {
        at = next_look(j, at > e->plan.pilot ? at : e->plan.pilot, samples);
        const certreg_status status = stop_of(cr_estimator_sample(e, 0, (size_t)at), &j->stop);
        if (status || j->stop != CERTREG_STOP_ALL) return status;
        if (is_settled(j, 0)) return CERTREG_OK;
    }
    return CERTREG_OK;
}

static certreg_status sample_all(job *j, const survey *all, size_t samples)
{
    prepare_closing(j, all, samples);
    return stop_of(cr_estimator_sample(j->estimator, 0, samples), &j->stop);
}

static certreg_status sample_and_answer(job *j, size_t samples, certreg_certificate *out)
{
    certreg_estimator *e = j->estimator;
    const survey all = look_over(j);
    certreg_status status = CERTREG_OK;
    e->clock.closing = (cr_closing){.times = all.all_wanted ? 2 : 1, .from = all.from};
    if (all.valid) e->clock.closing.cost = cr_closing_cost(e, all.hash);
    if (samples && all.valid) /* each bad question is told when its turn comes */
        status = all.all_wanted && samples <= e->plan.max_samples
                     ? sample_until_settled(j, &all, samples)
                     : sample_all(j, &all, samples);
    if (status) {
        write_all(j->estimator, status, j->stop, j->count, out);
        j->stop = CR_STOP_FAILED;
        return status;
    }
    cr_error_clear(&e->error);
    const double start = cr_closing_start(e, INFINITY);
    status = answer_all(j, out);
    cr_closing_end(e, start, e->record.present);
    return status;
}

/* ---- the call */
certreg_status cr_certify_enter(certreg_estimator *e, certreg_bisection *bisection)
{
    certreg_status status = cr_estimator_enter(e);
    if (status || !bisection) return status;
    status = cr_bisection_enter(bisection);
    if (!status) return CERTREG_OK;
    cr_fail(&e->error, status, "the bisection %s",
            status == CERTREG_E_BUSY ? "is in another call"
                                     : "was made in another process; create one after fork");
    return cr_estimator_leave(e, status);
}

certreg_status cr_certify_leave(certreg_estimator *e, certreg_bisection *bisection,
                                certreg_status status)
{
    if (bisection) cr_bisection_leave(bisection, status);
    return cr_estimator_leave(e, status);
}

static certreg_status prepare(const job *j)
{
    certreg_estimator *e = j->estimator;
    if (!j->count)
        return cr_fail(&e->error, CERTREG_E_INVALID, "count is 0: no question was asked");
    const certreg_status status =
        cr_struct_check(j->questions, OLDEST_QUESTION, "question", &e->error);
    return status ? status : cr_estimator_ready(e);
}

static certreg_status with_solver(job *j, size_t samples, certreg_certificate *out)
{
    certreg_solver *solver = NULL;
    certreg_status status = certreg_solver_create(NULL, 0, &solver);
    if (!status) status = certreg_bisection_create(solver, NULL, 0, &j->bisection);
    if (status) {
        write_all(j->estimator, status, j->stop, j->count, out);
        j->stop = CR_STOP_FAILED;
        cr_fail(&j->estimator->error, status, "no memory for a temporary solver");
    } else {
        status = sample_and_answer(j, samples, out);
    }
    certreg_bisection_destroy(j->bisection);
    certreg_solver_destroy(solver);
    return status;
}

/* The looks that come with these questions. */
static uint64_t looks_of(const job *j)
{
    uint64_t looks = 0;
    for (size_t i = 0; !looks && i < j->count; i++) {
        certreg_question q;
        cr_conditions read;
        if (!read_question(j, i, &q) && !cr_question_read(j->estimator, &q, &read))
            looks = cr_question_digest(&read.question);
    }
    cr_error_clear(&j->estimator->error); /* bad questions are told when their turn comes */
    return looks;
}

/* If the outputs chose the number of samples, only the number asked for counts as fixed
 * beforehand. */
static void remember(const job *j, uint64_t looks)
{
    if (j->told)
        cr_asked_remember(j->estimator, j->by_outputs ? j->samples : j->estimator->record.present,
                          j->samples, looks);
}

certreg_status cr_certify(certreg_estimator *e, certreg_bisection *bisection, size_t samples,
                          const certreg_question *questions, size_t count, uint32_t share,
                          int *stop, certreg_certificate *out)
{
    *stop = CR_STOP_FAILED;
    cr_error_clear(&e->error);
    certreg_status status = cr_struct_check(out, OLDEST_CERTIFICATE, "certificate", &e->error);
    if (status) return status;
    job j = {.estimator = e,
             .bisection = bisection,
             .questions = questions,
             .count = count,
             .share = share,
             .stop = CERTREG_STOP_ALL};
    j.samples = samples > e->record.present ? samples : e->record.present;
    status = prepare(&j);
    if (status) {
        cr_certify_nothing(e, status, CERTREG_STOP_ALL, count, out);
        return status;
    }
    const uint64_t looks = looks_of(&j);
    status = bisection ? sample_and_answer(&j, samples, out) : with_solver(&j, samples, out);
    remember(&j, looks);
    *stop = j.stop;
    return status;
}

certreg_status certreg_certify(certreg_estimator *e, certreg_bisection *bisection, size_t samples,
                               const certreg_question *questions, size_t count,
                               certreg_certificate *out)
{
    int stop;
    const certreg_status refused = cr_certify_enter(e, bisection);
    if (!refused)
        return cr_certify_leave(e, bisection,
                                cr_certify(e, bisection, samples, questions, count, 1, &stop, out));
    cr_certify_nothing(NULL, refused, CERTREG_STOP_ALL, count, out);
    return refused;
}
