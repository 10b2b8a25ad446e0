/* Records as bytes: an estimator with all settings that a record depends on, and its record. */
#ifndef SUPPORT_RECORD_BYTES_H
#define SUPPORT_RECORD_BYTES_H
#include "support/api_kit.h"

enum { INPUTS = 3, CAPACITY = 400, BATCH = 16, ROOM = 8192 };
static const float input[INPUTS] = {0.5f, -1, 3}, other_input[INPUTS] = {0.5f, -1, 3.25f};
static const float scale[INPUTS] = {1, 2, 0.5f}, other_scale[INPUTS] = {1, 2, 0.25f};

typedef struct bytes {
    unsigned char at[ROOM];
    size_t count;
} bytes;

static size_t rows_asked;

static inline int polynomial(void *user, const certreg_batch *b)
{
    (void)user;
    rows_asked += b->used_count;
    for (size_t i = 0; i < b->rows; i++) {
        const float *x = b->x + i * b->inputs;
        for (size_t k = 0; k < b->columns; k++)
            b->y[i * b->columns + k] = x[0] * x[1] + x[2] * (float)(k + 1);
    }
    return 0;
}

typedef struct setting {
    certreg_model model;
    certreg_plan plan;
    const float *z;
    double sigma;
    uint64_t stream, level;
} setting;

static inline setting usual(void)
{
    setting s = {kit_model(polynomial, NULL, INPUTS, 2), kit_plan(CAPACITY), input, 0.25, 7, 0};
    s.model.batch = BATCH, s.model.scale = scale;
    return s;
}

static inline certreg_estimator *make(const setting *s)
{
    certreg_estimator *made = kit_create(NULL, &s->model, &s->plan);
    KIT_OK(made, certreg_estimator_begin_level(made, s->z, s->sigma, s->stream, s->level));
    return made;
}

static inline void save(certreg_estimator *from, bytes *to)
{
    memset(to, 0, sizeof *to);
    to->count = ROOM;
    KIT_OK(from, certreg_estimator_export(from, to->at, &to->count));
}

static certreg_estimator *e;
static bytes before, after;

static inline void holds_what_was_before(certreg_estimator *of)
{
    save(of, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
}

static inline void setup(void)
{
    const setting s = usual();
    e = make(&s);
    rows_asked = 0;
}

static const int32_t kinds[2] = {CERTREG_OUTPUT_REAL, CERTREG_OUTPUT_ANGLE};

#endif
