/* What the tests of the public interface share: a plain model, defaults, and the runner. Only the
 * public header is seen here. */
#ifndef API_KIT_H
#define API_KIT_H
#include "support/asks.h"
#include "support/suite.h"
#include <certreg/certreg.h>
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIT_ROWS(table) ((int)(sizeof(table) / sizeof(table)[0]))

/* ---- models */
/* The first column as it is, in every output: affine, so that everything about it is known. */
static inline int kit_identity(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->columns; k++) b->y[i * b->columns + k] = b->x[i * b->inputs];
    return 0;
}

static inline certreg_model kit_model(certreg_eval eval, void *user, size_t inputs, size_t outputs)
{
    certreg_model m = {
        .struct_size = sizeof m, .eval = eval, .user = user, .inputs = inputs, .outputs = outputs};
    return m;
}

static inline certreg_plan kit_plan(size_t max_samples)
{
    certreg_plan p = {.struct_size = sizeof p,
                      .constraints = CERTREG_CONSTRAINTS_ECGM,
                      .seed = 11,
                      .max_samples = max_samples};
    return p;
}

static inline certreg_question kit_question(double tolerance)
{
    certreg_question q = {.struct_size = sizeof q, .tolerance = tolerance};
    return q;
}

static inline certreg_certificate kit_certificate(void)
{
    certreg_certificate c = {.struct_size = sizeof c};
    return c;
}

static inline certreg_estimator *kit_create(certreg_backend *backend, const certreg_model *m,
                                            const certreg_plan *p)
{
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    ck_assert_msg(certreg_estimator_create(backend, m, p, &why, &e) == CERTREG_OK, "create: %s",
                  why.text);
    ck_assert_ptr_nonnull(e);
    return e;
}

/* Status of the last call on an estimator, with its sentence where it is not the expected one. */
#define KIT_STATUS(e, call, expected)                                                            \
    do {                                                                                         \
        const certreg_status kit_got = (call);                                                   \
        ck_assert_msg(kit_got == (expected), "%s: %s (%s)", #call, certreg_status_text(kit_got), \
                      (e) ? certreg_estimator_error(e)->text : "");                              \
    } while (0)
#define KIT_OK(e, call) KIT_STATUS(e, call, CERTREG_OK)

/* Whose record is handed on: at most `room` bytes; how many they are. */
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
    KIT_OK(all, certreg_estimator_import(all, b, kit_export(some, b, room))); /* overlaps have to
                                                                                 agree */
    const size_t bytes = kit_export(all, a, room);
    KIT_OK(some, certreg_estimator_import(some, a, bytes));
    ck_assert_uint_eq(kit_export(some, b, room), bytes);
    ck_assert_mem_eq(a, b, bytes);
    free(a), free(b);
}

#endif
