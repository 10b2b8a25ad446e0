/* What each statistic, method and center is: one row each. Nothing else in the library asks which
 * of them a question has, but what its row says. What a row does not offer is refused. */
#ifndef CR_QUESTION_ROWS_H
#define CR_QUESTION_ROWS_H
#include "certreg/certreg.h"
#include "statistics/location.h"
#include "statistics/net.h"
#include "statistics/score.h"

struct cr_question;

/* What a question may be about, and what it may ask for. */
enum cr_offer {
    CR_OFFERS_NUMBER = 1, /* about one output, which is no angle */
    CR_OFFERS_ANGLE = 2,  /* about one that is */
    CR_OFFERS_VECTOR = 4, /* about several together, along directions */
    CR_OFFERS_ALL = 8,    /* about all together, as they are */
    CR_OFFERS_SERVING = 16,
    CR_OFFERS_PUBLISHED_SERVING = 32, /* what was published is about served values */
    CR_OFFERS_TARGET = 64,
    CR_OFFERS_GROUP_TEST = 128, /* of a target, at looks fixed beforehand (theory 6) */
    CR_OFFERS_OUTPUT_BOUNDS = 256,
    CR_OFFERS_ATTACK = 512
};

/* Values of an enum as a set. */
#define CR_ONE_OF(value) (UINT32_C(1) << (value))

typedef struct cr_row {
    const char *name; /* without CERTREG_STATISTIC_ and the like */
    uint32_t offers;  /* enum cr_offer, together */
} cr_row;

/* How an angle is taken. */
enum cr_angle {
    CR_ANGLE_CUT,   /* as a number, where the circle is cut opposite its circular mean, which must
                       be shown to stay near (theory 7.2) */
    CR_ANGLE_ROUND, /* on the circle itself; tolerances end at a quarter of a turn */
    CR_ANGLE_AS_NUMBER /* like any other output */
};

/* What the pilot chooses as the prediction. */
enum cr_choice {
    CR_CHOICE_BALANCED,   /* the point that balances both tails; the statistic itself for published
                             methods, and for output bounds, which have one for all tolerances */
    CR_CHOICE_STATISTIC,  /* the statistic itself */
    CR_CHOICE_NOISE_FREE, /* the output without noise */
    CR_CHOICE_CENTER      /* the output nearest to the others */
};

/* How output bounds are found (theory 1.6). */
enum cr_reach {
    CR_REACH_TOLERANCES, /* the smallest tolerance that is proved */
    CR_REACH_ORDERS,     /* order statistics, where the method has them, else likewise */
    CR_REACH_MEAN        /* the bounds of the output itself */
};

typedef struct cr_statistic {
    cr_row row;
    uint32_t methods, centers; /* that it goes with: CR_ONE_OF */
    /* As long as its means stay above 0 on both sides, T stays within the tolerance. Scores of two
     * values are counted: their bounds are exact, and have no variance. Others that have no bound
     * of their own need the range of the outputs. */
    enum cr_score_kind score;
    double wider; /* a score of so much less than the tolerance shows that T is within it; 0: 1 */
    enum cr_angle angle;
    enum cr_choice choice;
    enum cr_reach reach;
    cr_net net;    /* directions of a vector */
    int has_width; /* question.huber_width */
    int trims;     /* question.serving, with trim and core, is a part of it */
    /* T of these outputs, on the line; NULL: it has no estimate here. */
    double (*estimate)(const struct cr_question *, const cr_values *);
} cr_statistic;

typedef struct cr_method {
    cr_row row;
    uint32_t centers;     /* that it goes with: CR_ONE_OF */
    uint32_t constraints; /* that a question may name */
    uint32_t usual;       /* what 0 stands for, as far as the plan has them */
    uint32_t demanded;    /* those of them that the plan has to have */
    uint32_t neutral;     /* that do not change its bounds of the output itself */
    int normality;        /* its bounds hold for about normal means only; 2: not even then */
    int any_number;       /* they hold at all numbers of samples together */
    int orders;           /* it has order statistics */
    int published; /* with everything else that was published: the prediction, where a circle is
                      cut, and alpha divided among the conditions */
} cr_method;

typedef struct cr_center {
    cr_row row;
    int by_estimate;  /* the certificate is about the estimate from all noisy samples */
    int about_output; /* bounds of the output itself are used, not of scores */
    int every_sample; /* the pilot's samples enter the bounds too */
} cr_center;

/* NULL: there is no such value. */
const cr_statistic *cr_statistic_of(int32_t value);
const cr_method *cr_method_of(int32_t value);
const cr_center *cr_center_of(int32_t value);
const cr_row *cr_constraint_of(int32_t value);

#endif
