#include "misses/law.h"
#include "statistics/normal.h"
#include <certreg/solver.h>
#include <certreg/worst_function.h>
#include <math.h>
#include <string.h>

static int dice(simulate_source *s, int sides)
{
    return (int)(sides * simulate_uniform(s));
}

static double between(simulate_source *s, double lo, double hi)
{
    return lo + (hi - lo) * simulate_uniform(s);
}

/* ---- values */
static double wrapped(const menu *m, double x)
{
    return m->turn > 0 ? x - m->turn * floor(x / m->turn + 0.5) : fmax(m->lo, fmin(x, m->hi));
}

/* Distances from the center that certificates find hard, of both signs. */
static double far_value(const menu *m, simulate_source *s)
{
    const double sign = dice(s, 2) ? 1 : -1, e = m->tolerance, hair = m->exact ? 0x1p-20 : 1e-3;
    const double edge = m->turn > 0 ? 0.499 * m->turn : 30 * e;
    switch (dice(s, 10)) {
    case 0:
    case 1: return m->exact ? sign * e : sign * e * (1 + hair);
    case 2: return sign * e * (1 + hair);
    case 3: return sign * e * (1 - hair);
    case 4: return sign * edge;
    case 5: return sign * (m->turn > 0 ? 0.25 * m->turn : 10 * e);
    case 6: return sign * e * between(s, 0, 1);
    case 7: return sign * (m->turn > 0 ? between(s, 0, 0.5) * m->turn : e * between(s, 0, 3));
    case 8: return isfinite(m->lo) && m->turn == 0 ? (sign < 0 ? m->lo : m->hi) : sign * edge;
    default: return 0;
    }
}

static void any_value(const menu *m, simulate_source *s, float *value)
{
    const double far = far_value(m, s);
    const int on_axis = dice(s, 2), axis = dice(s, m->outputs);
    double part[MOST_OUTPUTS] = {1}, length = 1;
    if (m->outputs > 1 && !m->ball) {
        length = 0;
        for (int k = 0; k < m->outputs; k++) {
            part[k] = on_axis ? k == axis : simulate_normal(s);
            length += part[k] * part[k];
        }
    }
    for (int k = 0; k < m->outputs; k++) {
        const double unit = m->ball ? 1 / sqrt(m->outputs) : part[k] / sqrt(length);
        value[k] = (float)wrapped(m, m->center[k] + far * unit);
    }
    if (m->failures && dice(s, 4) == 0) value[dice(s, m->outputs)] = NAN;
}

static void center_value(const menu *m, float *value)
{
    for (int k = 0; k < m->outputs; k++) value[k] = (float)m->center[k];
}

/* ---- shapes */
static void sort(law *l)
{
    l->from[0] = -INFINITY;
    for (int i = 2; i < l->cells; i++) {
        const double moved = l->from[i];
        int j = i;
        for (; j > 1 && l->from[j - 1] > moved; j--) l->from[j] = l->from[j - 1];
        l->from[j] = moved;
    }
}

static void half_space(const menu *m, simulate_source *s, law *l)
{
    l->cells = 2, l->from[1] = between(s, -0.2, 2.5);
    center_value(m, l->value[0]);
    any_value(m, s, l->value[1]);
}

static void spike(const menu *m, simulate_source *s, law *l)
{
    l->cells = m->most_cells > 2 ? 3 : 2;
    for (int k = 1; k < l->cells; k++) {
        l->from[k] = (l->cells == 3 && k == 1 ? -1 : 1) *
                     cr_normal_quantile_sf(between(s, 0.05, 6) / m->rare);
        any_value(m, s, l->value[k]);
    }
    center_value(m, l->value[0]);
    if (l->cells == 3) { /* spike, center, spike */
        memcpy(l->value[0], l->value[2], sizeof l->value[0]);
        memcpy(l->value[2], l->value[1], sizeof l->value[1]);
        center_value(m, l->value[1]);
    }
}

static void any_steps(const menu *m, simulate_source *s, law *l)
{
    const int most = m->most_cells < 6 ? m->most_cells : 6;
    l->cells = 2 + dice(s, most - 1);
    for (int k = 0; k < l->cells; k++) l->from[k] = 1.3 * simulate_normal(s);
    sort(l);
    for (int k = 0; k < l->cells; k++) {
        const int middle = l->from[k] < 0 && (k + 1 == l->cells || l->from[k + 1] >= 0);
        if (middle && dice(s, 10) < 8) center_value(m, l->value[k]);
        else any_value(m, s, l->value[k]);
    }
}

/* A line rounded to steps, some of which may be the tolerance. */
static void lattice(const menu *m, simulate_source *s, law *l)
{
    const double step = m->tolerance / (1 << dice(s, 3)), wide = between(s, 0.2, 1);
    l->cells = m->most_cells < 13 ? m->most_cells : 13;
    const int middle = l->cells / 2;
    for (int k = 0; k < l->cells; k++) {
        l->from[k] = (k - middle - 0.5) * wide;
        for (int j = 0; j < m->outputs; j++) {
            const double part = m->outputs == 1 ? 1
                                : m->ball       ? 1 / sqrt(m->outputs)
                                                : (double)(j == 0);
            l->value[k][j] = (float)wrapped(m, m->center[j] + (k - middle) * step * part);
        }
    }
    l->from[0] = -INFINITY;
}

/* Whether it is beyond the tolerance, or failed. */
static int is_out(const menu *m, const float *value)
{
    double square = 0;
    for (int k = 0; k < m->outputs; k++) {
        const double far = wrapped(m, (double)value[k] - (m->turn > 0 ? m->center[k] : 0)) -
                           (m->turn > 0 ? 0 : m->center[k]);
        square += far * far;
    }
    return !(square < m->tolerance * m->tolerance);
}

static void out_value(const menu *m, simulate_source *s, float *value)
{
    for (int tries = 0; tries < 9 && !is_out(m, value); tries++) any_value(m, s, value);
}

/* Two ways to fail that grow likely together: at some shift both have the same probability. */
static void rivals(const menu *m, simulate_source *s, law *l)
{
    const double share = between(s, 0.03, 0.45), shift = between(s, 0.1, 1.5);
    l->cells = 3;
    l->from[1] = shift + cr_normal_quantile_sf(2 * share);
    l->from[2] = shift + cr_normal_quantile_sf(share);
    center_value(m, l->value[0]);
    center_value(m, l->value[1]), center_value(m, l->value[2]);
    for (int k = 1; k < 3; k++) out_value(m, s, l->value[k]);
    for (int j = 0; j < m->outputs && dice(s, 3); j++) /* on the other side */
        l->value[2][j] = (float)wrapped(m, 2 * m->center[j] - (double)l->value[1][j]);
}

/* A half-space on either side; of several outputs each has one of its own. */
static void two_tails(const menu *m, simulate_source *s, law *l)
{
    const double far = between(s, 0.3, 2);
    const int first = dice(s, m->outputs);
    l->cells = 3, l->from[1] = -far, l->from[2] = far;
    for (int k = 0; k < 3; k++) center_value(m, l->value[k]);
    for (int k = 0; k < 3; k += 2)
        for (int tries = 0; tries < 9 && !is_out(m, l->value[k]); tries++) {
            const int j = m->ball ? 0 : (first + k / 2) % m->outputs;
            float any[MOST_OUTPUTS];
            menu alone = *m;
            alone.outputs = m->ball ? m->outputs : 1, alone.center[0] = m->center[j];
            any_value(&alone, s, any);
            if (m->ball) memcpy(l->value[k], any, sizeof any);
            else l->value[k][j] = any[0];
        }
}

/* The prediction's neighbours on either side, and what lies opposite: where that is frequent
 * enough, the circle is cut between them (theory 7.2). */
static void split_circle(const menu *m, simulate_source *s, law *l)
{
    const double part = between(s, 0.6, 0.999) * m->tolerance, shift = between(s, 0.1, 1.2);
    const double at[] = {part, -part, 0.499 * m->turn};
    l->cells = 3;
    l->from[1] = shift - cr_normal_quantile_sf(between(s, 0.15, 0.35));
    l->from[2] = shift + cr_normal_quantile_sf(between(s, 0.2, 0.5));
    for (int k = 0; k < 3; k++) {
        center_value(m, l->value[k]);
        l->value[k][0] = (float)wrapped(m, m->center[0] + at[k]);
    }
}

/* Outputs just beyond the tolerance turn the circular mean towards them, so that the circle is cut
 * on the other side of what lies opposite: this joins them, as a half-space (theory 7.2). */
static void turned_circle(const menu *m, simulate_source *s, law *l)
{
    const double sign = dice(s, 2) ? 1 : -1, e = m->tolerance, shift = between(s, 0, 1),
                 at[] = {between(s, 0, 0.99) * e,
                         fmin((1 + between(s, 1e-3, 0.3)) * e, 0.4 * m->turn),
                         -0.5 * m->turn + between(s, 0.01, 0.4) * e};
    l->cells = 3;
    l->from[1] = shift - between(s, -0.1, 0.5);
    l->from[2] = shift + cr_normal_quantile_sf(between(s, 0.1, 0.4));
    for (int k = 0; k < 3; k++) l->value[k][0] = (float)wrapped(m, m->center[0] + sign * at[k]);
}

/* Each output fails on either side in a cell of its own, all of them alike at some shift: together
 * they use up what is divided among directions and sides. */
static void every_way(const menu *m, simulate_source *s, law *l)
{
    const int ways = 2 * m->outputs, first = dice(s, ways);
    const double all = between(s, 0.05, 0.97), shift = between(s, 0, 1);
    l->cells = m->most_cells < ways + 1 ? m->most_cells : ways + 1;
    center_value(m, l->value[0]);
    for (int k = 1; k < l->cells; k++) {
        const int way = (first + k) % ways, j = way / 2;
        const double far = (way % 2 ? 1.2 : -1.2) * m->tolerance;
        l->from[k] = shift + cr_normal_quantile_sf(all * (l->cells - k) / (l->cells - 1));
        center_value(m, l->value[k]);
        l->value[k][j] = (float)wrapped(m, m->center[j] + far);
    }
}

/* About an input nearby opposite noise fails alike, and farther away one of it fails. Half of them
 * fail in a part of these places only: there a fresh sample fails with a probability between. */
static void even(const menu *m, simulate_source *s, law *l)
{
    const double middle = between(s, 0.3, 1.8), near = between(s, 0.2, 1.8);
    l->cells = m->most_cells > 3 && dice(s, 3) ? 4 : 3;
    l->from[1] = middle - near, l->from[2] = middle + near;
    l->from[3] = l->from[2] + between(s, 0, 1);
    for (int k = 0; k < 4; k++) center_value(m, l->value[k]);
    out_value(m, s, l->value[1]);
    if (m->even > 1 || dice(s, 3)) memcpy(l->value[3], l->value[1], sizeof l->value[3]);
    else out_value(m, s, l->value[3]);
    if (dice(s, 2)) l->part = between(s, 0.3, 1);
    l->even = 1;
}

/* Steps of the function that the solver finds worst for some bounds (theory 3.6). */
static int worst_function(const menu *m, simulate_source *s, law *l)
{
    certreg_solver *solver = NULL;
    certreg_worst_function w = {.struct_size = sizeof w};
    certreg_bounds b = {
        .struct_size = sizeof b, .sigma = 1, .constraints = CERTREG_CONSTRAINTS_ECM};
    const double e = m->tolerance, radius = between(s, 0.2, 2);
    b.mean_lo = b.mean_hi = e * between(s, -0.5, 0.5);
    b.variance_hi = e * e * between(s, 0.01, 2);
    b.range_lo = isfinite(m->lo) ? m->lo : -4 * e, b.range_hi = isfinite(m->hi) ? m->hi : 4 * e;
    int found = certreg_solver_create(NULL, NULL, &solver) == CERTREG_OK &&
                certreg_solver_worst_function(solver, &b, 0, radius,
                                              dice(s, 2) ? CERTREG_SIDE_UPPER : CERTREG_SIDE_LOWER,
                                              &w) == CERTREG_OK;
    certreg_solver_destroy(solver);
    if (!found) return 0;
    l->cells = m->most_cells;
    for (int k = 0; k < l->cells; k++) {
        const double step = 5.5 / l->cells;
        double at = -2.5 + step * (k + 0.5), y;
        l->from[k] = k ? -2.5 + step * k : -INFINITY;
        if (certreg_worst_function_values(&w, 1, &at, &y)) return 0;
        l->value[k][0] = (float)wrapped(m, m->center[0] + y);
    }
    return 1;
}

/* Outputs that fall, or rise, from the center on: slowly, or as a rare few. */
static void falling(const menu *m, simulate_source *s, law *l)
{
    const double sign = dice(s, 2) ? 1 : -1, top = between(s, 0, 0.8), wide = between(s, 0.3, 1.2),
                 bend = dice(s, 2) ? between(s, 0, 1) : 0;
    l->cells = m->most_cells;
    for (int k = 0; k < l->cells; k++) {
        const double at = -2.4 + 4.8 * (k + 0.5) / l->cells, far = bend > 0 ? expm1(bend * at) : at;
        l->from[k] = k ? at - 2.4 / l->cells : -INFINITY;
        l->value[k][0] = (float)wrapped(m, m->center[0] + sign * m->tolerance * (top - wide * far));
    }
}

/* Laws of three or four cells are half rivals: what is served, or summed up, has the most to lose
 * by failing in two ways. */
static void draw_steps(const menu *m, simulate_source *s, law *l)
{
    const int few = m->most_cells == 3 || m->most_cells == 4,
              shape = few ? 2 + dice(s, 6) : dice(s, 10);
    if (m->falling && dice(s, 4)) falling(m, s, l);
    else if (m->even && m->most_cells > 2 && (m->even > 1 || dice(s, 4))) even(m, s, l);
    else if (m->divided && m->most_cells > 2 && !m->ball && dice(s, 2)) every_way(m, s, l);
    else if (m->turn > 0 && m->most_cells > 2 && dice(s, 4) == 0) turned_circle(m, s, l);
    else if (shape < 3) half_space(m, s, l);
    else if (shape < 4) spike(m, s, l);
    else if (shape < 5 && m->most_cells > 2 && m->turn > 0) split_circle(m, s, l);
    else if (shape < 6 && m->most_cells > 2)
        (dice(s, 2) || (m->outputs > 1 && dice(s, 2)) ? two_tails : rivals)(m, s, l);
    else if (shape < 8) any_steps(m, s, l);
    else if (shape < 9 || !m->worst_functions || !worst_function(m, s, l)) lattice(m, s, l);
}

/* Half of them show one way to fail alone, or none: what the pilot divides is then divided wrong.
 */
static void draw_pilot(simulate_source *s, law *l)
{
    const int lopsided = dice(s, 2), seen = 1 + dice(s, l->cells - 1);
    const double share = between(s, 0, 0.4);
    double sum = 0;
    for (int k = 0; k < l->cells; k++) {
        l->pilot_share[k] = pow(simulate_uniform(s), 3);
        if (lopsided) l->pilot_share[k] = k == 0 ? 1 - share : k == seen ? share : 0;
        sum += l->pilot_share[k];
    }
    for (int k = 0; k < l->cells; k++) l->pilot_share[k] /= sum;
}

void law_draw(const menu *m, simulate_source *s, law *l)
{
    memset(l, 0, sizeof *l);
    l->outputs = m->outputs, l->part = 1;
    draw_steps(m, s, l);
    l->from[0] = -INFINITY;
    center_value(m, l->noise_free);
    if (dice(s, 3) == 0) any_value(m, s, l->noise_free);
    for (int k = 0; k < m->outputs; k++)
        if (isnan(l->noise_free[k])) center_value(m, l->noise_free);
    l->has_pilot = m->hostile_pilot && dice(s, 4) > (m->divided ? 0 : 1);
    draw_pilot(s, l);
    l->tilted = 0;
    for (int k = 0; k < l->cells; k++) /* what is not the center is rarer than it is */
        if (memcmp(l->value[k], l->noise_free, sizeof(float) * (size_t)m->outputs) != 0)
            l->tilted |= 1u << k;
}

void law_translate(law *l, double by)
{
    for (int k = 1; k < l->cells; k++) l->from[k] += by;
}

void law_mutate(const menu *m, simulate_source *s, double step, law *l)
{
    const int k = 1 + dice(s, l->cells - 1);
    switch (dice(s, 8)) {
    case 0:
        if (m->even < 2) any_value(m, s, l->value[dice(s, l->cells)]);
        break;
    case 1: l->tilted ^= 1u << dice(s, l->cells); break;
    case 2: /* another pilot, or an honest one */
        l->has_pilot = m->hostile_pilot && dice(s, 4);
        draw_pilot(s, l);
        break;
    case 3: any_value(m, s, l->noise_free); break;
    case 4: law_translate(l, step * simulate_normal(s)); break;
    case 5:
        if (m->even) l->part = fmax(0.1, fmin(l->part + step * simulate_normal(s), 1));
        break;
    default: l->from[k] += step * simulate_normal(s);
    }
    for (int j = 0; j < m->outputs; j++)
        if (isnan(l->noise_free[j])) center_value(m, l->noise_free);
    sort(l);
}

void law_shares(const law *l, double sigma, double shift, double *share)
{
    for (int k = 0; k < l->cells; k++) { /* either tail from its own side */
        const double lo = (l->from[k] - shift) / sigma,
                     hi = k + 1 < l->cells ? (l->from[k + 1] - shift) / sigma : INFINITY;
        share[k] = lo >= 0   ? cr_normal_sf(lo) - cr_normal_sf(hi)
                   : hi <= 0 ? cr_normal_sf(-hi) - cr_normal_sf(-lo)
                             : 1 - cr_normal_sf(hi) - cr_normal_sf(-lo);
    }
    for (int k = 1; k < l->cells; k++) {
        share[0] += (1 - l->part) * share[k];
        share[k] *= l->part;
    }
}

int law_like(const law *l, int cell)
{
    int k = 0;
    while (memcmp(l->value[k], l->value[cell], sizeof(float) * (size_t)l->outputs) != 0) k++;
    return k;
}

/* Between the distances of the steps both are in one cell each. */
int law_pairs(const law *l, double sigma, double shift, drawn *out)
{
    double far[MOST_POINTS + 1] = {0};
    for (int i = 1; i < l->cells; i++) {
        int j = i;
        const double next = fabs(l->from[i] - shift) / sigma;
        for (; far[j - 1] > next; j--) far[j] = far[j - 1];
        far[j] = next;
    }
    far[l->cells] = INFINITY;
    int count = 1;
    out[0] = (drawn){.share = 1 - l->part};
    for (int i = 0; i < l->cells; i++) {
        const double middle = sigma * (i + 1 < l->cells ? 0.5 * (far[i] + far[i + 1]) : far[i] + 1),
                     share = 2 * l->part * (cr_normal_sf(far[i]) - cr_normal_sf(far[i + 1]));
        const int one = law_like(l, law_cell(l, shift - middle)),
                  other = law_like(l, law_cell(l, shift + middle));
        int at = 0;
        while (at < count && (out[at].one != (one < other ? one : other) ||
                              out[at].other != (one < other ? other : one)))
            at++;
        if (at == count)
            out[count++] = (drawn){one < other ? one : other, one < other ? other : one, 0};
        out[at].share += share;
    }
    return count;
}

int law_cell(const law *l, double x)
{
    int k = l->cells - 1;
    while (k > 0 && x < l->from[k]) k--;
    return k;
}
