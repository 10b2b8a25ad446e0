/* What the program of tests/platforms prints, part by part. */
#ifndef PLATFORMS_PLATFORM_H
#define PLATFORMS_PLATFORM_H

/* "bits NAME VALUE": what has the same bits on every platform. `record` is a file with a record
 * that another platform wrote. */
int platform_bits(const char *record);
/* That record, on stdout. */
int platform_record(void);
/* How far off the functions of libm are that certificates use; non-zero: farther than allowed. */
int platform_libm(void);

#endif
