/* The rules of quadrature, and the panels that a line is cut into. There are several rules since
 * drafts have to be fast, and the two values of a proof must not share nodes or panels. */
#include "solver/dual.h"
#include <math.h>

static const double node_8[] = {0.183434642495649805, 0.525532409916328986, 0.79666647741362674,
                                0.960289856497536232};
static const double weight_8[] = {0.362683783378361983, 0.313706645877887287, 0.222381034453374471,
                                  0.101228536290376259};
static const double node_16[] = {0.0950125098376374402, 0.281603550779258913, 0.458016777657227386,
                                 0.617876244402643748,  0.755404408355003034, 0.865631202387831744,
                                 0.944575023073232576,  0.989400934991649933};
static const double weight_16[] = {
    0.189450610455068496, 0.182603415044923589,  0.169156519395002538,  0.149595988816576732,
    0.124628971255533872, 0.0951585116824927848, 0.0622535239386478929, 0.0271524594117540949};
static const double node_20[] = {0.0765265211334973338, 0.227785851141645078, 0.373706088715419561,
                                 0.510867001950827098,  0.636053680726515025, 0.746331906460150793,
                                 0.839116971822218823,  0.912234428251325906, 0.963971927277913791,
                                 0.993128599185094925};
static const double weight_20[] = {
    0.152753387130725851,  0.149172986472603747, 0.142096109318382051,  0.131688638449176627,
    0.118194531961518417,  0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636,
    0.0406014298003869413, 0.0176140071391521183};

/* Rough is the draft if dual_closed_form.c refuses. The draft steers Newton, which needs no more
 * than 1e-8, since the value is stationary. Value and proof are for the value, with different
 * panels. */
const cr_quadrature_rule cr_quadrature_rough = {4, node_8, weight_8, 3.0, 8, 22};
const cr_quadrature_rule cr_quadrature_draft = {4, node_8, weight_8, 3.0, 8, 22};
const cr_quadrature_rule cr_quadrature_value = {8, node_16, weight_16, 2.5, 12, 40};
const cr_quadrature_rule cr_quadrature_proof = {10, node_20, weight_20, 3.0, 14, 42};

/* Returns the distance from x > 0 to the place at which exp(-x^2/2) has fallen by exp(-window). */
static double peak_extent(double x, double window)
{
    return 2 * window / (x + sqrt(x * x + 2 * window));
}

static const double min_log_slope = 1e-3; /* below, the budget is no limit */

static double max_panel_width(const cr_quadrature_rule *rule, double t, double low,
                              double slope_low, double high, double slope_high)
{
    const double peak_distance = fmin(fabs(t - low), fabs(t - high));
    return fmin(rule->max_width,
                rule->max_log_change / fmax(fmax(slope_low, slope_high), min_log_slope) +
                    0.5 * peak_distance);
}

int cr_quadrature_panel_ends(const cr_quadrature_rule *rule, double low_end, double high_end,
                             double low_peak, double high_peak, double ends[CR_MAX_PANEL_ENDS])
{
    if (!(low_end < high_end)) return 0;
    const double low = fmin(fmax(low_peak, low_end), high_end),
                 high = fmin(fmax(high_peak, low_end), high_end);
    const double slope_low = fabs(low - low_peak), slope_high = fabs(high - high_peak);
    const double left_end = fmax(low_end, low - peak_extent(fmax(0, low_peak - low), rule->window));
    const double right_end =
        fmin(high_end, high + peak_extent(fmax(0, high - high_peak), rule->window));
    int count = 0;
    for (double t = ends[count++] = right_end; t > left_end && count < CR_MAX_PANEL_ENDS;) {
        double width = max_panel_width(rule, t, low, slope_low, high, slope_high);
        width = fmin(width, max_panel_width(rule, t - width, low, slope_low, high, slope_high));
        t = t - width > left_end + 0.25 * width ? t - width : left_end;
        ends[count++] = t;
    }
    return count;
}

void cr_quadrature_panel_make(const cr_quadrature_rule *rule, double a, double b,
                              const cr_ratio *ratio, cr_quadrature_panel *out)
{
    const double center = 0.5 * (a + b), half_width = 0.5 * (b - a);
    for (int j = 0; j < 2 * rule->positive_nodes; j++) {
        const double t = out->t[j] =
            center + (j & 1 ? -half_width : half_width) * rule->node[j / 2];
        out->h[j] = cr_ratio_value(ratio, t);
        out->weight[j] = half_width * rule->weight[j / 2] * CR_INV_SQRT_TWO_PI * exp(-0.5 * t * t);
    }
}
