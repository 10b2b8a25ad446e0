/* Engines that break the rules of certreg_eval. Each ends in a status whose message names the
 * fault: in the check of the model, in a run with its audit, and in a queue. What api_model_check
 * and api_audit judge depends on the values; here the engine writes what it should not, or where.
 * Calls on handles from a callback are in api_misuse, exceptions in cpp/handles.cpp. */
#include "support/queue_kit.h"

enum { BATCH = 64, SAMPLES = 640 };
static const float z[D] = {1, 0.5f, -0.25f};
static const certreg_question plain = {.struct_size = sizeof plain, .tolerance = 1};

/* ---- engines of the model x[0] + x[1], x[0] + 2 x[1] */
static float output(const float *x, size_t k)
{
    return x[0] + (float)(k + 1) * x[1];
}

/* Writes outputs k < columns of rows i < rows to y[at]. */
#define ENGINE(name, rows, columns, at)                                                \
    static int name(void *user, const certreg_batch *b)                                \
    {                                                                                  \
        (void)user;                                                                    \
        for (size_t i = 0; i < (rows); i++)                                            \
            for (size_t k = 0; k < (columns); k++) b->y[at] = output(b->x + i * D, k); \
        return 0;                                                                      \
    }

ENGINE(right, b->rows, 2, 2 * i + k)
ENGINE(more_columns, b->rows, 3, 3 * i + k)
ENGINE(more_planes, b->rows, 8, k * b->rows + i)
ENGINE(one_more_row, b->rows + 1, 2, 2 * i + k)
ENGINE(planes, b->rows, 2, k * b->rows + i)
ENGINE(rows_reversed, b->rows, 2, 2 * (b->rows - 1 - i) + k)
ENGINE(half_of_the_rows, b->rows / 2, 2, 2 * i + k)

static int calls; /* of the present run */

static int more_columns_later(void *user, const certreg_batch *b)
{
    return ++calls > 4 ? more_columns(user, b) : right(user, b);
}

static int not_a_number(void *user, const certreg_batch *b)
{
    right(user, b);
    b->y[1] = NAN;
    return 0;
}

static float *inputs_of(const certreg_batch *b)
{
    return (float *)(uintptr_t)b->x;
}

/* Each row is doubled before it is read, and halved. */
static int in_place(void *user, const certreg_batch *b)
{
    for (size_t i = 0; i < b->rows * D; i++) inputs_of(b)[i] *= 2;
    right(user, b);
    for (size_t i = 0; i < b->rows * 2; i++) b->y[i] /= 2;
    return 0;
}

static int over_the_next_row(void *user, const certreg_batch *b)
{
    for (size_t i = D; i < b->rows * D; i++) inputs_of(b)[i] = 0.75f * (b->x[i] + b->x[i - D]);
    return right(user, b);
}

static int behind_the_inputs(void *user, const certreg_batch *b)
{
    inputs_of(b)[BATCH * D] = 0;
    return right(user, b);
}

/* Keeps its pointers, and writes in the next call. */
static certreg_batch kept;

static int late(void *user, const certreg_batch *b)
{
    static float x[BATCH * D];
    right(user, &kept);
    kept = *b;
    kept.x = memcpy(x, b->x, b->rows * D * sizeof *x);
    return 0;
}

/* Calls its own handle, and returns the status. */
static certreg_estimator *estimator;
static certreg_queue *queue;

static int calls_back(void *user, const certreg_batch *b)
{
    right(user, b);
    return queue ? certreg_queue_run(queue) : certreg_estimator_sample(estimator, 0, 1);
}

/* ---- a run with its audit, and in a queue */
static setting with(certreg_eval engine)
{
    kept.rows = 0;
    calls = 0;
    queue = NULL;
    return (setting){.batch = BATCH, .samples = SAMPLES, .outputs = 2, .audit = 1, .eval = engine};
}

static void begin(certreg_eval engine)
{
    estimator = open_as(with(engine), 0);
    KIT_OK(estimator, certreg_estimator_begin(estimator, z, 0.5, 0));
}

static certreg_certificate run(certreg_eval engine, certreg_error *why)
{
    certreg_certificate c = kit_stale();
    begin(engine);
    certreg_certify(estimator, SAMPLES, &plain, 1, &c);
    *why = *certreg_estimator_error(estimator);
    return c;
}

static certreg_certificate run_queue(certreg_eval engine, certreg_error *why)
{
    answer a;
    const certreg_queue_input in = input_of(0, z, &plain, NULL);
    queue = open_as(with(engine), 1);
    add(queue, &in);
    while (!take(queue, &a)) certreg_queue_run(queue);
    *why = a.error;
    return *a.c;
}

/* ---- what they say */
enum { FAILED = CERTREG_E_MODEL_FAILED, MISSING = CERTREG_E_NOT_FINITE };
static const struct {
    certreg_eval engine;
    certreg_status by_check, by_run;
    const char *check_says, *run_says;
} engines[] = {
    {right, 0, 0, "", ""},
    {in_place, 0, 0, "", ""}, /* harmless: each call has inputs of its own */
    {more_columns_later, FAILED, FAILED, "beyond its outputs (1 row of 2 columns)",
     "beyond its outputs"},
    {more_planes, FAILED, FAILED, "beyond its outputs", "beyond its outputs"},
    {one_more_row, FAILED, FAILED, "beyond its outputs", "beyond its outputs"},
    {behind_the_inputs, FAILED, FAILED, "beyond its inputs", "beyond its inputs"},
    {planes, FAILED, FAILED, "read and write the batch row by row",
     "write the rows in their order"},
    {rows_reversed, FAILED, FAILED, "other rows are beside it", "write the rows in their order"},
    {over_the_next_row, FAILED, FAILED, "in another order", "rows seem to see each other"},
    {half_of_the_rows, MISSING, MISSING, "row 2 of 4 unwritten", "sample 32"},
    {late, MISSING, MISSING, "wait for its outputs, before it returns", "left unwritten"},
    {not_a_number, FAILED, MISSING, "turns NaN", "output 1 is nan"},
    {calls_back, FAILED, FAILED, "returned 18", "returned 18"}, /* CERTREG_E_BUSY */
};

TEST_ROWS(wrong_engines_end_in_statuses_that_name_the_fault, engines)
{
    const certreg_eval engine = engines[_i].engine;
    const certreg_status status = engines[_i].by_run;
    certreg_error why[2] = {{.struct_size = sizeof *why}};
    const certreg_certificate wanted = run(right, why),
                              found[] = {run_queue(engine, why), run(engine, why + 1)};
    ck_assert(wanted.radius > 0);
    if (strstr(engines[_i].run_says, "beyond")) /* recorded outputs may be overwritten */
        kit_refuses(estimator, 0, plain, CERTREG_E_WRONG_STATE, "begin");
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(why[i].status == status, "%s", why[i].text);
        KIT_SAYS(why + i, engines[_i].run_says);
        if (status) ck_assert(kit_is_blank(found + i, status));
        else ck_assert_mem_eq(found + i, &wanted, sizeof wanted);
    }
    begin(engine);
    KIT_REFUSED(estimator, certreg_model_check(estimator, 0, NULL), engines[_i].by_check,
                engines[_i].check_says);
}

KIT_MAIN("wrong engines")
