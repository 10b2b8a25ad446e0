/* What the program of tests/platforms prints, part by part. */
#ifndef PLATFORMS_PLATFORM_H
#define PLATFORMS_PLATFORM_H

/* "bits NAME VALUE": what has the same bits on every platform, and on any number of threads (0: the
 * calling one). `record` is a file with a record that another platform wrote. */
int platform_bits(const char *record, int threads);
/* That record, on stdout. */
int platform_record(void);
/* The status and the error of opening a backend module. */
int platform_module(const char *path);
/* Values of libm's functions that certificates use, at `count` arguments of each, as bytes. */
int platform_libm_values(long count);
/* The largest errors of those values, which stdin has; non-zero: one is larger than allowed. */
int platform_libm_errors(long count);

#endif
