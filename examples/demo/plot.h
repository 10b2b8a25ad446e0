/* plot.h: the radii as a picture. */
#ifndef DEMO_PLOT_H
#define DEMO_PLOT_H
#include "results.h"

/* Writes a PNG with the distribution of the radii over the images, one curve to a certificate, each
 * at its own best sigma. Returns 0 if it was written. */
int plot_radii(const struct results *results, const char *path);
#endif
