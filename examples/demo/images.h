/* images.h: the turned digits that the demo certifies. */
#ifndef DEMO_IMAGES_H
#define DEMO_IMAGES_H
#include <stddef.h>

#include "digits.h"

enum { IMAGES_WHY = 512 };

struct images {
    size_t count;
    float *pixels;   /* count * DIGITS_PIXELS, already turned */
    int *label;      /* 0 .. 9 */
    double *degrees; /* by which each was turned, in [-180, 180) */
    const char *source;
};

/* `count` digits, spread evenly over the classes, each turned by a uniform angle; which ones and by
 * how much follows from seed 42. folder: the MNIST test images, IDX files t10k-*, gzipped or not;
 * NULL: drawn by digits.c. Returns 0, or 1 with a sentence in `why` (IMAGES_WHY bytes). */
int images_open(const char *folder, size_t count, struct images *images, char *why);
void images_close(struct images *images);
#endif
