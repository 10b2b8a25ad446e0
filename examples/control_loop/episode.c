/* How far does a cart stray from its mark in a run of 4 s, if an adversary changes what its sensors
 * report? He knows all earlier readings with their noise, and his changes of one run together are
 * shorter than the radius. The callback simulates the loop: a row is the noise of all readings. The
 * deployed loop is the same code, but a service draws the noise about what it receives, from a
 * fresh secret seed in every run. Terms: "Episodes" in docs/guide/real-time.md. */
#include "control_loop.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 200, SENSORS = 4, READINGS = TICKS * SENSORS, EPISODES = 4000, RUNS = 100 };
#define LIMIT 0.8                                              /* m */
static const float unit[SENSORS] = {0.05f, 0.1f, 0.02f, 0.1f}; /* m, m/s, rad, rad/s */
static const struct start {
    double angle, motor; /* rad; strength of the motor */
} starts[5] = {{0, 1}, {0.1, 1}, {-0.1, 1}, {0, 0.9}, {0, 1.1}};

typedef struct cart {
    const struct start *start;
    /* Adds the noise of a tick to what the sensors report, or returns 1 if it cannot. */
    int (*sense)(struct cart *, int tick, float *reading, float *noisy);
    double sigma, attack, speed; /* attack: its length in a tick; speed: the last one reported */
    const float *row;
    certreg_service *service;
} cart;

/* ---- the loop, simulated or deployed. NaN if it fails: it then ignores the rest of the row. */
static float farthest(cart *c, uint64_t run)
{
    plant p = {.angle = c->start->angle, .dice = run * UINT64_C(0x9e3779b97f4a7c15)};
    p.dice = (p.dice ^ p.dice >> 30) * UINT64_C(0xbf58476d1ce4e5b9); /* other gusts in every run */
    double most = 0;
    for (int t = 0; t < TICKS; t++) {
        const double gain[] = {6.3, 8.4, 57.7, 15};
        double force = 0;
        float reading[] = {(float)p.x, (float)p.v, (float)p.angle, (float)p.rate}, y[SENSORS];
        if (plant_fell(&p) || c->sense(c, t, reading, y)) return NAN;
        for (int j = 0; j < SENSORS; j++) force += gain[j] * (double)y[j];
        plant_step(&p, c->start->motor * force, 0.02);
        most = fmax(most, fabs(p.x));
    }
    return (float)most;
}

static int simulated(cart *c, int tick, float *reading, float *noisy)
{
    return certreg_episode_sense(c->sigma, unit, SENSORS, 1, c->row + tick * SENSORS, READINGS,
                                 reading, noisy) > 0;
}

/* The log of the last deployed run: what was received, and what the loop saw. */
static float received[TICKS][SENSORS], seen[TICKS][SENSORS];

/* Deployed, and attacked: the cart seems to move faster than it does. */
static int deployed(cart *c, int tick, float *reading, float *noisy)
{
    reading[1] += tick ? unit[1] * (float)copysign(c->attack, c->speed) : 0;
    if (!tick && certreg_service_start(c->service, 0)) return 1;
    if (certreg_service_sense(c->service, reading, noisy, NULL)) return 1;
    memcpy(received[tick], reading, sizeof *received);
    memcpy(seen[tick], noisy, sizeof *seen);
    c->speed = (double)noisy[1];
    return 0;
}

/* Repeats the run by the seed of the log. Returns the number of ticks that are the same. */
static int replay(certreg_service *s)
{
    certreg_service_log log = {.struct_size = sizeof log};
    float noisy[SENSORS];
    int same = 0;
    if (certreg_service_info(s, &log) || certreg_service_start(s, log.seed)) return 0;
    for (int t = 0; t < TICKS && !certreg_service_sense(s, received[t], noisy, NULL); t++)
        same += !memcmp(noisy, seen[t], sizeof noisy);
    return same;
}

/* ---- its certificate */
static int evaluate(void *user, const certreg_batch *b)
{
    cart *c = user;
    for (size_t i = 0; i < b->rows; i++)
        c->row = b->x + i * READINGS, b->y[i] = farthest(c, b->first + i);
    return 0;
}

/* The radius that holds for the deployed loop, and the service that runs it. */
static double served(certreg_estimator *e, const certreg_question *q, const certreg_certificate *c,
                     certreg_service **service)
{
    const certreg_service_plan p = {sizeof p, .ticks = TICKS};
    certreg_certificate out = {.struct_size = sizeof out};
    certreg_error why = {.struct_size = sizeof why};
    if (certreg_service_create(e, q, c, &p, &why, service) ||
        certreg_service_certificate(*service, &out))
        puts(why.text);
    return out.radius; /* 0 if there is none */
}

/* The shortest radii of all starts: alpha is not divided, and no start may be left out. Keeps the
 * service of the last start, which is that of any other: it has the same noise and terms. */
static void certify(certreg_estimator *e, cart *c, double radius[2])
{
    static const float zero[READINGS];
    static uint64_t noise_id;
    const certreg_serving one = {sizeof one, .samples = 1, .failure_rate = 0.05};
    certreg_question q[2] = {
        {sizeof *q, .tolerance = LIMIT, .alpha = 0.01, .prediction = &(double){0}}};
    q[1] = q[0], q[1].serving = &one;
    radius[0] = radius[1] = INFINITY, c->sense = simulated;
    for (c->start = starts; c->start < starts + 5; c->start++) {
        certreg_certificate out[2] = {{.struct_size = sizeof *out}};
        if (certreg_estimator_begin(e, zero, c->sigma, noise_id++) ||
            certreg_certify(e, EPISODES, q, 2, out))
            puts(certreg_estimator_error(e)->text), exit(1);
        for (int k = 0; k < 2; k++) {
            certreg_service_destroy(c->service);
            radius[k] = fmin(radius[k], served(e, q + k, out + k, &c->service));
        }
    }
}

int main(void)
{
    float scale[READINGS]; /* of all ticks */
    cart c = {0};
    const certreg_model m = {sizeof m,     .eval = evaluate, .user = &c,    .inputs = READINGS,
                             .outputs = 1, .batch = 16,      .scale = scale};
    const certreg_plan p = {sizeof p, .seed = 42, .max_samples = EPISODES, .pilot = SIZE_MAX,
                            .flags = CERTREG_PLAN_EPISODE | CERTREG_PLAN_COUNT_FAILURES};
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e;
    for (int i = 0; i < READINGS; i++) scale[i] = unit[i % SENSORS];
    if (certreg_estimator_create(NULL, &m, &p, &why, &e)) return puts(why.text), 1;
    puts("| σ | median | one run in 20 | in each tick | attacked runs that stray |");
    for (c.sigma = 0.2; c.sigma < 4; c.sigma *= 2) {
        double r[2], strays = 0;
        certify(e, &c, r);
        c.attack = r[1] / sqrt(TICKS), c.sense = deployed, c.start = starts;
        for (int i = 0; i < RUNS; i++)
            strays += !((double)farthest(&c, EPISODES + (uint64_t)i) < LIMIT);
        printf("| %g | %.2f | %.2f | %.3f | %g of %d |\n", c.sigma, r[0], r[1], c.attack, strays,
               RUNS);
    }
    printf("\nIn a replay of the last run %d of %d ticks are the same.\n", replay(c.service),
           TICKS);
    certreg_service_destroy(c.service);
    certreg_estimator_destroy(e);
}
