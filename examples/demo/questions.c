#include "questions.h"

/* The first four are the paper's. Its intervals bound the moments of the angle as a plain number,
 * and its guarantee is that the true mean moves by at most the tolerance. The others guarantee that
 * the smoothed angle stays within the tolerance of the reported prediction: four with asymptotic
 * bounds, five with bounds that hold for every number of samples and any distribution of the
 * angles. */
const struct question_spec questions[QUESTIONS] = {
    {"paper (E,C,G)+M",
     {"paper", "E,C,G+M"},
     CERTREG_STATISTIC_MEAN,
     CERTREG_METHOD_PAPER,
     CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_ECGM},
    {"paper (C)",
     {"paper", "C"},
     CERTREG_STATISTIC_MEAN,
     CERTREG_METHOD_PAPER,
     CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_C},
    {"paper (C,G)",
     {"paper", "C,G"},
     CERTREG_STATISTIC_MEAN,
     CERTREG_METHOD_PAPER,
     CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_CG},
    {"paper (E,C)+M",
     {"paper", "E,C+M"},
     CERTREG_STATISTIC_MEAN,
     CERTREG_METHOD_PAPER,
     CERTREG_CENTER_TRUE_MEAN,
     CERTREG_CONSTRAINTS_ECM},
    {"mean, asymptotic",
     {"", "mean"},
     CERTREG_STATISTIC_MEAN,
     CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION,
     CERTREG_CONSTRAINTS_ECGM},
    {"circular mean, asymptotic",
     {"circular", "mean"},
     CERTREG_STATISTIC_CIRCULAR_MEAN,
     CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION,
     0},
    {"Huber, asymptotic",
     {"", "Huber"},
     CERTREG_STATISTIC_HUBER,
     CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION,
     0},
    {"median, asymptotic",
     {"", "median"},
     CERTREG_STATISTIC_MEDIAN,
     CERTREG_METHOD_ASYMPTOTIC,
     CERTREG_CENTER_PREDICTION,
     0},
    {"mean, finite-sample",
     {"", "mean"},
     CERTREG_STATISTIC_MEAN,
     CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION,
     0},
    {"circular mean, finite-sample",
     {"circular", "mean"},
     CERTREG_STATISTIC_CIRCULAR_MEAN,
     CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION,
     0},
    {"Huber, finite-sample",
     {"", "Huber"},
     CERTREG_STATISTIC_HUBER,
     CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION,
     0},
    {"median, finite-sample",
     {"", "median"},
     CERTREG_STATISTIC_MEDIAN,
     CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION,
     0},
    {"median, gradient, finite-sample",
     {"median", "gradient"},
     CERTREG_STATISTIC_MEDIAN,
     CERTREG_METHOD_FINITE,
     CERTREG_CENTER_PREDICTION,
     CERTREG_CONSTRAINTS_ECGM},
};

certreg_question question_of(const struct question_spec *spec, double tolerance, double alpha)
{
    return (certreg_question){
        .struct_size = sizeof(certreg_question),
        .statistic = spec->statistic,
        .method = spec->method,
        .center = spec->center,
        .constraints = spec->constraints,
        .tolerance = tolerance,
        .huber_width = spec->statistic == CERTREG_STATISTIC_HUBER ? 0.5 * tolerance : 0.0,
        .alpha = alpha};
}

const char *statistic_name(int32_t statistic)
{
    static const char *const name[] = {"median", "huber", "mean", "circular mean"};
    return statistic >= 0 && statistic < 4 ? name[statistic] : "?";
}

const char *method_name(int32_t method)
{
    static const char *const name[] = {"finite", "asymptotic", "paper", "anytime"};
    return method >= 0 && method < 4 ? name[method] : "?";
}
