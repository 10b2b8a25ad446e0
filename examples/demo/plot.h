/* plot.h: the radii as a picture. */
#ifndef DEMO_PLOT_H
#define DEMO_PLOT_H
#include <stdio.h>

#include "results.h"

/* An SVG with the distribution of the radii over the images, one curve to a certificate, each at
 * its own best sigma. Returns 1 after a sentence without memory. */
int plot_radii(const struct results *r, FILE *out);
#endif
