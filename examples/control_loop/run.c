/* run.c: a simulated run of plant and controller, until the pole falls or the time is over. */
#include "control_loop.h"
#include <math.h>

summary loop_run(const settings *set)
{
    const double unseen = set->trust == TRUST_GATE ? TOLERANCE : INFINITY;
    const long ticks = lround(set->seconds * set->hertz);
    plant p = {.dice = set->seed};
    sensors s;
    summary all = {0};
    loop *const l = &all.loop;
    loop_open(l, set);
    while (l->ticks < ticks && !(all.fell = plant_fell(&p))) {
        plant_sense(&p, set->attacked, l->angle, unseen, &s);
        plant_step(&p, loop_tick(l, &s), 1 / set->hertz);
        all.rms += p.x * p.x;
        all.most = fmax(all.most, fabs(p.x));
        if (set->watch) set->watch(l, &p);
    }
    loop_close(l);
    all.rms = sqrt(all.rms / (double)l->ticks);
    return all;
}
