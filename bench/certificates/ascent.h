/* ascent.h: gradient ascent towards the shift of least norm that moves T out of the tolerance on
 * one side. */
#ifndef BENCH_ASCENT_H
#define BENCH_ASCENT_H
#include "../../examples/engines/gradient.h"
#include "target.h"

enum { ASCENT_ROWS = 256 };

struct ascent {
    struct gradient *gradient;
    struct desk noise;
    float *x;      /* [ASCENT_ROWS][DIGITS_PIXELS] */
    double length; /* of the network's answers, running mean */
    uint64_t next; /* sample of the noise stream */
    size_t calls;  /* rows whose gradient was taken */
};

struct climb {                      /* one start on one side */
    int side;                       /* 1: T above the tolerance, -1: below */
    float direction[DIGITS_PIXELS]; /* of length 1, or 0: then the first gradient gives it */
    double radius;                  /* at which T is thought to be about to leave */
    size_t steps;                   /* taken so far */
};

int ascent_open(struct lab *lab, struct ascent *a);
void ascent_close(struct ascent *a);
/* Noise of its own for a target: none of it is judged with. */
int ascent_begin(struct ascent *a, const struct target *t, size_t stream);
/* Takes steps up to `steps` in all, out of `planned`. */
int ascent_climb(struct ascent *a, const struct target *t, struct climb *c, size_t steps,
                 size_t planned);
#endif
