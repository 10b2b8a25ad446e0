/* ascent.h: gradient ascent towards the shift of least norm that moves T out of the tolerance on
 * one side. */
#ifndef BENCH_ASCENT_H
#define BENCH_ASCENT_H
#include "../../examples/engines/gradient.h"
#include "noise_set.h"

enum { ASCENT_ROWS = 256 };

struct ascent {
    struct gradient *gradient;
    struct bench_run noise;
    float *x;      /* [ASCENT_ROWS][DIGITS_PIXELS] */
    double length; /* of the network's outputs, running mean */
    uint64_t next; /* sample of the noise */
    size_t calls;  /* rows whose gradient was taken */
};

struct climb {                      /* one start on one side */
    int side;                       /* 1: T leaves upwards, -1: downwards */
    float direction[DIGITS_PIXELS]; /* of length 1, or 0: then the first gradient gives it */
    double radius;                  /* estimate of where T leaves the tolerance */
    size_t steps;                   /* taken so far */
};

int ascent_open(struct context *context, struct ascent *a);
void ascent_close(struct ascent *a);
/* Draws noise for one objective; attacks are judged with other noise. */
int ascent_begin(struct ascent *a, const struct objective *t, size_t noise_id);
/* Takes steps up to `steps` in all, out of `planned`. */
int ascent_climb(struct ascent *a, const struct objective *t, struct climb *c, size_t steps,
                 size_t planned);
#endif
