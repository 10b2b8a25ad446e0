/* bench.h: what the benchmarks share: clocks, an order for qsort, calls that have to succeed, and
 * tables in Markdown, which are printed and, for bench/page.py, added to a file. */
#ifndef BENCH_H
#define BENCH_H
#include <certreg/certreg.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *bench_file; /* NULL: tables are printed only */

static inline void bench_open(int argc, char **argv)
{
    bench_file = argc > 1 ? fopen(argv[1], "a") : NULL;
}

static inline void bench_close(void)
{
    if (bench_file) fclose(bench_file);
}

static inline double bench_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_now(void)
{
    return bench_seconds(CLOCK_MONOTONIC);
}

static inline int bench_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void bench_must(certreg_estimator *e, certreg_status status)
{
    if (!status) return;
    fprintf(stderr, "%s\n", certreg_estimator_error(e)->text);
    exit(1);
}

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static inline void
bench_print(const char *format, ...)
{
    FILE *const files[] = {stdout, bench_file};
    for (int i = 0; i < 2 && files[i]; i++) {
        va_list list;
        va_start(list, format);
        vfprintf(files[i], format, list);
        va_end(list);
        fflush(files[i]);
    }
}

/* A table between the markers of the page; its lines follow, then bench_end. */
static inline void bench_begin(const char *name, const char *head)
{
    bench_print("<!-- %s: begin -->\n%s\n", name, head);
    for (const char *c = head; c[1]; c++)
        if (*c == '|') bench_print("|---");
    bench_print("|\n");
}

static inline void bench_end(const char *name)
{
    bench_print("<!-- %s: end -->\n", name);
}

#endif
