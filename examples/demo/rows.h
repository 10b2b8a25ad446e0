/* rows.h: the certificates of all records as CSV. */
#ifndef DEMO_ROWS_H
#define DEMO_ROWS_H
#include <stdio.h>

#include "results.h"

void rows_certificates(const struct results *r, FILE *out);
#endif
