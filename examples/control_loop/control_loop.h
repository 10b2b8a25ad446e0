/* control_loop.h: a cart that balances a pole. A network reads the pole's angle from the 16 pixels
 * of a line camera, whose error may be anything shorter than ERROR_BOUND. A certificate of every
 * tick says whether such an error could matter; where it could, a coarse tilt sensor is used. */
#ifndef CONTROL_LOOP_H
#define CONTROL_LOOP_H
#define CERTREG_EXPERIMENTAL 1
#include <certreg/service.h>

enum { PIXELS = 16, HIDDEN = 64, SAMPLES = 256, BATCH = 64, LOOP_MEMORY = 80 * 1024 };
#define ERROR_BOUND 0.15 /* of the camera: 2-norm over the pixels; full light is 1 */
#define SIGMA 0.15
#define TOLERANCE 0.06 /* rad */

/* ---- network.c: the learned component */
float network_read(const float *pixels);
void network_slope(const float *pixels, double *slope); /* its derivative by each pixel */
int network_eval(void *user, const certreg_batch *);

/* ---- plant.c: cart, pole and sensors */
typedef struct plant {
    double x, v, angle, rate; /* m, m/s, rad, rad/s */
    double time, push, twist; /* s; gusts at the cart and at the pole, N */
    uint64_t dice;
} plant;

typedef struct sensors {
    double x, v, gyro, tilt;
    float pixels[PIXELS];
} sensors;

void plant_step(plant *, double force, double seconds);
int plant_fell(const plant *);
/* @param attacked  whether an adversary, who knows everything, changes the pixels
 * @param unseen    how far from the estimate the reading may be, for nobody to notice */
void plant_sense(plant *, int attacked, double estimate, double unseen, sensors *);

/* ---- loop.c: estimator and controller */
enum trust { TRUST_NETWORK, TRUST_GATE, TRUST_CERTIFICATE, TRUST_TILT };
enum source { SOURCE_TILT, SOURCE_NETWORK, SOURCE_MOVED, SOURCES }; /* of a tick's angle */
typedef struct loop loop;

typedef struct settings {
    int trust, attacked, keep;       /* keep: move certificates from tick to tick */
    double hertz, seconds, deadline; /* of a tick's certificate; 0: none */
    uint64_t seed;                   /* of the gusts */
    certreg_eval network;
    size_t pixels, memory; /* what the estimator is told; right are PIXELS, LOOP_MEMORY */
    void (*watch)(const loop *, const plant *); /* after each tick; may be NULL */
} settings;

struct loop {
    const settings *set;
    certreg_estimator *estimator; /* NULL: it could not be made */
    certreg_service *service;     /* the same */
    certreg_certificate anchor;   /* the last one */
    double angle, left;           /* the estimate; the radius about this tick's pixels */
    int source;
    long ticks, of[SOURCES], missed, calls;
    char said[256]; /* what went wrong first */
};

settings loop_settings(int trust, int attacked);
/* Makes the estimator in static memory. What fails is said, and the loop does without. */
void loop_open(loop *, const settings *);
/* One tick. @return the force on the cart */
double loop_tick(loop *, const sensors *);
void loop_close(loop *);

/* ---- run.c: plant and controller in simulated time */
typedef struct summary {
    loop loop;
    int fell;
    double rms, most; /* m: distance of the cart from its mark */
} summary;

/* Opens, runs until the pole falls or the time is over, and closes. */
summary loop_run(const settings *);

#endif
