/* plant.c: a cart of 1 kg on a track, a pole of 0.1 kg and 1 m on it, gusts, and sensors: a line
 * camera that is in shadow for 1.5 s of every 5 s, a gyroscope with a bias, and a tilt sensor whose
 * zero is off. The camera alone has an adversary. */
#include "control_loop.h"
#include <math.h>
#include <string.h>

static double uniform(plant *p) /* -1 to 1 */
{
    p->dice = p->dice * UINT64_C(0x5851f42d4c957f2d) + 1;
    return ldexp((double)(p->dice >> 11), -52) - 1;
}

/* ---- motion */
void plant_step(plant *p, double force, double seconds)
{
    const double mass = 1.1, pole = 0.05, half = 0.5, u = fmax(-20, fmin(20, force));
    if (floor(p->time * 2) != floor((p->time - seconds) * 2)) /* another gust, twice a second */
        p->push = 3 * uniform(p), p->twist = 0.5 * uniform(p);
    const double s = sin(p->angle), c = cos(p->angle);
    const double along = (u + p->push + pole * p->rate * p->rate * s) / mass;
    const double turn =
        (9.81 * s - c * along + p->twist / mass) / (half * (4 / 3.0 - 0.1 * c * c / mass));
    p->v += seconds * (along - pole * turn * c / mass), p->x += seconds * p->v;
    p->rate += seconds * turn, p->angle += seconds * p->rate;
    p->time += seconds;
}

int plant_fell(const plant *p)
{
    return !(fabs(p->angle) < 0.5 && fabs(p->x) < 2.4);
}

/* ---- sensors */
static void camera(const plant *p, float *pixels)
{
    const double light = fmod(p->time, 5) < 3.5 ? 1 : 0.2;
    for (int i = 0; i < PIXELS; i++) {
        const double away = (-0.45 + 0.06 * i - p->angle) / 0.06;
        pixels[i] = (float)(light / (1 + away * away));
    }
}

/* Goes along the network's slope, back onto the ball, to hide the pole's lean. The reading stays
 * within `unseen` of the estimate: a step that would leave it is halved. */
static void attack(float *pixels, const plant *p, double estimate, double unseen)
{
    float clean[PIXELS], at[PIXELS];
    double push[PIXELS] = {0}, next[PIXELS], slope[PIXELS], reach = ERROR_BOUND / 3;
    const double side = p->angle < 0 ? 1 : -1;
    memcpy(clean, pixels, sizeof clean);
    for (int step = 0; step < 9; step++) {
        double steep = 1e-30, length = 1e-30;
        network_slope(pixels, slope);
        for (int i = 0; i < PIXELS; i++) steep += slope[i] * slope[i];
        for (int i = 0; i < PIXELS; i++) {
            next[i] = push[i] + side * reach * slope[i] / sqrt(steep);
            length += next[i] * next[i];
        }
        const double shrink = fmin(1, 0.999 * ERROR_BOUND / sqrt(length));
        for (int i = 0; i < PIXELS; i++) at[i] = clean[i] + (float)(next[i] *= shrink);
        if (fabs((double)network_read(at) - estimate) < unseen)
            memcpy(pixels, at, sizeof at), memcpy(push, next, sizeof push);
        else reach /= 2;
    }
}

void plant_sense(plant *p, int attacked, double estimate, double unseen, sensors *s)
{
    s->x = p->x, s->v = p->v;
    s->gyro = p->rate + 0.01;
    s->tilt = p->angle + 0.05;
    camera(p, s->pixels);
    if (attacked) attack(s->pixels, p, estimate, unseen);
    for (int i = 0; i < PIXELS && !attacked; i++) s->pixels[i] += (float)(0.01 * uniform(p));
}
