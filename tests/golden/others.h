/* Rows of what is no certificate: digests, records, forecasts, deadlines, gradients, attacks and
 * intervals; and of the default pilot. */
#ifndef GOLDEN_OTHERS_H
#define GOLDEN_OTHERS_H

/* Prints the rows. Non-zero after a failure, of which stderr says why. */
int others_print(void);

#endif
