/* The law that the library itself fears most: steps of the worst function of the bounds that limit
 * its last certificate (theory 3.6), as outputs of the model. */
#include "misses/trial.h"
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include <math.h>
#include <string.h>

static const double two_pi = 6.28318530717958647692;

/* The output that has this score (theory 1.2, 7.1), on the side that limits. */
static double output_of(const trial *t, double u)
{
    const part *p = t->setting.part;
    const certreg_question *q = &p->question;
    const double side = t->side > 0 ? -1 : 1, turn = t->setting.menu.turn;
    double from_end = u;
    if (q->center == CERTREG_CENTER_TRUE_MEAN) return u;
    if (setting_supports(q, CR_SUPPORTS_WIDTH)) from_end = u * q->huber_width;
    if (setting_row(q)->angle == CR_ANGLE_CIRCULAR)
        from_end = asin(fmax(-1, fmin(u, 1))) * turn / two_pi;
    return p->prediction[0] + side * (from_end - setting_tolerance(&t->setting, p));
}

/* Where the cells begin: at the function's own breakpoints, and evenly between -2.6 and 2.6. */
static int edges_of(const certreg_worst_function *w, double *edge)
{
    int count = 0;
    for (uint32_t k = 0; k + 1 < w->region_count; k++) edge[count++] = w->breakpoints[k];
    for (int k = 0; count < MOST_POINTS - 1; k++) edge[count++] = -2.6 + 0.3 * k;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && edge[j - 1] > edge[j]; j--) {
            const double moved = edge[j];
            edge[j] = edge[j - 1], edge[j - 1] = moved;
        }
    return count;
}

static int worst_function(trial *t, certreg_worst_function *w)
{
    const certreg_question q = setting_question(&t->setting, 0, t->target);
    certreg_bounds b = {.struct_size = sizeof b};
    certreg_solver *solver = NULL;
    if (t->side == 0 || certreg_estimator_bounds(t->estimator, &q, t->side, &b)) return 0;
    *w = (certreg_worst_function){.struct_size = sizeof *w};
    const int side = q.center == CERTREG_CENTER_TRUE_MEAN ? t->side : CERTREG_SIDE_LOWER;
    const int found =
        certreg_solver_create(NULL, NULL, &solver) == CERTREG_OK &&
        certreg_solver_worst_function(solver, &b, 0, fmax(t->radius, 1e-3), side, w) == CERTREG_OK;
    certreg_solver_destroy(solver);
    return found;
}

int trial_worst_law(trial *t, law *l)
{
    const setting *s = &t->setting;
    certreg_worst_function w;
    double edge[MOST_POINTS];
    if (s->part[0].outputs > 1 || s->menu.most_cells < MOST_POINTS || s->asked == ASKED_LEVELS ||
        s->asked == ASKED_BOUNDS || !worst_function(t, &w))
        return 0;
    l->cells = edges_of(&w, edge) + 1;
    for (int k = 0; k < l->cells; k++) {
        const double lo = k ? edge[k - 1] : edge[0] - 0.5,
                     hi = k + 1 < l->cells ? edge[k] : edge[k - 1] + 0.5;
        double at = 0.5 * (lo + hi), u = 0;
        if (certreg_worst_function_values(&w, 1, &at, &u)) return 0;
        double y = output_of(t, u);
        if (s->menu.turn > 0) y -= s->menu.turn * floor(y / s->menu.turn + 0.5);
        else y = fmax(s->menu.lo, fmin(y, s->menu.hi));
        for (size_t j = 0; j < s->outputs; j++) l->value[k][j] = (float)s->menu.center[j];
        l->value[k][0] = (float)y;
        l->from[k] = k ? edge[k - 1] : -INFINITY;
    }
    return 1;
}
