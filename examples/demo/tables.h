/* tables.h: the certificates of all records as tables, a column for each sigma. */
#ifndef DEMO_TABLES_H
#define DEMO_TABLES_H
#include "results.h"

void tables_radii(const struct results *r);
void tables_times(const struct results *r);
#endif
