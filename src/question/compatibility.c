/* Checks combinations by the rows of the registry: of statistic, method and center with each other,
 * with what the question requires, and with the constraints that it names. */
#include "question/compatibility.h"
#include "base/struct_sizes.h"
#include <stdio.h>
#include <string.h>

/* ---- the tables */
static const cr_capabilities *statistic_row(int32_t value)
{
    const cr_statistic *s = cr_statistic_of(value);
    return s ? &s->row : NULL;
}

static const cr_capabilities *method_row(int32_t value)
{
    const cr_method *m = cr_method_of(value);
    return m ? &m->row : NULL;
}

static const cr_capabilities *center_row(int32_t value)
{
    const cr_center *c = cr_center_of(value);
    return c ? &c->row : NULL;
}

typedef struct table {
    const char *field, *prefix;
    const cr_capabilities *(*row)(int32_t value);
} table;

static const table statistics = {"statistic", "CERTREG_STATISTIC", statistic_row},
                   methods = {"method", "CERTREG_METHOD", method_row},
                   centers = {"center", "CERTREG_CENTER", center_row},
                   constraints = {"constraints", "CERTREG_CONSTRAINT", cr_constraint_of};

/* Returns the set of values with one of these capabilities. */
static uint32_t supporting(const table *t, uint32_t supports)
{
    uint32_t set = 0;
    const cr_capabilities *row;
    for (int32_t value = 0; (row = t->row(value)); value++)
        if (row->supports & supports) set |= CR_ONE_OF(value);
    return set;
}

/* "CERTREG_METHOD_FINITE, _ASYMPTOTIC or _ANYTIME". */
static void list(const table *t, uint32_t set, char *out, size_t room)
{
    size_t length = (size_t)snprintf(out, room, "%s", t->prefix);
    for (int32_t value = 0; set && length < room; value++) {
        if (!(set & CR_ONE_OF(value))) continue;
        set &= ~CR_ONE_OF(value);
        const int last_follows = !(set & (set - 1));
        const char *next = !set ? "" : last_follows ? " or " : ", ";
        length += (size_t)snprintf(out + length, room - length, "_%s%s", t->row(value)->name, next);
    }
}

static certreg_status refuse(const table *t, const char *what, const char *name, uint32_t set,
                             certreg_error *why)
{
    char values[200];
    list(t, set, values, sizeof values);
    return cr_error_set(why, CERTREG_E_INVALID, "question.%s: for %s%s use %s", t->field, what,
                        name, values);
}

/* ---- statistic, method and center */
static const struct {
    uint32_t capability;
    const char *name;
} requirements[] = {{CR_SUPPORTS_NUMBER, "an output that is no angle (model.kind)"},
                    {CR_SUPPORTS_ANGLE, "an angle"},
                    {CR_SUPPORTS_VECTOR, "a vector"},
                    {CR_SUPPORTS_ALL, "a vector of all outputs"},
                    {CR_SUPPORTS_SERVING, "serving"},
                    {CR_SUPPORTS_PUBLISHED_SERVING, "serving with CERTREG_METHOD_BASELINE"},
                    {CR_SUPPORTS_TARGET, "a target"},
                    {CR_SUPPORTS_GROUP_TEST, "a target without CERTREG_METHOD_ANYTIME"},
                    {CR_SUPPORTS_OUTPUT_BOUNDS, "output bounds"},
                    {CR_SUPPORTS_ATTACK, "an attack"},
                    {CR_SUPPORTS_RELATIVE, "a relative tolerance"},
                    {CR_SUPPORTS_EPISODE, "an episode (CERTREG_PLAN_EPISODE)"}};

certreg_status cr_compatibility_check(const cr_question *q, uint32_t required, certreg_error *why)
{
    const struct {
        const table *table;
        const cr_capabilities *row;
    } of[] = {{&statistics, &q->statistic->row},
              {&methods, &q->method->row},
              {&centers, &q->center->row}};
    const cr_statistic *s = q->statistic;
    const cr_method *m = q->method;
    if (!(s->methods & CR_ONE_OF(q->given.method)))
        return refuse(&methods, "CERTREG_STATISTIC_", s->row.name, s->methods, why);
    if (!(s->centers & CR_ONE_OF(q->given.center)))
        return refuse(&centers, "CERTREG_STATISTIC_", s->row.name, s->centers, why);
    if (!(m->centers & CR_ONE_OF(q->given.center)))
        return refuse(&centers, "CERTREG_METHOD_", m->row.name, m->centers, why);
    for (size_t i = 0; i < sizeof requirements / sizeof *requirements; i++)
        for (size_t j = 0; j < sizeof of / sizeof *of; j++)
            if (required & requirements[i].capability & ~of[j].row->supports)
                return refuse(of[j].table, "", requirements[i].name,
                              supporting(of[j].table, requirements[i].capability), why);
    return CERTREG_OK;
}

/* ---- constraints */
uint32_t cr_compatibility_constraints(const cr_question *q)
{
    uint32_t set = 0;
    const cr_capabilities *row;
    const int counts = q->is_group_sequential || (q->given.serving_pairs && q->is_binomial);
    for (int32_t bit = 0; (row = cr_constraint_of(bit)); bit++)
        if (!counts || row->supports & CR_SUPPORTS_GROUP_TEST) set |= CR_ONE_OF(bit);
    return set;
}

certreg_status cr_compatibility_check_constraints(const cr_question *q, uint32_t plan,
                                                  certreg_error *why)
{
    const cr_method *m = q->method;
    const uint32_t unused = q->given.constraints &
                            ~(m->constraints & cr_compatibility_constraints(q)),
                   needed = q->given.constraints ? q->given.constraints : m->required,
                   lacking = needed & CERTREG_CONSTRAINT_GRADIENT & ~plan;
    char names[200];
    if (!unused && !lacking) return CERTREG_OK;
    list(&constraints, unused ? unused : lacking, names, sizeof names);
    if (unused)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.constraints: CERTREG_METHOD_%s does not use %s here; leave it out",
            m->row.name, names);
    return cr_error_set(why, CERTREG_E_INVALID,
                        "question.constraints: CERTREG_METHOD_%s uses %s, which plan.constraints "
                        "lacks; add it there, or name other constraints",
                        m->row.name, names);
}
