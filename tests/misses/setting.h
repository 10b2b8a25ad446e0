/* A setting of the campaign: what is asked, of which kind of outputs, with how many samples. It is
 * drawn from a seed alone, over everything that promises a probability at finite samples. Left out
 * are ASYMPTOTIC and PAPER: what they promise holds in the limit only, and cover_moments
 * measures how near they are. */
#ifndef MISSES_SETTING_H
#define MISSES_SETTING_H
#include "misses/law.h"
#include "question/question.h"
#include <certreg/question.h>

enum { MOST_PARTS = 3, MOST_LEVELS = 2 };

/* How questions are asked. */
typedef enum asked {
    ASKED_ALONE,      /* certreg_certify, one question */
    ASKED_BONFERRONI, /* certreg_certify, several that hold together */
    ASKED_TOGETHER,   /* certreg_certify_outputs */
    ASKED_LEVELS,     /* certreg_certify_sigmas */
    ASKED_BOUNDS      /* certreg_output_bounds */
} asked;

typedef struct part {
    certreg_question question; /* its pointers are set by setting_question */
    certreg_serving serving;
    certreg_target target;
    double prediction[MOST_OUTPUTS];
    int given;         /* the prediction */
    uint64_t looks[3]; /* of a target; 0: the library's */
    size_t first, outputs;
} part;

typedef struct setting {
    uint64_t seed;
    asked asked;
    int parts, levels;
    part part[MOST_PARTS];
    double sigma[MOST_LEVELS], bounds_radius, alpha;
    double target_part; /* this part of a target is just too long for the law; 0: no target */
    size_t outputs, columns, inputs, samples, pilot;
    int32_t kind[MOST_OUTPUTS];
    double lo[MOST_OUTPUTS], hi[MOST_OUTPUTS];
    uint32_t constraints, flags; /* of the plan */
    int real_noise;              /* outputs of noisy inputs; else made up, which is faster */
    int exact;                   /* counts decide: no simulation */
    int tilted;                  /* too rare to be simulated as it is */
    menu menu;
    char name[128];
} setting;

void setting_draw(uint64_t seed, setting *out);
/* The row of a question's statistic, and what it supports. */
const cr_statistic *setting_row(const certreg_question *q);
int setting_supports(const certreg_question *q, uint32_t capability);
/* Whether certificates are made of counts of outputs alone. */
int setting_counts(const certreg_question *q);
/* Of a question; about that of the predictions, if it is relative. */
double setting_tolerance(const setting *s, const part *p);
/* target: radius asked for, if the setting has one. */
certreg_question setting_question(setting *s, int part, double target);

#endif
