/* A closed loop that uses certificates, in simulated time, so that its output repeats: a table of
 * what happens with and without them, with and without an adversary of the camera.
 * Usage: control_loop [HERTZ [RUNS]]; control_loop trace, for the figure, in CSV
 * In real time, by a deadline: make bench-latency. */
#include "control_loop.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trusts[] = {"network", "network, gated", "network, certified",
                                     "tilt sensor"};

/* ---- the table */
static void row(settings set, int runs)
{
    double rms = 0, most = 0, ticks = 0, calls = 0, of[SOURCES] = {0};
    int fell = 0;
    for (set.seed = 1; set.seed <= (uint64_t)runs; set.seed++) {
        const summary s = loop_run(&set);
        fell += s.fell, rms += s.rms / runs, most = fmax(most, s.most);
        ticks += (double)s.loop.ticks, calls += (double)s.loop.calls;
        for (int k = 0; k < SOURCES; k++) of[k] += (double)s.loop.of[k];
        if (s.loop.said[0]) puts(s.loop.said);
    }
    printf("| %s | %s | %d of %d | %.2f m | %.2f m | %.0f%% | %.0f%% | %.1f |\n",
           set.attacked ? "yes" : "no", trusts[set.trust], fell, runs, rms, most,
           100 * of[SOURCE_TILT] / ticks, 100 * of[SOURCE_MOVED] / ticks, calls / ticks);
}

static int table(double hertz, int runs)
{
    if (!(hertz >= 50 && hertz <= 10000 && runs >= 1))
        return puts("HERTZ is 50 to 10000, RUNS 1 or more"), 2;
    puts("| attacked | the angle is from | falls | cart, rms | most | by tilt sensor | "
         "certificate moved | calls a tick |\n|---|---|---|---|---|---|---|---|");
    for (int attacked = 0; attacked < 2; attacked++)
        for (int trust = TRUST_NETWORK; trust <= TRUST_TILT; trust++) {
            settings set = loop_settings(trust, attacked);
            set.hertz = hertz;
            row(set, runs);
        }
    return 0;
}

/* ---- the trace */
static void line(const loop *l, const plant *p)
{
    if (l->ticks % 8 == 0)
        printf("%d,%.3f,%.4f,%.4f,%d,%.4f\n", l->set->trust, p->time, p->x, p->angle, l->source,
               l->left);
}

static int trace(void)
{
    puts("trust,time,x,angle,source,left");
    for (int trust = TRUST_NETWORK; trust <= TRUST_TILT; trust++) {
        settings set = loop_settings(trust, 1);
        set.seed = 1, set.watch = line;
        loop_run(&set);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "trace")) return trace();
    return table(argc > 1 ? atof(argv[1]) : 200, argc > 2 ? atoi(argv[2]) : 3);
}
