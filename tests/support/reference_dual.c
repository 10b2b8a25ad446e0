#include "support/reference_dual.h"
#include <math.h>

typedef long double real;

enum { NODES = 16, MOST_CUTS = 128, MOST_STEPS = 300 };
static const real reach = 11.5L; /* beyond it every weight is below 1e-28 */

static const real node[NODES / 2] = {
    0.0950125098376374401853193354249581L, 0.2816035507792589132304605014604961L,
    0.4580167776572273863424194429835775L, 0.6178762444026437484466717640487910L,
    0.7554044083550030338951011948474422L, 0.8656312023878317438804678977123931L,
    0.9445750230732325760779884155346083L, 0.9894009349916499325961541734503326L};
static const real weight[NODES / 2] = {
    0.1894506104550684962853967232082831L, 0.1826034150449235888667636679692199L,
    0.1691565193950025381893120790303600L, 0.1495959888165767320815017305474786L,
    0.1246289712555338720524762821920165L, 0.0951585116824927848099251076022462L,
    0.0622535239386478928628438369943776L, 0.0271524594117540948517805724560181L};

/* Panels of Gauss's rule, and what their nodes know whatever the multipliers are: exponentials of
 * long doubles take most of the time. */
typedef struct grid {
    int panels;
    struct {
        real t, k;
    } end[MOST_CUTS];
    struct {
        real t, density, k; /* density: the weight included */
    } node[MOST_CUTS][NODES];
} grid;

/* One side: y = phi - mean within [b, B]; k(t) = (exp(rt - r^2/2) - 1 - [r t]) / T. */
typedef struct task {
    real r, T, b, B, C, kappa;
    int order;
    const grid *grid;
} task;

typedef struct spot { /* multipliers, and what they give */
    real lambda, nu, a;
    real value;                  /* D / T, without the r kappa part */
    real y, yt, yy;              /* moments of y* */
    real objective;              /* E[y* k] */
    real p, t, tt, py, pyt, pyy; /* moments over the unclipped part */
} spot;

static real kernel(const task *w, real t)
{
    return (expm1l(w->r * (t - w->r / 2)) - (w->order ? w->r * t : 0)) / w->T;
}

static real v_at(const task *w, const spot *s, real t)
{
    return kernel(w, t) - s->nu - s->a * t;
}

/* ---- cuts: the least point of v, and where v crosses the two clipping levels */
static real least_of_v(const task *w, const spot *s, real low, real high)
{
    const real share = s->a * w->T / w->r; /* where expm1(r (t - r/2)) is that much */
    return share > -1 ? fminl(fmaxl(log1pl(share) / w->r + w->r / 2, low), high) : low;
}

/* By Newton's method within a bracket: v is convex. */
static real crossing(const task *w, const spot *s, real level, real low, real high)
{
    const int rising = v_at(w, s, low) < level;
    real t = (low + high) / 2;
    for (int i = 0; i < 100; i++) {
        const real e = expm1l(w->r * (t - w->r / 2)),
                   v = (e - (w->order ? w->r * t : 0)) / w->T - s->nu - s->a * t,
                   slope = w->r * (w->order ? e : e + 1) / w->T - s->a;
        if ((v < level) == rising) low = t;
        else high = t;
        real next = t - (v - level) / slope;
        if (!(next > low && next < high)) next = (low + high) / 2;
        if (fabsl(next - t) <= 4e-19L * (1 + fabsl(t))) break;
        t = next;
    }
    return t;
}

static int insert(real cuts[MOST_CUTS], int count, real t)
{
    int i = count;
    while (i > 0 && cuts[i - 1] > t) cuts[i] = cuts[i - 1], i--;
    cuts[i] = t;
    return count + 1;
}

/* Between two points of which v lies below a level at one. */
static int cut_between(const task *w, const spot *s, real from, real v_from, real to, real v_to,
                       real cuts[MOST_CUTS], int count)
{
    const real levels[2] = {2 * s->lambda * w->b, 2 * s->lambda * w->B};
    for (int l = 0; l < 2; l++)
        if (isfinite(levels[l]) && (v_from < levels[l]) != (v_to < levels[l]))
            count = insert(cuts, count, crossing(w, s, levels[l], from, to));
    return count;
}

static int make_cuts(const task *w, const spot *s, real cuts[MOST_CUTS])
{
    const grid *g = w->grid;
    const real least = w->order ? least_of_v(w, s, g->end[0].t, g->end[g->panels].t) : INFINITY;
    real at = g->end[0].t, v = g->end[0].k - s->nu - s->a * at;
    int count = w->order ? insert(cuts, 0, least) : 0;
    for (int i = 1; i <= g->panels; i++) {
        const real t = g->end[i].t, v_there = g->end[i].k - s->nu - s->a * t;
        if (at < least && least < t) {
            const real v_least = v_at(w, s, least);
            count = cut_between(w, s, at, v, least, v_least, cuts, count);
            at = least, v = v_least;
        }
        count = cut_between(w, s, at, v, t, v_there, cuts, count);
        at = t, v = v_there;
    }
    return count;
}

static real density_at(real t)
{
    return 0.398942280401432677939946059934382L * expl(-t * t / 2);
}

static void add_node(const task *w, spot *s, real t, real density, real k)
{
    const real v = k - s->nu - s->a * t, free = v / (2 * s->lambda),
               y = fminl(fmaxl(free, w->b), w->B);
    s->value += density * y * (v - s->lambda * y);
    s->objective += density * y * k;
    s->y += density * y;
    s->yt += density * y * t;
    s->yy += density * y * y;
    if (y != free) return;
    s->p += density;
    s->t += density * t;
    s->tt += density * t * t;
    s->py += density * y;
    s->pyt += density * y * t;
    s->pyy += density * y * y;
}

static real node_between(real from, real to, int j)
{
    const real half = (to - from) / 2;
    return (from + to) / 2 + (j % 2 ? half : -half) * node[j / 2];
}

static void add_between(const task *w, spot *s, real from, real to)
{
    for (int j = 0; j < NODES && from < to; j++) {
        const real t = node_between(from, to, j);
        add_node(w, s, t, density_at(t) * weight[j / 2] * (to - from) / 2, kernel(w, t));
    }
}

static void evaluate(const task *w, spot *s)
{
    const grid *g = w->grid;
    real cuts[MOST_CUTS];
    const int count = make_cuts(w, s, cuts);
    *s = (spot){.lambda = s->lambda, .nu = s->nu, .a = s->a};
    for (int i = 0, next = 0; i < g->panels; i++) {
        real from = g->end[i].t;
        const real to = g->end[i + 1].t;
        const int whole = next == count || cuts[next] > to;
        for (int j = 0; whole && j < NODES; j++)
            add_node(w, s, g->node[i][j].t, g->node[i][j].density, g->node[i][j].k);
        for (; next < count && cuts[next] <= to; from = cuts[next++])
            add_between(w, s, from, cuts[next]);
        if (!whole) add_between(w, s, from, to);
    }
    s->value += s->lambda * w->C + s->a * (w->order ? w->kappa : 0);
}

static const grid *make_grid(const task *w)
{
    static grid g;
    const real low = -reach, high = 2 * w->r + reach;
    g.panels = (int)ceill(high - low);
    for (int i = 0; i <= g.panels; i++) {
        g.end[i].t = low + (high - low) * i / g.panels;
        g.end[i].k = kernel(w, g.end[i].t);
    }
    for (int i = 0; i < g.panels; i++)
        for (int j = 0; j < NODES; j++) {
            const real from = g.end[i].t, to = g.end[i + 1].t, t = node_between(from, to, j);
            g.node[i][j].t = t, g.node[i][j].k = kernel(w, t);
            g.node[i][j].density = density_at(t) * weight[j / 2] * (to - from) / 2;
        }
    return &g;
}

/* ---- descent: damped Newton in (log lambda, nu, a) */
static void gradient(const task *w, const spot *s, real g[3])
{
    g[0] = s->lambda * (w->C - s->yy);
    g[1] = -s->y;
    g[2] = w->order ? w->kappa - s->yt : 0;
}

/* Solves (H + damping) step = -g by elimination; the damping also holds where nothing is
 * unclipped and H is empty. Returns what the quadratic model expects to lose. */
static real newton_step(const task *w, const spot *s, real damping, real step[3])
{
    real g[3];
    gradient(w, s, g);
    const real L = s->lambda, least[3] = {2e-3L * L * w->C, 5e-4L / L, 5e-4L / L};
    real m[3][3] = {{2 * L * s->pyy + fabsl(g[0]), s->py, s->pyt},
                    {s->py, s->p / (2 * L), s->t / (2 * L)},
                    {s->pyt, s->t / (2 * L), s->tt / (2 * L)}};
    const int n = 2 + w->order;
    for (int i = 0; i < n; i++)
        m[i][i] += damping * (m[i][i] + least[i]) + 1e-300L, step[i] = -g[i];
    if (n == 2) step[2] = 0;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const real factor = m[j][i] / m[i][i];
            for (int k = i; k < n; k++) m[j][k] -= factor * m[i][k];
            step[j] -= factor * step[i];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) step[i] -= m[i][k] * step[k];
        step[i] /= m[i][i];
    }
    return -(g[0] * step[0] + g[1] * step[1] + g[2] * step[2]) / 2;
}

/* What the duality gap is made of, and no less where a multiplier happens to vanish. */
static real missed(const task *w, const spot *s)
{
    const real floor = fminl(1, 1 / w->T), correlation = w->order ? fabsl(w->kappa - s->yt) : 0;
    return s->lambda * fabsl(w->C - s->yy) + (floor + fabsl(s->nu)) * fabsl(s->y) +
           (floor + w->r / w->T + fabsl(s->a)) * correlation;
}

static int descend(const task *w, spot *at, int most, real tolerance)
{
    evaluate(w, at);
    real damping = 1e-3L;
    for (int i = 0; i < most; i++) {
        if (missed(w, at) <= tolerance * fabsl(at->value)) return 1;
        real step[3];
        const real expected = newton_step(w, at, damping, step);
        spot next = {.lambda = at->lambda * expl(fminl(fmaxl(step[0], -3), 3)),
                     .nu = at->nu + step[1],
                     .a = at->a + step[2]};
        evaluate(w, &next);
        const int rounding_rules = expected < 1e-15L * fabsl(at->value) &&
                                   missed(w, &next) < missed(w, at);
        const int falls = at->value - next.value > 0.2L * expected;
        if (falls || rounding_rules) {
            damping = damping < 1e-12L ? 0 : damping / 10;
            *at = next;
        } else {
            if (damping > 1e12L) break;
            damping = damping == 0 ? 1e-12L : damping < 1e-5L ? damping * 100 : damping * 6;
        }
    }
    return missed(w, at) <= fmaxl(1e-10L, tolerance) * fabsl(at->value);
}

static spot unclipped(const task *w)
{
    const real c = w->order ? w->kappa : 0, alpha = sqrtl(fmaxl(w->C - c * c, 1e-9L * w->C));
    return (spot){.lambda = 1 / (2 * alpha), .a = w->order ? -c / alpha : 0};
}

/* ---- the variance does not bind: y takes its two ends only */
static real upper_tail(real t)
{
    return erfcl(t * 0.707106781186547524400844362104849L) / 2;
}

static real tail_point(real q) /* P(t > x) = q */
{
    real low = -40, high = 40;
    for (int i = 0; i < 80; i++) {
        const real x = (low + high) / 2;
        if (upper_tail(x) > q) low = x;
        else high = x;
    }
    return (low + high) / 2;
}

/* E[k; from < t < to] */
static real kernel_mass(const task *w, real from, real to)
{
    if (!(from < to)) return 0;
    const int panels = (int)ceill(2 * (to - from));
    const real half = (to - from) / (2 * panels);
    real sum = 0;
    for (int i = 0; i < panels; i++) {
        const real middle = from + (2 * i + 1) * half;
        for (int j = 0; j < NODES; j++) {
            const real t = middle + (j % 2 ? half : -half) * node[j / 2];
            sum += half * weight[j / 2] * density_at(t) * kernel(w, t);
        }
    }
    return sum;
}

/* B on t < left and t > right: mass q in all, correlation kappa. */
static real two_ended(const task *w, real *left, real *right)
{
    const real span = w->B - w->b, q = -w->b / span;
    real low = -40, high = 40;
    *left = -INFINITY, *right = tail_point(q);
    if (w->order && span * density_at(*right) > w->kappa) {
        low = -40, high = -tail_point(q / 2);
        for (int i = 0; i < 80; i++) {
            *left = (low + high) / 2;
            *right = tail_point(q - upper_tail(-*left));
            /* at the right than at the left */
            const real more = density_at(*left) * expm1l((*left - *right) * (*left + *right) / 2);
            if (span * more > w->kappa) low = *left;
            else high = *left;
        }
    }
    const real known = !w->order ? 0
                                 : w->r * (isfinite(*left) ? w->kappa : span * density_at(*right));
    /* k has mean 0: the lesser of inside and outside is the sharper */
    const real end = 2 * w->r + reach, start = fmaxl(*left, -reach);
    const real inside =
        q > 0.5L ? kernel_mass(w, start, *right)
                 : -kernel_mass(w, *right, fmaxl(end, *right)) - kernel_mass(w, -reach, start);
    return known - span * w->T * inside;
}

/* ---- where the descent starts */
/* A function of two values that has the wanted variance: one value is the end of the range near
 * by (B if `upper`), the other beyond the mean. Its multipliers are a line through the two places
 * where it jumps, and a lambda that makes the other value the peak. */
static spot two_valued(const task *w, int upper)
{
    task two = *w;
    real left, right;
    if (upper) two.b = fmaxl(w->b, -w->C / w->B);
    else two.B = fminl(w->B, w->C / -w->b);
    const real most = (two.B - two.b) * density_at(tail_point(-two.b / (two.B - two.b)));
    two.kappa = fminl(w->kappa, 0.95L * most);
    two_ended(&two, &left, &right);
    spot s = {.lambda = 1};
    const real at_right = kernel(w, right);
    if (w->order) s.a = (at_right - kernel(w, fmaxl(left, -reach))) / (right - fmaxl(left, -reach));
    s.nu = at_right - s.a * right;
    const real peak = upper ? (w->order ? least_of_v(w, &s, -reach, right) : right - 1) : right + 1;
    const real depth = fabsl(v_at(w, &s, peak)) / (2 * (two.B - two.b));
    s.lambda = fmaxl(depth, 1e-30L);
    s.nu -= upper ? 2 * s.lambda * w->B : 2 * s.lambda * w->b;
    return s;
}

static void solve_smooth(const task *w, spot *at)
{
    *at = unclipped(w);
    if (descend(w, at, 40, 1e-13L)) return;
    spot best = *at;
    const int upper = w->B < -w->b;
    for (int i = 0; i < 2; i++) {
        if (!isfinite((i == 0) == upper ? w->B : w->b)) continue;
        *at = two_valued(w, i == 0 ? upper : !upper);
        if (descend(w, at, MOST_STEPS, 1e-13L)) return;
        if (at->value < best.value) best = *at;
    }
    *at = best;
    descend(w, at, MOST_STEPS, 1e-13L);
}

/* ---- entry */
static task describe(const ref_problem *p, int order, real kappa)
{
    const real r = p->r;
    real rest = 0, term = 1;
    for (int j = 1; j < 200; j++) {
        term *= r * r / j;
        if (j > order) rest += term;
    }
    task w = {.r = r,
              .T = sqrtl(rest),
              .b = (real)p->lo - p->mean,
              .B = (real)p->hi - p->mean,
              .C = p->variance,
              .kappa = kappa,
              .order = order};
    w.grid = make_grid(&w);
    return w;
}

static void report(const task *w, const spot *s, ref_answer *out)
{
    const real slope = w->order ? w->r : 0;
    out->dual = (double)(slope * w->kappa + w->T * s->value);
    out->primal = (double)(slope * s->yt + w->T * (s->objective - missed(w, s)));
}

void ref_solve(const ref_problem *p, ref_answer *out)
{
    task w = describe(p, 0, 0);
    spot s;
    real left, right, correlation;
    const int flat = w.C >= -w.b * w.B;
    if (flat) {
        *out = (ref_answer){0};
        out->dual = out->primal = (double)two_ended(&w, &left, &right);
        correlation = (w.B - w.b) * density_at(right);
    } else {
        solve_smooth(&w, &s);
        report(&w, &s, out);
        correlation = s.yt;
    }
    if (!p->has_gradient || (correlation >= p->gradient_lo && correlation <= p->gradient_hi))
        return;
    w = describe(p, 1, correlation > p->gradient_hi ? p->gradient_hi : p->gradient_lo);
    if (flat) {
        out->dual = out->primal = (double)two_ended(&w, &left, &right);
    } else {
        solve_smooth(&w, &s);
        report(&w, &s, out);
    }
}

/* ---- the largest correlation: y = clip(beta + alpha t) */
static void clipped_line(double alpha, double beta, double b, double B, double *y, double *yy,
                         double *yt)
{
    const double root_half = 0.70710678118654752440;
    const double s = (b - beta) / alpha, e = (B - beta) / alpha;
    const double below = 0.5 * erfc(-s * root_half), over = 0.5 * erfc(e * root_half);
    const double p = s > 0 ? 0.5 * erfc(s * root_half) - over : 1 - below - over;
    const double ds = isfinite(s) ? (double)density_at(s) : 0,
                 de = isfinite(e) ? (double)density_at(e) : 0;
    const double t = ds - de, tt = p + (isfinite(s) ? s * ds : 0) - (isfinite(e) ? e * de : 0);
    const double low = below > 0 ? b * below : 0, high = over > 0 ? B * over : 0;
    *y = beta * p + alpha * t + low + high;
    *yy = beta * beta * p + 2 * alpha * beta * t + alpha * alpha * tt + (below > 0 ? b * low : 0) +
          (over > 0 ? B * high : 0);
    *yt = alpha * p; /* E[y t] = E[dy/dt] */
}

double ref_largest_correlation(const ref_problem *p)
{
    const double b = p->lo - p->mean, B = p->hi - p->mean, scale = sqrt(p->variance);
    double y = 0, yy = 0, yt = 0;
    if (p->variance >= -b * B) return (B - b) * (double)density_at(tail_point(-b / (B - b)));
    double low = log(scale) - 3, high = log(scale) + 25;
    for (int i = 0; i < 50; i++) {
        const double alpha = exp((low + high) / 2);
        double from = isfinite(b) ? b - 10 * alpha : -10 * alpha,
               to = isfinite(B) ? B + 10 * alpha : 10 * alpha;
        for (int j = 0; j < 60; j++) {
            clipped_line(alpha, (from + to) / 2, b, B, &y, &yy, &yt);
            if (y < 0) from = (from + to) / 2;
            else to = (from + to) / 2;
        }
        if (yy < p->variance) low = log(alpha);
        else high = log(alpha);
    }
    return yt;
}
