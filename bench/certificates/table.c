#include "table.h"

#include <math.h>

void table_add(struct table *t, struct table_row row)
{
    if (t->rows < TABLE_ROWS) t->row[t->rows++] = row;
}

static const char *verdict(const struct table_row *r)
{
    if (isnan(r->reached)) return "not available";
    if (isnan(r->target)) return "";
    return (r->at_most ? r->reached <= r->target : r->reached >= r->target) ? "met" : "MISSED";
}

/* Enough digits to tell a near miss, no more. */
static const char *number(double v, char text[32])
{
    snprintf(text, 32, isnan(v) ? "-" : v >= 100.0 ? "%.0f" : v >= 10.0 ? "%.1f" : "%.3f", v);
    return text;
}

void table_print(const struct table *t, FILE *out)
{
    char a[32], b[32], c[32], d[32], bound[40];
    fprintf(out, "\n%-4s %-74s %8s %8s %8s %8s\n", "row", "claim", "target", "reached", "ours",
            "against");
    for (size_t i = 0; i < t->rows; i++) {
        const struct table_row *r = &t->row[i];
        snprintf(bound, sizeof bound, "%s%s",
                 isnan(r->target) ? ""
                 : r->at_most     ? "<="
                                  : ">=",
                 number(r->target, a));
        fprintf(out, "%-4s %-74s %8s %8s %8s %8s  %s%s%s\n", r->number, r->what, bound,
                number(r->reached, b), number(r->ours, c), number(r->reference, d), verdict(r),
                r->note[0] != '\0' ? "; " : "", r->note);
    }
}

int table_write(const struct table *t, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        fprintf(stderr, "%s could not be written\n", path);
        return 1;
    }
    fprintf(out, "row,claim,sense,target,reached,verdict,ours,reference,note\n");
    for (size_t i = 0; i < t->rows; i++) {
        const struct table_row *r = &t->row[i];
        fprintf(out, "%s,\"%s\",%s,%.6g,%.6g,%s,%.6g,%.6g,\"%s\"\n", r->number, r->what,
                r->at_most ? "at most" : "at least", r->target, r->reached, verdict(r), r->ours,
                r->reference, r->note);
    }
    return fclose(out) != 0;
}
