/* What tests of the public interface share: a plain model, structs with their defaults, handles,
 * which KIT_MAIN closes after each test, and checks of statuses, messages and refusals. It sees the
 * public header only. */
#ifndef SUPPORT_API_KIT_H
#define SUPPORT_API_KIT_H
#include "support/question_fields.h"
#include "support/structs.h"
#include "support/suite.h"
#include <certreg/backend.h>
#include <certreg/certreg.h>
#include <certreg/error.h>
#include <certreg/question.h>
#include <certreg/sampling.h>
#include <certreg/solver.h>
#include <check.h>

/* ---- structs */
/* A model whose output k of a row x is an expression. */
#define KIT_EVAL(name, output)                                 \
    static inline int name(void *user, const certreg_batch *b) \
    {                                                          \
        (void)user;                                            \
        for (size_t i = 0; i < b->rows; i++)                   \
            for (size_t k = 0; k < b->columns; k++) {          \
                const float *x = b->x + i * b->inputs;         \
                b->y[i * b->columns + k] = (output);           \
            }                                                  \
        return 0;                                              \
    }

/* The first column as it is, in every output: affine, so that everything about it is known. */
KIT_EVAL(kit_identity, x[0])

static inline certreg_model kit_model(certreg_eval eval, void *user, size_t inputs, size_t outputs)
{
    return MODEL(.eval = eval, .user = user, .inputs = inputs, .outputs = outputs);
}

static inline certreg_plan kit_plan(size_t max_samples)
{
    return PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .seed = 11, .max_samples = max_samples);
}

/* The same with further fields. */
#define KIT_MODEL(callback, of, in, out, ...) \
    MODEL(.eval = (callback), .user = (of), .inputs = (in), .outputs = (out), __VA_ARGS__)
#define KIT_PLAN(most, ...) \
    PLAN(.constraints = CERTREG_CONSTRAINTS_ECGM, .seed = 11, .max_samples = (most), __VA_ARGS__)

static inline certreg_question kit_question(double tolerance)
{
    return QUESTION(.tolerance = tolerance);
}

static inline certreg_certificate kit_certificate(void)
{
    return (certreg_certificate){.struct_size = sizeof(certreg_certificate)};
}

/* ---- checks */
/* The status of a call on an estimator. Where it is not the expected one, the failure quotes the
 * error's message. */
#define KIT_STATUS(e, call, expected)                                                            \
    do {                                                                                         \
        const certreg_status kit_got = (call);                                                   \
        ck_assert_msg(kit_got == (expected), "%s: %s (%s)", #call, certreg_status_text(kit_got), \
                      (e) ? certreg_estimator_error(e)->text : "");                              \
    } while (0)
#define KIT_OK(e, call) KIT_STATUS(e, call, CERTREG_OK)

/* The message of an error contains a word: the field that is to blame, or the remedy. */
#define KIT_SAYS(error, word)                                                                    \
    do {                                                                                         \
        const char *const kit_said = (error)->text;                                              \
        ck_assert_msg(strstr(kit_said, word) != NULL, "\"%s\" does not say %s", kit_said, word); \
    } while (0)

/* A call that is refused, by a message with a word; the error is the estimator's, or `why`. */
#define KIT_REFUSED(e, call, expected, word)        \
    do {                                            \
        KIT_STATUS(e, call, expected);              \
        KIT_SAYS(certreg_estimator_error(e), word); \
    } while (0)
#define KIT_UNMADE(why, call, expected, word) \
    do {                                      \
        ck_assert_int_eq(call, expected);     \
        KIT_SAYS(why, word);                  \
    } while (0)

/* ---- handles */
static inline void kit_destroy_estimator(void *e)
{
    certreg_estimator_destroy(e);
}

static inline void kit_destroy_solver(void *s)
{
    certreg_solver_destroy(s);
}

static inline void kit_destroy_bisection(void *b)
{
    certreg_bisection_destroy(b);
}

static inline void kit_close_backend(void *b)
{
    certreg_backend_close(b);
}

static inline certreg_backend *kit_backend(int32_t threads)
{
    certreg_backend *backend = NULL;
    ck_assert_int_eq(certreg_backend_open_cpu(threads, NULL, &backend), CERTREG_OK);
    kit_close_later(kit_close_backend, backend);
    return backend;
}

static inline certreg_estimator *kit_create(certreg_backend *backend, const certreg_model *m,
                                            const certreg_plan *p)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    ck_assert_msg(certreg_estimator_create(backend, m, p, &why, &e) == CERTREG_OK, "create: %s",
                  why.text);
    ck_assert_ptr_nonnull(e);
    kit_close_later(kit_destroy_estimator, e);
    return e;
}

/* On the host's memory, with its first input. */
static inline certreg_estimator *kit_begun(certreg_model m, certreg_plan p, const float *z,
                                           double sigma, uint64_t noise_id)
{
    certreg_estimator *e = kit_create(NULL, &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, z, sigma, noise_id));
    return e;
}

static inline void kit_open_solver(certreg_solver **solver, certreg_bisection **bisection)
{
    ck_assert_int_eq(certreg_solver_create(NULL, NULL, solver), CERTREG_OK);
    kit_close_later(kit_destroy_solver, *solver);
    ck_assert_int_eq(certreg_bisection_create(NULL, NULL, bisection), CERTREG_OK);
    kit_close_later(kit_destroy_bisection, *bisection);
}

/* In a program without KIT_MAIN. */
static inline void kit_close_solver(certreg_solver *solver, certreg_bisection *bisection)
{
    certreg_bisection_destroy(bisection);
    certreg_solver_destroy(solver);
}

/* ---- certificates */
/* The certificate of one question. */
static inline certreg_certificate kit_ask(certreg_estimator *e, size_t samples, certreg_question q)
{
    certreg_certificate c = kit_certificate();
    KIT_OK(e, certreg_certify(e, samples, &q, 1, &c));
    ck_assert_int_eq(c.status, CERTREG_OK);
    return c;
}

/* No number of it could be taken for a proof, nor averaged with others. */
static inline int kit_is_blank(const certreg_certificate *c, certreg_status status)
{
    return c->status == status && c->outcome == CERTREG_OUTCOME_ABSTAINED && c->radius == 0 &&
           c->output_lo == -INFINITY && c->output_hi == INFINITY && isnan(c->prediction) &&
           isnan(c->estimate) && isnan(c->tolerance) && isnan(c->alpha);
}

/* A certificate that looks like a proof, for a call to overwrite. */
static inline certreg_certificate kit_stale(void)
{
    certreg_certificate c = kit_certificate();
    c.outcome = CERTREG_OUTCOME_CERTIFIED, c.radius = 7;
    return c;
}

/* A question that is refused, by a message with these words: its certificate claims nothing. */
static inline void kit_refuses(certreg_estimator *e, size_t samples, certreg_question q,
                               certreg_status status, const char *words)
{
    certreg_certificate c = kit_stale();
    const certreg_status got = certreg_certify(e, samples, &q, 1, &c);
    ck_assert_msg(got == status, "%s, not %s, where it should say: %s", certreg_status_text(got),
                  certreg_status_text(status), words);
    KIT_SAYS(certreg_estimator_error(e), words);
    ck_assert_msg(kit_is_blank(&c, status), "%s: the certificate claims something", words);
}

/* ---- records */
/* At most `room` bytes; returns how many they are. */
static inline size_t kit_export(certreg_estimator *e, unsigned char *record, size_t room)
{
    KIT_OK(e, certreg_estimator_export(e, record, &room));
    return room;
}

/* `all` samples everything, `some` the first few; each takes in what the other has, and then both
 * records are the same bytes. */
static inline void kit_exchange_records(certreg_estimator *all, certreg_estimator *some,
                                        size_t samples, size_t few, size_t outputs)
{
    const size_t room = 4 * outputs * samples + 256;
    unsigned char *a = malloc(room), *b = malloc(room);
    KIT_OK(all, certreg_estimator_sample(all, 0, samples));
    KIT_OK(some, certreg_estimator_sample(some, 0, few));
    /* overlaps have to agree */
    KIT_OK(all, certreg_estimator_import(all, b, kit_export(some, b, room)));
    const size_t bytes = kit_export(all, a, room);
    KIT_OK(some, certreg_estimator_import(some, a, bytes));
    ck_assert_uint_eq(kit_export(some, b, room), bytes);
    ck_assert_mem_eq(a, b, bytes);
    free(a), free(b);
}

#endif
