/* A row for each statistic, method, center and constraint, with its definition and the requirements
 * that it supports. Other files read the row instead of testing for a value, and a question that
 * requires anything else is refused. */
#ifndef CR_QUESTION_REGISTRY_H
#define CR_QUESTION_REGISTRY_H
#include "certreg/certreg.h"
#include "statistics/location.h"
#include "statistics/direction_net.h"
#include "statistics/score.h"

struct cr_question;

/* The numbers of values, which are 0 .. count-1, for the library, its tests and its fuzzers. */
enum { CR_STATISTIC_COUNT = 7, CR_METHOD_COUNT = 5, CR_CENTER_COUNT = 3 };

/* Subjects and options of questions. A question requires a set of them. */
enum cr_capability {
    CR_SUPPORTS_NUMBER = 1,             /* one output that is no angle */
    CR_SUPPORTS_ANGLE = 2,              /* one output that is an angle */
    CR_SUPPORTS_VECTOR = 4,             /* several outputs, certified along directions */
    CR_SUPPORTS_ALL = 8,                /* all outputs, certified as a whole */
    CR_SUPPORTS_SERVING = 16,           /* question.serving */
    CR_SUPPORTS_PUBLISHED_SERVING = 32, /* the published certificate is about served values */
    CR_SUPPORTS_TARGET = 64,            /* a target radius */
    CR_SUPPORTS_GROUP_TEST = 128,       /* of a target, at looks fixed beforehand (theory 6) */
    CR_SUPPORTS_OUTPUT_BOUNDS = 256,    /* of one output */
    CR_SUPPORTS_ATTACK = 512,           /* certreg_attack_run */
    CR_SUPPORTS_RELATIVE = 1024,        /* question.relative_tolerance */
    CR_SUPPORTS_EPISODE = 2048          /* an adversary who adapts (theory 14) */
};

/* A value of an enum as an element of a set. */
#define CR_ONE_OF(value) (UINT32_C(1) << (value))

typedef struct cr_capabilities {
    const char *name;  /* without CERTREG_STATISTIC_ and the like */
    uint32_t supports; /* a set of enum cr_capability */
} cr_capabilities;

/* The meaning of an angle. */
enum cr_angle {
    CR_ANGLE_UNROLLED, /* as a number: the circle is cut opposite its circular mean, which must be
                     shown to stay near (theory 7.2) */
    CR_ANGLE_CIRCULAR, /* on the circle itself; tolerances end at a quarter of a turn */
    CR_ANGLE_AS_NUMBER /* like any other output */
};

/* The prediction that the pilot chooses. */
enum cr_prediction_rule {
    CR_PREDICT_BALANCED,   /* the point that balances both tails; the statistic itself for published
                              methods and for output bounds, which have one for all tolerances */
    CR_PREDICT_STATISTIC,  /* the statistic itself */
    CR_PREDICT_NOISE_FREE, /* the output without noise */
    CR_PREDICT_CENTER      /* the sampled output with the least median distance */
};

/* The computation of output bounds (theory 1.6). */
enum cr_bounds_rule {
    CR_BOUNDS_BY_TOLERANCE, /* the least tolerance that is proven */
    CR_BOUNDS_BY_ORDER,     /* order statistics if the method has them, else BY_TOLERANCE */
    CR_BOUNDS_OF_MEAN       /* the bounds of the output itself */
};

typedef struct cr_statistic {
    cr_capabilities row;
    uint32_t methods, centers; /* sets of the values that it can be combined with */
    /* T stays within the tolerance if the mean score stays above 0 on both sides. Two-valued scores
     * are counted: their bounds are binomial. Scores without a bound need the range of the
     * outputs. */
    enum cr_score_kind score;
    /* T is this quantile, if its scores are counted and have sides. Attacks, BY_ORDER, BALANCED,
     * published methods and projections assume 1/2: they are not for another level. */
    double level;
    double tolerance_divisor; /* scores at the tolerance divided by this keep T within the
                                 tolerance; 0: 1 */
    enum cr_angle angle;
    enum cr_prediction_rule prediction;
    enum cr_bounds_rule bounds;
    cr_net net;    /* directions of a vector */
    int has_width; /* question.huber_width is used */
    int has_trim;  /* question.serving, with trim and core, defines it */
    /* T of these outputs on the line; NULL: there is no estimate. */
    double (*estimate)(const struct cr_question *, const cr_values *);
} cr_statistic;

typedef struct cr_method {
    cr_capabilities row;
    uint32_t centers;          /* the set of centers that it can be combined with */
    uint32_t constraints;      /* that a question may name */
    uint32_t default_families; /* the constraints for 0, as far as the plan has them */
    uint32_t required;         /* constraints among these that the plan must have */
    uint32_t neutral;          /* constraints that do not change its bounds of the output itself */
    int normality;  /* its bounds need nearly normal means; 2: the paper's, not proven even then */
    int is_anytime; /* its bounds hold at all numbers of samples simultaneously */
    int has_order_statistics; /* for output bounds */
    int published; /* as published in every respect: the prediction, the cut of a circle, and the
                      division of alpha among the conditions */
} cr_method;

typedef struct cr_center {
    cr_capabilities row;
    int about_estimate; /* the certificate is about the estimate from all noisy samples */
    int bounds_output;  /* bounds of the output itself are used, not of scores */
    int includes_pilot; /* the samples of the pilot enter the bounds too */
} cr_center;

/* Return the row of a value, or NULL if there is no such value. A constraint is given by the index
 * of its bit; a row without a name stands for a bit without a constraint. */
const cr_statistic *cr_statistic_of(int32_t value);
const cr_method *cr_method_of(int32_t value);
const cr_center *cr_center_of(int32_t value);
const cr_capabilities *cr_constraint_of(int32_t bit);

#endif
