/* Compiled against this version's header, and against that of the next one that versions.sh makes.
 * It certifies, and prints every field that both know; what follows the answer in memory has to
 * stay. "versions NUMBER" sets the field of a question that the next version has. */
#include <certreg/certreg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int model(void *user, const certreg_batch *b)
{
    (void)user;
    for (size_t i = 0; i < b->rows; i++) b->y[i] = b->x[2 * i] - 2 * b->x[2 * i + 1];
    return 0;
}

struct answers {
    certreg_certificate of[2];
    unsigned char after[64];
};

static certreg_status certify(certreg_estimator *e, double next, struct answers *a)
{
    certreg_question ask[2] = {{.struct_size = sizeof ask[0], .tolerance = 0.5},
                               {.struct_size = sizeof ask[0], .tolerance = 1}};
#ifdef CERTREG_NEXT
    ask[0].next = ask[1].next = next;
#else
    (void)next;
#endif
    memset(a, 0xee, sizeof *a);
    for (int i = 0; i < 2; i++) a->of[i].struct_size = sizeof a->of[i];
    return certreg_certify(e, 2000, ask, 2, a->of);
}

int main(int argc, char **argv)
{
#ifdef CERTREG_CALLS_NEXT
    if (certreg_next() != CERTREG_VERSION_NUMBER) return 3;
#endif
    const float z[2] = {1, 0.5f};
    const certreg_model m = {.struct_size = sizeof m, .eval = model, .inputs = 2, .outputs = 1};
    const certreg_plan plan = {.struct_size = sizeof plan, .seed = 7, .max_samples = 2000};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    struct answers a;
    if (certreg_estimator_create(NULL, &m, &plan, &why, &e) ||
        certreg_estimator_begin(e, z, 0.25, 0))
        return 1;
    const certreg_status status = certify(e, argc > 1 ? atof(argv[1]) : 0, &a);
    printf("status %d %s\n", (int)status, status ? certreg_estimator_error(e)->text : "");
    for (int i = 0; i < 2 && !status; i++)
        printf("radius %a prediction %a samples %llu question %llx\n", a.of[i].radius,
               a.of[i].prediction, (unsigned long long)a.of[i].samples,
               (unsigned long long)a.of[i].question_digest);
    certreg_estimator_destroy(e);
#ifdef CERTREG_NEXT
    if (!status && (a.of[0].next != 0 || a.of[1].next != 0)) return 4;
#endif
    for (size_t i = 0; i < sizeof a.after; i++)
        if (a.after[i] != 0xee) return 5;
    return 0;
}
