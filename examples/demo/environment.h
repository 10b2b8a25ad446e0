/* environment.h: settings from environment variables. A variable that is not set, or empty, has a
 * default. The last two functions return non-zero, after a sentence on the error stream, if the
 * value is not valid. */
#ifndef DEMO_ENVIRONMENT_H
#define DEMO_ENVIRONMENT_H
#include <stddef.h>

const char *environment_text(const char *name, const char *otherwise);
int environment_whole(const char *name, const char *otherwise, size_t least, size_t most,
                      size_t *out);
/* Positive numbers with commas between; appended after the *count numbers of the list. */
int environment_numbers(const char *name, const char *otherwise, size_t most, double *list,
                        size_t *count);
#endif
