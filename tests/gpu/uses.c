/* What programs do with a device beside a certificate of one input: records, masks, audits, queues
 * with alternatives, services. All have the CPU's bits, since the host computes the model, between
 * a copy from the device and one to it. */
#include "backend/backend.h"
#include "gpu/contract.h"
#include "support/queue_kit.h"
#include <certreg/service.h>

enum { INPUTS = 7, UNITS = 4, SAMPLES = 700, SERVED = 11, TICKS = 3 };
static const float z_of[INPUTS] = {1, -2, 0.5f, 4, 0, 1, -1}, scale[INPUTS] = {1, 0, 1, 1, 2, 1, 1},
                   zero[INPUTS];

/* ---- the CPU, and the backend of the test */
static certreg_backend *sides[2], *(*open_test)(void);
static int is_wrong; /* rows of a whole batch see how many they are */

static void set_sides(void)
{
    sides[0] = cr_backend_default(), sides[1] = open_test(), is_wrong = 0;
}

/* For create: the CPU's is NULL in a process that was forked. */
static certreg_backend *opened(int side)
{
    return side ? sides[1] : NULL;
}

static certreg_status compute(certreg_backend *of, const float *x, size_t inputs, float *y,
                              size_t rows)
{
    float x_here[MOST_ROWS * INPUTS], y_here[MOST_ROWS];
    certreg_status status = of->ops->fetch(of, x_here, x, rows * inputs * sizeof *x);
    for (size_t i = 0; i < rows; i++) {
        y_here[i] = is_wrong && rows > 7 ? 3 : 0;
        for (size_t j = 0; j < inputs; j++)
            if (!isnan(x_here[i * inputs + j])) /* not hidden */
                y_here[i] += x_here[i * inputs + j] / (float)(j + 1);
    }
    if (!status) status = of->ops->store(of, y, y_here, rows * sizeof *y);
    return status ? status : of->ops->wait(of);
}

static int evaluate(void *user, const certreg_batch *b)
{
    certreg_backend *of = user;
    ck_assert_int_eq(b->device, of->ops->device);
    ck_assert(b->device < 0 || !(((uintptr_t)b->x | (uintptr_t)b->y) % 256));
    return (int)compute(of, b->x, b->inputs, b->y, b->rows);
}

static certreg_estimator *begun(int side, const certreg_masks *masks, certreg_plan p)
{
    const certreg_model m = MODEL(.eval = evaluate, .user = sides[side], .inputs = INPUTS,
                                  .outputs = 1, .batch = 64, .scale = scale, .masks = masks);
    p.struct_size = sizeof p, p.seed = 11, p.max_samples = SAMPLES;
    certreg_estimator *e = kit_create(opened(side), &m, &p);
    KIT_OK(e, certreg_estimator_begin(e, p.flags & CERTREG_PLAN_EPISODE ? zero : z_of, 0.5, 3));
    return e;
}

/* ---- records, masks, audits */
static const int32_t units[INPUTS] = {0, 2, 3, 0, 1, -1, 2}; /* unit 0 has the features 0 and 3 */
static const double each[UNITS] = {0.375, 0.25, 0, 0.125};
static const certreg_masks laws[] = {
    {.struct_size = 0}, /* none */
    {.struct_size = sizeof *laws, .marker = -7, .units = UNITS, .unit = units, .shown = 1},
    {.struct_size = sizeof *laws,
     .marker = NAN,
     .units = UNITS,
     .unit = units,
     .probability = each}};

TEST_ROWS(device_records_are_those_of_the_cpu_with_masks_too, laws)
{
    static float x[2][SAMPLES][INPUTS];
    const certreg_question any = QUESTION(.tolerance = 30);
    certreg_certificate c[2], all[2] = {kit_certificate(), kit_certificate()};
    certreg_estimator *e[2];
    for (int s = 0; s < 2; s++) {
        certreg_backend *of = sides[s];
        void *there;
        e[s] = begun(s, _i ? laws + _i : NULL, (certreg_plan){.audit = 0});
        ck_assert(!of->ops->alloc(of, sizeof *x, &there));
        KIT_OK(e[s], certreg_estimator_draw(e[s], 0, SAMPLES, there));
        ck_assert(!of->ops->fetch(of, x[s], there, sizeof *x));
        of->ops->free(of, there);
    }
    ck_assert_mem_eq(x + 1, x, sizeof *x);
    kit_exchange_records(e[0], e[1], SAMPLES, 300, 1);
    for (int s = 0; s < 2; s++) {
        c[s] = kit_ask(e[s], SAMPLES, QUESTION(.tolerance = _i == 1 ? 9 : 4, .faults = _i > 0));
        if (laws[_i].shown) KIT_OK(e[s], certreg_certify_masks(e[s], z_of, &any, all + s));
    }
    ck_assert(c->radius > 0 && all->faults == laws[_i].shown);
    ck_assert_mem_eq(c + 1, c, sizeof *c);
    ck_assert_mem_eq(all + 1, all, sizeof *all);
}

TEST_TIMES(device_audits_find_what_they_find_on_the_cpu, 2)
{
    certreg_certificate c[2] = {kit_certificate(), kit_certificate()};
    const certreg_question q = QUESTION(.tolerance = 2);
    double change[2];
    is_wrong = _i;
    for (int s = 0; s < 2; s++) {
        certreg_estimator *e = begun(s, NULL, (certreg_plan){.audit = CERTREG_AUDIT_DEFAULT});
        KIT_STATUS(e, certreg_certify(e, SAMPLES, &q, 1, c + s),
                   is_wrong ? CERTREG_E_MODEL_FAILED : CERTREG_OK);
        change[s] = certreg_estimator_error(e)->value;
    }
    ck_assert_double_eq_tol(change[0], is_wrong ? 3 : 0, 1e-5);
    ck_assert_double_eq(change[1], change[0]);
    ck_assert(is_wrong ? kit_is_blank(c, CERTREG_E_MODEL_FAILED) : c->radius > 0 && c->audited);
    ck_assert_mem_eq(c + 1, c, sizeof *c);
}

/* ---- queues: two inputs, one of which has alternatives */
static void queue(int side, size_t out, answer found[2])
{
    static const float z[] = {0.2f, -0.3f, 1, 0.5f, -0.3f, 1, 0.2f, -0.3f, 0.8f};
    static const double margins[] = {0.1, 0.05};
    const certreg_question ask = QUESTION(.tolerance = 2);
    const certreg_alternatives set =
        QUEUE_SET(.count = 2, .z = z + D, .margins = margins, .first_noise_id = 1000);
    const certreg_queue_input in[] = {input_of(0, z, &ask, NULL), input_of(1, z, &ask, &set)};
    certreg_backend *of = sides[side];
    certreg_queue *q =
        QUEUE(.backend = opened(side), .eval = evaluate, .user = of, .calls = out, .audit = 1);
    certreg_queue_call call[2];
    answer a;
    void *y[2];
    for (int i = 0; i < 2; i++)
        ck_assert(add(q, in + i) && !of->ops->alloc(of, MOST_ROWS * sizeof(float), y + i));
    for (size_t taken = 0, n; taken < 2;) {
        if (!out) ck_assert_int_eq(certreg_queue_run(q), CERTREG_OK);
        for (n = 0; n < out && (call[n] = next_call(q, 0)).state == CERTREG_CALL_ROWS;) n++;
        while (n-- > 0) {
            ck_assert(!compute(of, call[n].x, D, y[n], call[n].rows));
            ck_assert_int_eq(certreg_queue_give(q, call[n].ticket, y[n], 0, NULL), CERTREG_OK);
        }
        for (; take(q, &a); taken++) found[a.r.tag] = a;
    }
    for (int i = 0; i < 2; i++) of->ops->free(of, y[i]);
}

/* By the model's callback, and with two calls out, whose outputs come from the device. */
TEST_TIMES(device_queues_with_alternatives_are_those_of_the_cpu, 2)
{
    answer here[2], there[2];
    queue(0, 0, here), queue(1, _i ? 2 : 0, there);
    for (int i = 0; i < 2; i++) {
        ck_assert(!here[i].r.status && here[i].c->radius > 0 && here[i].c->audited >= 16);
        ck_assert_mem_eq(there[i].c, here[i].c, sizeof *here->c);
    }
    ck_assert(here[1].r.proved == 3 && there[1].r.proved == 3);
    ck_assert(here[1].c->radius < here->c->radius && here[1].limiting[0] == there[1].limiting[0]);
    ck_assert_mem_eq(there[1].each, here[1].each, 3 * sizeof *here->each);
}

/* ---- services: by fresh noise, by pairs, and of an episode */
static void serve(int side, int kind, float noisy[INPUTS], double action[TICKS])
{
    const certreg_serving fresh =
        STRUCT(certreg_serving, .samples = SERVED, .failure_rate = 0.1, .pairs = kind == 1);
    const int is_episode = kind == 2;
    const certreg_plan plan = {.pilot = is_episode ? SIZE_MAX : 0,
                               .flags = is_episode ? CERTREG_PLAN_EPISODE : 0};
    const certreg_question q = QUESTION(.tolerance = 4, .serving = is_episode ? NULL : &fresh,
                                        .prediction = is_episode ? action : NULL); /* 0 */
    const certreg_service_plan how = STRUCT(certreg_service_plan, .ticks = (size_t)is_episode);
    certreg_error why = {.struct_size = sizeof why};
    certreg_service *s;
    certreg_estimator *e = begun(side, NULL, plan);
    const certreg_certificate c = kit_ask(e, SAMPLES, q);
    ck_assert_msg(!certreg_service_create(e, &q, &c, &how, &why, &s), "%s", why.text);
    ck_assert_int_eq(certreg_service_start(s, 77), CERTREG_OK);
    for (int t = 0; t < (is_episode ? 1 : TICKS); t++) {
        certreg_tick tick = {.struct_size = sizeof tick};
        const certreg_status status = is_episode ? certreg_service_sense(s, z_of, noisy, &tick)
                                                 : certreg_service_act(s, z_of, action + t, &tick);
        ck_assert_msg(!status, "%s", certreg_service_error(s)->text);
        ck_assert(tick.source == CERTREG_SOURCE_ANSWERED && tick.left > 0);
    }
    certreg_service_destroy(s);
}

TEST_TIMES(device_services_act_and_sense_as_on_the_cpu, 3)
{
    float noisy[2][INPUTS] = {{0}};
    double action[2][TICKS] = {{0}};
    for (int s = 0; s < 2; s++) serve(s, _i, noisy[s], action[s]);
    ck_assert(_i == 2 ? noisy[0][0] != z_of[0] : action[0][0] != action[0][1]);
    ck_assert_mem_eq(noisy[1], noisy[0], sizeof *noisy);
    ck_assert_mem_eq(action[1], action[0], sizeof *action);
}

void contract_add_uses(TCase *to, certreg_backend *(*open_one)(void))
{
    open_test = open_one, kit_open.wanted = 1;
    tcase_add_checked_fixture(to, set_sides, kit_close_all);
    kit_add_tests(to);
}
