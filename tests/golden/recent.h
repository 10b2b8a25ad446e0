/* Rows of what version 0.3 brought, which programs with the headers of 0.2 cannot ask. */
#ifndef GOLDEN_RECENT_H
#define GOLDEN_RECENT_H

/* Prints the rows. Non-zero after a failure, of which stderr says why. */
int recent_print(void);

#endif
