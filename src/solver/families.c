#include "solver/families.h"
#include <math.h>

/* Of mean and range no part is needed: they only limit where to look, and closed forms, which go
 * without a range, are always used. */
enum { VARIANCE = 1, GRADIENT = 2, MOMENT = 4, PARTS = 8 };

static int facts_of(const cr_rise *side)
{
    const int gradient = side->gradient_lo > 0 ||
                         side->gradient_hi < sqrt(cr_rise_greatest_variance(side));
    return (side->variance < INFINITY ? VARIANCE : 0) | (gradient ? GRADIENT : 0) |
           (side->moment < INFINITY ? MOMENT : 0);
}

static cr_rise with_only(const cr_rise *side, int part)
{
    cr_rise fewer = *side;
    if (!(part & VARIANCE)) fewer.variance = INFINITY;
    if (!(part & MOMENT)) fewer.moment = INFINITY;
    if (!(part & GRADIENT)) fewer.gradient_lo = 0, fewer.gradient_hi = INFINITY;
    fewer.low_reached = fewer.high_reached = 0;
    return fewer;
}

static void mark(cr_families *f, int part, int tight)
{
    for (int fewer = 0; fewer < PARTS; fewer++)
        if (!(fewer & ~part)) f->settled[fewer] |= tight;
}

/* With half of what is left, so that something is left for the next. */
static void ask_with(cr_families *f, int part)
{
    cr_effort *effort = f->side->effort;
    const int wanted = CR_BOTH & ~f->settled[part];
    if (!wanted) return;
    const cr_rise fewer = part == f->all ? *f->side : with_only(f->side, part);
    const int most = cr_effort_narrow(effort, (effort->most - effort->used) / 2);
    mark(f, part, f->ask(f->question, &fewer, wanted));
    effort->most = most;
}

static int count_of(int part)
{
    return (part & 1) + (part >> 1 & 1) + (part >> 2);
}

/* Those that leave out least first. */
static void ask_parts(cr_families *f)
{
    for (int size = count_of(f->all) - 1; size >= 0; size--)
        for (int part = 0; part < PARTS; part++)
            if (!(part & ~f->all) && count_of(part) == size) ask_with(f, part);
}

cr_families cr_families_of(const cr_rise *side, cr_ask *ask, void *question)
{
    cr_families f = {.side = side, .ask = ask, .question = question, .all = facts_of(side)};
    if (!(side->second < INFINITY)) mark(&f, f.all, CR_SECOND);
    return f;
}

void cr_families_ask(cr_families *families, int count, cr_effort *effort)
{
    int open = 0;
    for (int i = 0; i < count; i++) {
        ask_with(families + i, families[i].all);
        open += families[i].settled[families[i].all] != CR_BOTH;
    }
    for (int i = 0; i < count; i++) {
        if (families[i].settled[families[i].all] == CR_BOTH) continue;
        const int most = cr_effort_narrow(effort, (effort->most - effort->used) / open--);
        ask_parts(families + i);
        effort->most = most;
    }
}
