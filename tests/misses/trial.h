/* One run: fresh outputs of a law, certificates, and whether what they say is false. */
#ifndef MISSES_TRIAL_H
#define MISSES_TRIAL_H
#include "misses/promise.h"

enum { MOST_SAMPLES = 1024, REMEMBERED = 512 };

typedef struct trial {
    setting setting;
    law law;
    certreg_estimator *estimator;
    size_t first_main;    /* the pilot's size */
    double target, truth; /* the radius asked for; the true one about given predictions */
    double radius, most;  /* the least and the greatest that was claimed in the last run */
    int32_t side;         /* that limited the last certificate of the first question */
    uint64_t certificates, missed_hashes[REMEMBERED];
    float y[MOST_SAMPLES * 2 * MOST_OUTPUTS];
    double end[MOST_POINTS], pilot_end[MOST_POINTS], log_ratio[MOST_POINTS];
    signed char known[REMEMBERED];
} trial;

/* Opens an estimator for it; ends the program if the library refuses. */
void trial_open(trial *t, const setting *s);
void trial_close(trial *t);
void trial_set_law(trial *t, const law *l);

/* 1 if any claim of this run is false (tilted: its likelihood ratio), else 0. Different ids have
 * independent samples. */
double trial_run(trial *t, uint64_t id);

/* Steps of the function that the bounds of the last run fear most; 0: there are none. Pilot and
 * noise-free output stay. */
int trial_worst_law(trial *t, law *l);

/* Outputs of so many samples of each cell, in order; whether a claim would be false of a law is
 * asked of the claims. */
void trial_claims_of_counts(trial *t, const int *count, claim *said);
int trial_is_missed(const trial *t, const law *l, const claim *said);

#endif
