/* The header's names without their beginnings, and what a question points to, for tables of
 * questions. */
#ifndef SUPPORT_NAMES_H
#define SUPPORT_NAMES_H
#include "question/question.h"

enum { /* statistics */
       MEDIAN = CERTREG_STATISTIC_MEDIAN,
       HUBER = CERTREG_STATISTIC_HUBER,
       MEAN = CERTREG_STATISTIC_MEAN,
       CIRCULAR_MEAN = CERTREG_STATISTIC_CIRCULAR_MEAN,
       TRIMMED_MEAN = CERTREG_STATISTIC_TRIMMED_MEAN,
       BALL_CENTER = CERTREG_STATISTIC_BALL_CENTER,
       PROJECTION_MEDIAN = CERTREG_STATISTIC_PROJECTION_MEDIAN
};
enum { /* methods */
       FINITE = CERTREG_METHOD_FINITE,
       ASYMPTOTIC = CERTREG_METHOD_ASYMPTOTIC,
       PAPER = CERTREG_METHOD_PAPER,
       ANYTIME = CERTREG_METHOD_ANYTIME,
       BASELINE = CERTREG_METHOD_BASELINE
};
enum { /* centers */
       PREDICTION = CERTREG_CENTER_PREDICTION,
       TRUE_MEAN = CERTREG_CENTER_TRUE_MEAN,
       SAMPLE_MEDIAN = CERTREG_CENTER_SAMPLE_MEDIAN
};
enum { /* outputs */
       ALL = CERTREG_ALL_OUTPUTS,
       REAL = CERTREG_OUTPUT_REAL,
       ANGLE = CERTREG_OUTPUT_ANGLE,
       ANGLE_PAIR = CERTREG_OUTPUT_ANGLE_PAIR
};
enum { /* constraints */
       C = CERTREG_CONSTRAINTS_C,
       CG = CERTREG_CONSTRAINTS_CG,
       ECM = CERTREG_CONSTRAINTS_ECM,
       ECGM = CERTREG_CONSTRAINTS_ECGM
};

/* clang-format off */
#define TARGET(...) &(certreg_target){.struct_size = sizeof(certreg_target), __VA_ARGS__}
#define SERVING(...) &(certreg_serving){.struct_size = sizeof(certreg_serving), __VA_ARGS__}
#define NUMBERS(...) (const double[]){__VA_ARGS__}
/* clang-format on */

#endif
