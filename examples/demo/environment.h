/* environment.h: settings from environment variables. What is not set, or empty, has a default. The
 * last two complain to the error stream and return non-zero where a value is none. */
#ifndef DEMO_ENVIRONMENT_H
#define DEMO_ENVIRONMENT_H
#include <stddef.h>

const char *environment_text(const char *name, const char *otherwise);
int environment_whole(const char *name, const char *otherwise, size_t least, size_t most,
                      size_t *out);
/* Positive numbers with commas between, behind the *count that are in the list already. */
int environment_numbers(const char *name, const char *otherwise, size_t most, double *list,
                        size_t *count);
#endif
