/* What would help where there is no rule. Whatever is named has been tried. */
#include "intervals/intervals.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

cr_weights_setting cr_intervals_setting(const certreg_coverage *c)
{
    return (cr_weights_setting){.alpha = c->alpha,
                                .shift = c->radius / c->sigma * (1 + CR_INTERVALS_STEP_ROUNDING),
                                .points = c->points,
                                .calibration = c->calibration_samples,
                                .samples = c->samples};
}

enum change { NEW_SAMPLES, CALIBRATION_SAMPLES, RADIUS, ALPHA };
enum { CHANGES = ALPHA + 1 };

static certreg_coverage with(certreg_coverage c, enum change what, double value)
{
    switch (what) {
    case NEW_SAMPLES: c.samples = (uint64_t)value; break;
    case CALIBRATION_SAMPLES: c.calibration_samples = (uint64_t)value; break;
    case RADIUS: c.radius = value; break;
    case ALPHA: c.alpha = value; break;
    }
    return c;
}

static int has_rule(const certreg_coverage *c, enum change what, double value, uint64_t points)
{
    const certreg_coverage changed = with(*c, what, value);
    const cr_weights_setting setting = cr_intervals_setting(&changed);
    const uint64_t least = cr_weights_least_points(&setting);
    return least && least <= points;
}

/* A value between the present one and the one that helps most, which has a rule, and hardly helps
 * more than it has to; 0: none has one. */
static double enough(const certreg_coverage *c, enum change what, double from, double to,
                     uint64_t points)
{
    if (!has_rule(c, what, to, points)) return 0;
    for (int i = 0; i < 20 && fmax(from, to) > 1.05 * fmin(from, to); i++) {
        const double middle = sqrt(from) * sqrt(to);
        if (has_rule(c, what, middle, points)) to = middle;
        else from = middle;
    }
    return to;
}

/* Rounded to three digits, a smaller radius and a larger alpha help as well. */
static void say(char *said, size_t room, enum change what, double value)
{
    switch (what) {
    case NEW_SAMPLES:
        snprintf(said, room, "%llu samples of a new input", (unsigned long long)value);
        break;
    case CALIBRATION_SAMPLES:
        snprintf(said, room, "%llu samples of each calibration point", (unsigned long long)value);
        break;
    case RADIUS: snprintf(said, room, "a radius of %.3g", 0.99 * value); break;
    case ALPHA: snprintf(said, room, "an alpha of %.3g", fmin(0.5, 1.01 * value)); break;
    }
}

void cr_intervals_advise(const certreg_coverage *c, uint64_t points, const char *before,
                         char *advice, size_t room)
{
    const struct {
        double from, to;
    } ways[CHANGES] = {{(double)c->samples, CR_WEIGHTS_MOST_SAMPLES},
                       {(double)c->calibration_samples, CR_WEIGHTS_MOST_SAMPLES},
                       {c->radius, fmin(c->radius, c->sigma) / 1024},
                       {c->alpha, 0.5}};
    *advice = 0;
    for (int i = 0; i < CHANGES; i++) {
        const double value = enough(c, (enum change)i, ways[i].from, ways[i].to, points);
        const size_t used = strlen(advice);
        if (!(value > 0) || used + 1 >= room) continue;
        snprintf(advice + used, room - used, "%s", used ? ", or " : before);
        say(advice + strlen(advice), room - strlen(advice), (enum change)i, value);
    }
}
