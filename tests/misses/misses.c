/* Attacks certificates by statistics: draws settings, climbs for each of them to laws that are
 * hostile to it, and counts how often what is certified is false.
 *
 *     misses --settings COUNT    so many settings, the same every time
 *     misses --seconds S         as many as there is time for
 *     misses --setting SEED      one of them, with its law
 *
 * --from SEED is the first setting; --worker I --workers N takes every N-th from there on; --table
 * FILE writes a line for each. The status is 1 if a setting fails, 2 if an option makes no sense.
 */
#include "misses/law_search.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct totals {
    uint64_t settings, exact, certificates, attained, excesses;
    double least_p;
} totals;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is printed */
static void print_law(FILE *to, const law *l)
{
    for (int k = 0; k < l->cells; k++) {
        if (k) fprintf(to, " %.6g:", l->from[k]);
        for (int j = 0; j < l->outputs; j++)
            fprintf(to, j ? "/%.9g" : " %.9g", (double)l->value[k][j]);
    }
    if (l->has_pilot) {
        fprintf(to, "; pilot");
        for (int k = 0; k < l->cells; k++) fprintf(to, " %.3g", l->pilot_share[k]);
    }
}

static double rate_of(const setting *s, const finding *f)
{
    return s->exact ? f->fresh.sum : evidence_rate(&f->fresh);
}

/* At alpha, but for chance; exact sums next to it. */
static int is_attained(const setting *s, const finding *f)
{
    const double rate = rate_of(s, f);
    if (s->exact) return rate > 0.98 * s->alpha;
    return rate > 0 && rate > s->alpha - 2 * evidence_error(&f->fresh);
}

static void write_row(FILE *to, const setting *s, const finding *f)
{
    fprintf(to, "%.3g,%.3g,%llu,%d,%llu,%.6g,%g,%llu,%llu,%.3g,\"%s\",\"", f->p_value, f->confirmed,
            (unsigned long long)f->certificates, is_attained(s, f), (unsigned long long)s->seed,
            rate_of(s, f), s->alpha, (unsigned long long)f->fresh.runs,
            (unsigned long long)f->fresh.misses, f->silent, s->name);
    print_law(to, &f->law);
    fprintf(to, "\"\n");
}

static void describe(const setting *s, const finding *f)
{
    printf("%s setting %llu: %s, missed %.6g of alpha %g in %llu runs, p %.3g, then %.3g\n    law:",
           f->excess ? "not ok" : "ok", (unsigned long long)s->seed, s->name, rate_of(s, f),
           s->alpha, (unsigned long long)f->fresh.runs, f->p_value, f->confirmed);
    print_law(stdout, &f->law);
    printf("\n    misses --setting %llu\n", (unsigned long long)s->seed);
    fflush(stdout);
}

/* ---- one setting */
static void attack(uint64_t seed, int tell, FILE *table, totals *all)
{
    setting s;
    finding f;
    setting_draw(seed, &s);
    if (s.exact) exact_search(&s, &f);
    else climb(&s, &f);
    all->settings++, all->exact += s.exact != 0, all->certificates += f.certificates;
    all->attained += is_attained(&s, &f) != 0, all->excesses += f.excess != 0;
    if (!s.exact) all->least_p = fmin(all->least_p, f.p_value);
    if (table) write_row(table, &s, &f);
    if (tell || f.excess) describe(&s, &f);
}

typedef struct options {
    uint64_t settings, worker, workers, from, setting;
    double seconds;
    const char *table;
    int one;
} options;

static int whole(const char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end;
}

static int read_options(int count, char **word, options *o)
{
    *o = (options){.workers = 1, .from = 1};
    for (int i = 1; i + 1 < count; i += 2) {
        const char *value = word[i + 1];
        char *end = "";
        int good = 1;
        if (!strcmp(word[i], "--settings")) good = whole(value, &o->settings);
        else if (!strcmp(word[i], "--seconds")) o->seconds = strtod(value, &end);
        else if (!strcmp(word[i], "--worker")) good = whole(value, &o->worker);
        else if (!strcmp(word[i], "--workers")) good = whole(value, &o->workers);
        else if (!strcmp(word[i], "--from")) good = whole(value, &o->from);
        else if (!strcmp(word[i], "--setting")) o->one = 1, good = whole(value, &o->setting);
        else if (!strcmp(word[i], "--table")) o->table = value;
        else return 0;
        if (!good || *end) return 0;
    }
    return count % 2 && o->workers > o->worker && (o->one || o->settings || o->seconds > 0);
}

int main(int count, char **word)
{
    options o;
    totals all = {.least_p = 1};
    const double begin = now(CLOCK_MONOTONIC);
    if (!read_options(count, word, &o)) {
        fprintf(stderr, "misses: give --settings COUNT, --seconds S or --setting SEED "
                        "(--from SEED --worker I --workers N --table FILE)\n");
        return 2;
    }
    if (o.one) return attack(o.setting, 1, NULL, &all), all.excesses != 0;
    FILE *table = o.table ? fopen(o.table, "w") : NULL;
    if (o.table && !table) return fprintf(stderr, "misses: cannot write %s\n", o.table), 2;
    if (table)
        fprintf(
            table,
            "p,confirmed,certificates,attained,setting,rate,alpha,runs,misses,silent,name,law\n");
    for (uint64_t i = o.worker;
         o.settings ? i < o.settings : now(CLOCK_MONOTONIC) - begin < o.seconds; i += o.workers)
        attack(o.from + i, 0, table, &all);
    if (table && fclose(table)) return fprintf(stderr, "misses: cannot write %s\n", o.table), 2;
    printf("%s misses: %llu settings (%llu exact), %llu certificates, smallest p %.3g, %llu "
           "attain alpha, %llu exceed it, %.1f s of the processor\n",
           all.excesses ? "not ok" : "ok", (unsigned long long)all.settings,
           (unsigned long long)all.exact, (unsigned long long)all.certificates, all.least_p,
           (unsigned long long)all.attained, (unsigned long long)all.excesses,
           now(CLOCK_PROCESS_CPUTIME_ID));
    return all.excesses != 0;
}
