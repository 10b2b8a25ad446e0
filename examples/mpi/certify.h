/* The model of model.c, for the program of certify.c. */
#ifndef EXAMPLES_MPI_CERTIFY_H
#define EXAMPLES_MPI_CERTIFY_H
#include <stddef.h>

enum { INPUTS = 5 }; /* features of a row */

int model_rows(size_t rows, const float *x, float *y); /* 0, or another number if it fails */
const char *model_why(void);                           /* why the last call failed */
#endif
