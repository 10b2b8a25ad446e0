/* What the program of tests/platforms prints, part by part. */
#ifndef PLATFORMS_PLATFORM_H
#define PLATFORMS_PLATFORM_H

/* "bits NAME VALUE": what has the same bits on every platform. `record` is a file with a record
 * that another platform wrote. */
int platform_bits(const char *record);
/* That record, on stdout. */
int platform_record(void);
/* Rows of numbers that pass through libm, or through sums whose order a compiler may choose. */
int platform_rows(void);
/* "ok ..." and "not ok ...": results against known answers, which they must not pass on the wrong
 * side. */
int platform_exact(void);
/* "FUNCTION ARGUMENT... RESULT" of the functions of libm that certificates use. */
int platform_libm(void);

#endif
