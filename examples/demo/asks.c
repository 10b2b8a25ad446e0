#include "asks.h"

/* The first four are the paper's: the mean of the angle as a plain number, moved by at most the
 * tolerance, moments with the paper's intervals. All the others promise that the smoothed angle
 * stays within the tolerance of the reported prediction: four by normal approximations, five
 * whatever the law of the angles. */
const struct ask asks[ASKS] = {
    {"paper", "paper", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_ECGM},
    {"paper (c)", "p.c", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_C},
    {"paper (c,g)", "p.cg", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_CG},
    {"paper (e,c)+m", "p.ecm", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER,
     CERTREG_CENTER_TRUE_MEAN, CERTREG_CONSTRAINTS_ECM},
    {"mean, recentered", "mean", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION, CERTREG_CONSTRAINTS_ECGM},
    {"circular mean", "circ", CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION, 0},
    {"huber", "huber", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION, 0},
    {"median, gradient", "med+g", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION, 0},
    {"mean, finite", "mean", CERTREG_STATISTIC_MEAN, CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION, 0},
    {"circular mean, finite", "circ", CERTREG_STATISTIC_CIRCULAR_MEAN, CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION, 0},
    {"huber, finite", "huber", CERTREG_STATISTIC_HUBER, CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION, 0},
    {"median, exact", "median", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION, 0},
    {"median, exact, gradient", "med+g", CERTREG_STATISTIC_MEDIAN, CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION, CERTREG_CONSTRAINTS_ECGM},
};

certreg_question ask_question(const struct ask *ask, double tolerance, double alpha)
{
    return (certreg_question){.struct_size = sizeof(certreg_question),
                              .statistic = ask->statistic,
                              .method = ask->method,
                              .center = ask->center,
                              .constraints = ask->constraints,
                              .tolerance = tolerance,
                              .huber_width =
                                  ask->statistic == CERTREG_STATISTIC_HUBER ? 0.5 * tolerance : 0.0,
                              .alpha = alpha};
}

const char *ask_score(int32_t statistic)
{
    static const char *const name[] = {"median", "huber", "mean", "circular mean"};
    return statistic >= 0 && statistic < 4 ? name[statistic] : "?";
}

const char *ask_interval(int32_t method)
{
    static const char *const name[] = {"finite", "asymptotic", "paper", "anytime"};
    return method >= 0 && method < 4 ? name[method] : "?";
}
