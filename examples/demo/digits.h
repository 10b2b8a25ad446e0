/* digits.h: draws digits that look handwritten, where there is no data set.
 * A digit is a few smooth strokes whose points, slant, proportions, size and pen width are jittered
 * by a seed, drawn with soft edges and placed by its center of mass, as the images of MNIST are.
 * The same (digit, seed) gives the same image everywhere. */
#ifndef DEMO_DIGITS_H
#define DEMO_DIGITS_H
#include <stdint.h>

enum { DIGITS_SIDE = 28, DIGITS_PIXELS = 784 };

/* Draws digit 0..9 into 784 numbers in [0, 1], row by row. */
void digits_draw(int digit, uint64_t seed, float *image);

/* Turns an image about its center by an angle in radians, counter-clockwise on the screen;
 * bilinear, black outside. */
void digits_turn(const float *image, double angle, float *turned);
#endif
