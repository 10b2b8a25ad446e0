/* What a queue costs: the library's time and the calls of the model for a table of 1,000 inputs,
 * beside an estimator that certifies one after another. The model takes almost no time: processor
 * time, the least of some runs in turn. Usage: bench_queue [tables.md] */
#define CERTREG_EXPERIMENTAL 1
#include "bench.h"
#include <certreg/queue.h>

enum { TABLE = 1000, INPUTS = 16, MOST = 300, REPEATS = 15 };
static float table[TABLE][INPUTS];

static int model(void *user, const certreg_batch *b)
{
    ++*(size_t *)user;
    for (size_t i = b->used_first; i < b->used_first + b->used_count; i++)
        b->y[i] = 0.4f * b->x[i * INPUTS] + 0.1f * b->x[i * INPUTS + 1] * b->x[i * INPUTS + 2];
    return 0;
}

static void certify(certreg_estimator *e, certreg_queue *q, const certreg_target *t)
{
    const certreg_question ask = {.struct_size = sizeof ask, .tolerance = 0.2, .target = t};
    certreg_certificate c = {.struct_size = sizeof c};
    certreg_queue_result r = {.struct_size = sizeof r, .room = 1, .certificates = &c};
    certreg_queue_input in = {
        .struct_size = sizeof in, .sigma = 0.25, .questions = &ask, .count = 1};
    for (size_t i = 0; i < TABLE && !q; i++)
        bench_must(e, certreg_estimator_begin(e, table[i], in.sigma, i) ||
                          certreg_certify(e, MOST, &ask, 1, &c));
    for (size_t next = 0, ended = 0; ended < TABLE && q;) {
        for (int32_t full = 0; next < TABLE && !full; next += !full) {
            in.tag = in.noise_id = next;
            in.z = table[next];
            if (certreg_queue_add(q, &in, &full)) exit(1);
        }
        if (certreg_queue_run(q)) exit(1);
        while (!certreg_queue_take(q, &r) && r.state) ended++;
    }
}

int main(int argc, char **argv)
{
    static const certreg_target t = {.struct_size = sizeof t, .radius = 0.1, .growth = 1.5};
    size_t calls = 0, used[2];
    const certreg_model m = {
        .struct_size = sizeof m, .eval = model, .user = &calls, .inputs = INPUTS, .outputs = 1};
    const certreg_plan p = {.struct_size = sizeof p, .seed = 1, .max_samples = MOST, .pilot = 30};
    const certreg_queue_plan qp = {.struct_size = sizeof qp, .capacity = 256 / 6};
    certreg_plan audited = p;
    certreg_estimator *e;
    certreg_queue *q, *other;
    audited.audit = CERTREG_AUDIT_DEFAULT;
    if (certreg_estimator_create(NULL, &m, &p, NULL, &e)) return 1;
    if (certreg_queue_create(NULL, &m, &p, &qp, NULL, &q)) return 1;
    if (certreg_queue_create(NULL, &m, &audited, &qp, NULL, &other)) return 1;
    for (size_t i = 0; i < 3 * TABLE; i++) table[i / 3][i % 3] = (float)(i * 5 % 31) / 16 - 1;
    bench_open(argc, argv);
    bench_begin("queue", "| 1,000 inputs | one by one | queue | ratio | calls | calls, queue |");
    for (int k = 0; k < 3; k++) { /* the last: a queue, and one that asks again */
        double us[2] = {INFINITY, INFINITY};
        for (int turn = 0; turn < 2 * REPEATS; turn++) {
            const double begun = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
            calls = 0;
            certreg_queue *first = k == 2 ? q : NULL, *second = k == 2 ? other : q;
            certify(e, turn % 2 ? second : first, k == 1 ? &t : NULL);
            const double spent = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begun;
            us[turn % 2] = fmin(us[turn % 2], 1e6 * spent / TABLE);
            used[turn % 2] = calls;
        }
        bench_print("| %s | %.1f µs | %.1f µs | %.2f | %zu | %zu |\n",
                    k == 0   ? "300 samples"
                    : k == 1 ? "a target"
                             : "300 samples; queues without and with an audit",
                    us[0], us[1], us[1] / us[0], used[0], used[1]);
    }
    bench_end("queue");
    bench_close();
}
