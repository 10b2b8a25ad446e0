/* What tests of queues share: a model, its estimators and queues, and ways to compute and take. */
#ifndef SUPPORT_QUEUE_KIT_H
#define SUPPORT_QUEUE_KIT_H
#include "support/api_kit.h"
#include <certreg/queue.h>

#define QUEUE_SET(...) STRUCT(certreg_alternatives, __VA_ARGS__)
#define TARGET(...) STRUCT(certreg_target, .growth = 1.5, __VA_ARGS__)
enum { D = 3, QUESTIONS = 2, ALTERNATIVES = 6, MEMBERS, CALLS = 3, MOST_ROWS = 1024 };

/* ---- the model */
static const float failing = -77; /* of the last feature, a category: the output is NaN */

static inline float row_of(const float *x)
{
    return x[2] == failing ? NAN : x[0] + 0.3f * x[1] * x[1] + x[2];
}

/* `user` counts the rows that are used; NULL: nothing does. */
static inline int rows_of(void *user, const certreg_batch *b)
{
    size_t *rows = user;
    if (rows) *rows += b->used_count;
    for (size_t i = b->used_first; i < b->used_first + b->used_count; i++)
        b->y[i] = row_of(b->x + i * D);
    return 0;
}

/* ---- estimators and queues */
typedef struct setting {                           /* 0: the value behind it */
    size_t batch, capacity, calls, samples, pilot; /* 64, 10, the callback, 250, the plan's */
    size_t outputs;                                /* 1 */
    uint32_t flags, audit;
    uint64_t seed; /* 5 */
    certreg_backend *backend;
    certreg_eval eval; /* rows_of */
    void *user;        /* of both callbacks */
    certreg_queue_keep keep;
    const float *scale; /* 1, 1/2, 0 */
} setting;
#define ESTIMATOR(...) open_as((setting){__VA_ARGS__}, 0)
#define QUEUE(...) open_as((setting){__VA_ARGS__}, 1)

static inline void destroy_queue(void *q)
{
    certreg_queue_destroy(q);
}

static inline void *open_as(setting s, int is_queue)
{
    static const float half[D] = {1, 0.5f, 0};
    const certreg_model m = MODEL(.eval = s.eval ? s.eval : rows_of, .user = s.user, .inputs = D,
                                  .outputs = s.outputs ? s.outputs : 1,
                                  .batch = s.batch ? s.batch : 64,
                                  .scale = s.scale ? s.scale : half);
    const certreg_plan p = PLAN(.seed = s.seed ? s.seed : 5,
                                .max_samples = s.samples ? s.samples : 250, .pilot = s.pilot,
                                .audit = s.audit);
    const size_t open = s.capacity ? s.capacity : 10;
    const certreg_queue_plan plan = STRUCT(certreg_queue_plan, .flags = s.flags, .capacity = open,
                                           .calls = s.calls, .questions = QUESTIONS,
                                           .sets = (open + 1) / 2, .alternatives = ALTERNATIVES,
                                           .keep = s.keep, .keep_user = s.user);
    certreg_queue *q;
    if (!is_queue) return kit_create(s.backend, &m, &p);
    ck_assert_int_eq(certreg_queue_create(s.backend, &m, &p, &plan, NULL, &q), CERTREG_OK);
    kit_close_later(destroy_queue, q);
    return q;
}

/* With a margin a target is rounded up, so that about equal ones share their tests. */
static inline double goal_of(double margin, double target, double sigma)
{
    const double sum = margin + target, step = exp2(ceil(32 * log2(sum / sigma)) / 32);
    return nextafter(margin > 0 ? fmax(sum, sigma * step) : target, INFINITY);
}

/* ---- inputs */
static inline certreg_queue_input input_of(uint64_t tag, const float *z, const certreg_question *q,
                                           const certreg_alternatives *a)
{
    return STRUCT(certreg_queue_input, .tag = tag, .z = z, .sigma = 0.5, .noise_id = tag,
                  .questions = q, .count = 1, .alternatives = a);
}

/* Returns 1 if the queue is not full. */
static inline int add(certreg_queue *q, const certreg_queue_input *in)
{
    int32_t full;
    ck_assert_msg(!certreg_queue_add(q, in, &full), "%s", certreg_queue_error(q)->text);
    return !full;
}

/* ---- computing and taking */
static inline certreg_queue_call next_call(certreg_queue *q, size_t least)
{
    certreg_queue_call c = {.struct_size = sizeof c};
    ck_assert_int_eq(certreg_queue_next(q, least, &c), CERTREG_OK);
    return c;
}

static inline void give(certreg_queue *q, const certreg_queue_call *c)
{
    float y[MOST_ROWS];
    for (size_t i = 0; i < c->used; i++) y[i] = row_of(c->x + i * D);
    ck_assert_int_eq(certreg_queue_give(q, c->ticket, y, 0, NULL), CERTREG_OK);
}

typedef struct answer {
    certreg_certificate c[QUESTIONS];
    certreg_queue_result r;
    certreg_alternative_result each[QUESTIONS * MEMBERS];
    certreg_error error;
    uint32_t limiting[QUESTIONS];
} answer;

/* Without room a result stays. Returns 0 if none is ready. */
static inline int take(certreg_queue *q, answer *a)
{
    *a = (answer){.c = {{.struct_size = sizeof *a->c}},
                  .each = {{.struct_size = sizeof *a->each}},
                  .error = {.struct_size = sizeof a->error}};
    a->r = STRUCT(certreg_queue_result, .error = &a->error, .certificates = a->c,
                  .limiting = a->limiting, .alternatives = a->each);
    const certreg_status status = certreg_queue_take(q, &a->r);
    ck_assert_int_eq(status, a->r.count ? CERTREG_E_SMALL_MEMORY : CERTREG_OK);
    a->r.room = a->r.count, a->r.alternative_room = a->r.alternative_count;
    ck_assert_int_eq(certreg_queue_take(q, &a->r), CERTREG_OK);
    ck_assert(a->error.status == a->r.status && a->c->status == a->r.status);
    ck_assert(!(a->c->radius > 0) || (a->c->outcome && !a->r.status));
    if (a->r.alternative_count && a->c->stop >= CERTREG_STOP_DEADLINE) /* it claims nothing */
        ck_assert(a->c->radius == 0 && !a->r.proved);
    return a->r.state;
}

/* Runs inputs, whose tags are their places, to the result of each. */
static inline void run_all(certreg_queue *q, const certreg_queue_input *in, size_t count,
                           answer *found)
{
    answer a;
    for (size_t next = 0, ended = 0; ended < count;) {
        while (next < count && add(q, in + next)) next++;
        ck_assert_msg(!certreg_queue_run(q), "%s", certreg_queue_error(q)->text);
        for (; take(q, &a); ended++) found[a.r.tag] = a;
    }
    ck_assert_int_eq(next_call(q, 0).state, CERTREG_CALL_IDLE);
}

#endif
