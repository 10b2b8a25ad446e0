/* The rows of statistics, methods, centers and constraints; and a question inside the library,
 * which names a row of each. */
#ifndef CR_QUESTION_QUESTION_H
#define CR_QUESTION_QUESTION_H
#include "certreg/certreg.h"
#include "certreg/question.h"
#include "record/record.h"
#include "statistics/direction_net.h"
#include "statistics/location.h"
#include "statistics/score.h"

/* ---- A row for each statistic, method, center and constraint, with its definition and the
 * requirements that it supports. Other files read the row instead of testing for a value, and a
 * question that requires anything else is refused. */
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
    CR_SUPPORTS_EPISODE = 2048,         /* an adversary who adapts (theory 14) */
    CR_SUPPORTS_WIDTH = 4096,           /* question.huber_width, which it then needs */
    CR_SUPPORTS_TRIM = 8192,            /* question.serving, with trim and core, defines it */
    CR_SUPPORTS_FAULTS = 16384,         /* features with arbitrary values (theory 1.12) */
    CR_SUPPORTS_GAPS = 32768 /* a served value without samples that failed (theory 1.5) */
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
     * published methods, projections and wrong features assume 1/2: they are not for another
     * level, for which counts of a certificate say nothing about a population either. */
    double level;
    double tolerance_divisor; /* scores at the tolerance divided by this keep T within the
                                 tolerance; 0: 1 */
    enum cr_angle angle;
    enum cr_prediction_rule prediction;
    enum cr_bounds_rule bounds;
    cr_net net; /* directions of a vector */
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

/* ---- A question inside the library: the fields that were given, and the fields that follow
 * from them. */
typedef struct cr_given { /* parsed from the public structs, with defaults filled in */
    int32_t output, statistic, method, center;
    uint32_t constraints; /* 0: the default of the method */
    int32_t prediction_given;
    double tolerance; /* NaN: a part of the prediction, which the pilot chooses */
    double relative_tolerance, huber_width, prediction;
    uint64_t faults;           /* units of features with arbitrary values */
    const double *predictions; /* the caller's: all numbers of a vector; NULL: none given */
    size_t prediction_count;
    size_t output_count;   /* 0 or 1: a single output, or all of them */
    double alpha;          /* after all divisions */
    double target_radius;  /* 0: none */
    const uint64_t *looks; /* the caller's; NULL: the default ones */
    size_t look_count;
    double growth;          /* of early looks; 0: none */
    size_t serving_samples; /* 0: the certificate is about T itself */
    double serving_failure_rate, serving_trim, serving_core; /* as in certreg_serving */
    int serving_pairs; /* 1: served from pairs of opposite noise */
    double at_radius;  /* > 0: output bounds at this radius are requested, not a radius */
    uint64_t bonferroni;
    uint64_t digest; /* certreg_question_digest */
} cr_given;

typedef struct cr_question {
    cr_given given;
    /* ---- these follow from it, and from the model: cr_question_resolve */
    const cr_statistic *statistic;
    const cr_method *method;
    const cr_center *center;
    size_t first_output, end_output, outputs; /* first_output .. end_output-1; their number */
    size_t directions;           /* directions of a vector, certified in turn; else 1 */
    double period;               /* a full turn; 0: the output counts as a number */
    double angle_rounding;       /* of recorded angles, at most; 0 without a period */
    uint32_t solver_constraints; /* that the solver may use; 0: all. The scores of a median have no
                                    variance, but its near conditions may have one */
    int is_vector;
    int has_directions; /* a vector that is certified along directions, not as a whole */
    int is_angle;
    int is_binomial;    /* its own scores have two values */
    int has_exact_ends; /* its scores compare outputs with prediction -+ tolerance themselves */
    int is_bounded;     /* its scores have finite bounds, whatever the range of the outputs */
    int is_group_sequential;   /* the group-sequential test of a target radius */
    int uses_order_statistics; /* output bounds by order statistics */
    int bounds_output;         /* bounds of f itself are used, not of scores */
    int about_estimate; /* about the estimate from all noisy samples, not about a prediction */
    /* ---- set by an interim look */
    const double *cached_prediction; /* chosen by an earlier look; NULL: none */
} cr_question;

/* The number of served samples in bounds of bounded scores: half of them for pairs (theory 1.5). */
static inline double cr_question_served_count(const cr_question *q)
{
    return (q->given.serving_pairs ? 0.5 : 1) * (double)q->given.serving_samples;
}

/* ---- parsed: no estimator is needed */
/* Parses element `index` of a caller's array, after the struct_size of its first element has been
 * checked. Divides alpha by question.bonferroni and by `share`. Fails with INVALID or VERSION. */
certreg_status cr_question_parse(const certreg_question *questions, size_t index, uint64_t share,
                                 cr_given *out, certreg_error *why);
/* Returns a digest of the looks that the caller gave to a group-sequential test; 0: none given. The
 * question is resolved. */
uint64_t cr_question_looks_digest(const cr_question *);

/* ---- resolved and validated */
/* Sets the fields that follow from the given ones. The output is one of the model's. A row is NULL
 * if its value has none; all other fields are then unset. */
void cr_question_resolve(cr_view *, cr_question *);
/* Returns the same question about output k of its vector alone. */
cr_question cr_question_of_output(cr_view *, const cr_question *, size_t k);
/* Returns 1 if the question's certificate holds for units with arbitrary values too. */
int cr_question_allows_faults(cr_view *, const cr_question *);
/* Resolves what was given, and validates it for this model and plan; no record is needed. The error
 * names the field and the remedy. */
certreg_status cr_question_validate(cr_view *, cr_question *, certreg_error *why);
/* Returns the part of the norm of a prediction that is the tolerance, rounded down (theory 1.10).
 */
double cr_question_relative_tolerance(const cr_question *, const double *prediction);
/* Parses and validates a single question about the input that was begun; WRONG_STATE before. */
certreg_status cr_question_load(cr_view *, const certreg_question *, cr_question *out,
                                certreg_error *why);
/* The same for a server, without the fields that only a certificate needs: a prediction, the looks
 * of a target, constraints of the plan. */
certreg_status cr_question_load_for_estimate(cr_view *, const certreg_question *, cr_question *out,
                                             certreg_error *why);

/* ---- Combinations of the parts of a question. Every refusal names the values that can be
 * combined. */
/* Fails with INVALID if statistic, method and center cannot be combined, or if one of them does not
 * support all of `required`, a set of enum cr_capability. */
certreg_status cr_compatibility_check(const cr_question *, uint32_t required, certreg_error *why);
/* Returns the set of CERTREG_CONSTRAINT_... that can be combined with the question's outputs and
 * its target. */
uint32_t cr_compatibility_constraints(const cr_question *);
/* Fails with INVALID if the question names a constraint that it cannot use, or needs one that is
 * not in `plan`, the constraints of the plan. */
certreg_status cr_compatibility_check_constraints(const cr_question *, uint32_t plan,
                                                  certreg_error *why);

#endif
