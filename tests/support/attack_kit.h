/* Attacks on models whose breaking radius is known, for tests of the public interface. */
#ifndef SUPPORT_ATTACK_KIT_H
#define SUPPORT_ATTACK_KIT_H
#include "support/api_kit.h"
#include <certreg/attack.h>

/* A model of the noisy inputs, and what is to happen at one of its batches, counted from 1. */
typedef struct victim {
    double (*output)(const float *x, size_t inputs);
    size_t batches, rows; /* so far; rows: those that were used */
    size_t cancel_at, fail_at, skip_at, ask_at;
    void (*ask)(struct victim *);
    certreg_estimator *e;
    certreg_attack *a;
} victim;

static inline int victim_model(void *user, const certreg_batch *b)
{
    victim *v = user;
    v->batches++;
    v->rows += b->used_count;
    if (v->batches == v->ask_at) v->ask(v);
    if (v->batches == v->fail_at) return 42;
    for (size_t i = b->used_first; i < b->used_first + b->used_count; i++)
        for (size_t k = 0; k < b->columns && v->batches != v->skip_at; k++)
            b->y[i * b->columns + k] = (float)v->output(b->x + i * b->inputs, b->inputs);
    if (v->batches == v->cancel_at) certreg_estimator_cancel(v->e);
    return 0;
}

/* 10 beyond a face at 1 along the first input, else 0. */
static inline double beyond_face(const float *x, size_t inputs)
{
    (void)inputs;
    return x[0] > 1 ? 10 : 0;
}

static inline void attack_close(void *a)
{
    certreg_attack_destroy(a);
}

static inline certreg_attack *attack_on(certreg_estimator *e, size_t max_calls)
{
    const certreg_attack_plan p = {.struct_size = sizeof p, .max_calls = max_calls};
    certreg_error why = {.struct_size = sizeof why};
    certreg_attack *a = NULL;
    ck_assert_msg(!certreg_attack_create(e, &p, &why, &a), "%s", why.text);
    kit_close_later(attack_close, a);
    return a;
}

static inline certreg_attack_options attack_options(size_t calls)
{
    return (certreg_attack_options){
        .struct_size = sizeof(certreg_attack_options), .calls = calls, .alpha = 0.1};
}

static inline certreg_attack_result attack_result(void)
{
    return (certreg_attack_result){
        .struct_size = sizeof(certreg_attack_result), .outcome = 7, .radius = 0};
}

#define ATTACK_STATUS(a, call, expected)                                                         \
    do {                                                                                         \
        const certreg_status kit_got = (call);                                                   \
        ck_assert_msg(kit_got == (expected), "%s: %s (%s)", #call, certreg_status_text(kit_got), \
                      (a) ? certreg_attack_error(a)->text : "");                                 \
    } while (0)
#define ATTACK_OK(a, call) ATTACK_STATUS(a, call, CERTREG_OK)

static inline certreg_attack_result attack_found(certreg_attack *a, certreg_question q,
                                                 certreg_attack_options o, float *shift)
{
    certreg_attack_result r = attack_result();
    ATTACK_OK(a, certreg_attack_run(a, &q, &o, shift, &r));
    return r;
}

/* Claims nothing. */
static inline int is_nothing(const certreg_attack_result *r)
{
    return r->outcome == CERTREG_ATTACK_NOT_BROKEN && r->radius == INFINITY;
}

#endif
