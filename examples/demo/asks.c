#include "asks.h"

/* The first four are the paper's: the mean of the angle as a plain number, moved by at most the tolerance, moments with the paper's
 * intervals. All the others promise that the smoothed angle stays within the tolerance of the reported prediction: four by normal
 * approximations, five whatever the law of the angles. */
const struct ask asks[ASKS] = {
    {"paper", "paper", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_ECGM},
    {"paper (c)", "p.c", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_C},
    {"paper (c,g)", "p.cg", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_CG},
    {"paper (e,c)+m", "p.ecm", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_PAPER, CERTREG_PROMISE_TRUE_MEAN, CERTREG_FAMILY_ECM},
    {"mean, recentred", "mean", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_PREDICTION, CERTREG_FAMILY_ECGM},
    {"circular mean", "circ", CERTREG_SCORE_CIRCULAR_MEAN, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_PREDICTION, 0},
    {"huber", "huber", CERTREG_SCORE_HUBER, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_PREDICTION, 0},
    {"median, gradient", "med+g", CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_ASYMPTOTIC, CERTREG_PROMISE_PREDICTION, 0},
    {"mean, finite", "mean", CERTREG_SCORE_MEAN, CERTREG_INTERVAL_FINITE, CERTREG_PROMISE_PREDICTION, 0},
    {"circular mean, finite", "circ", CERTREG_SCORE_CIRCULAR_MEAN, CERTREG_INTERVAL_FINITE, CERTREG_PROMISE_PREDICTION, 0},
    {"huber, finite", "huber", CERTREG_SCORE_HUBER, CERTREG_INTERVAL_FINITE, CERTREG_PROMISE_PREDICTION, 0},
    {"median, exact", "median", CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, CERTREG_PROMISE_PREDICTION, 0},
    {"median, exact, gradient", "med+g", CERTREG_SCORE_MEDIAN, CERTREG_INTERVAL_FINITE, CERTREG_PROMISE_PREDICTION, CERTREG_FAMILY_ECGM},
};

certreg_question ask_question(const struct ask *ask, double tolerance, double alpha)
{
    return (certreg_question){.struct_size = sizeof(certreg_question),
                              .score = ask->score,
                              .interval = ask->interval,
                              .promise = ask->promise,
                              .family = ask->family,
                              .tolerance = tolerance,
                              .huber_width = ask->score == CERTREG_SCORE_HUBER ? 0.5 * tolerance : 0.0,
                              .alpha = alpha};
}

const char *ask_score(int32_t score)
{
    static const char *const name[] = {"median", "huber", "mean", "circular mean"};
    return score >= 0 && score < 4 ? name[score] : "?";
}

const char *ask_interval(int32_t interval)
{
    static const char *const name[] = {"finite", "asymptotic", "paper", "anytime"};
    return interval >= 0 && interval < 4 ? name[interval] : "?";
}
