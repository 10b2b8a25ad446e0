#include "questions.h"

/* The paper's intervals bound the moments of the angle as a plain number, and its guarantee is that
 * the true mean moves by at most the tolerance. The others guarantee that the smoothed angle stays
 * within the tolerance of the reported prediction: four with asymptotic bounds, five with bounds
 * that hold for every number of samples and any distribution of the angles. */
#define PAPER(name, constraints)                                                                  \
    {                                                                                             \
        name, CERTREG_STATISTIC_MEAN, CERTREG_METHOD_PAPER, CERTREG_CENTER_TRUE_MEAN, constraints \
    }
#define OURS(name, statistic, method, constraints)                                               \
    {                                                                                            \
        name, CERTREG_STATISTIC_##statistic, CERTREG_METHOD_##method, CERTREG_CENTER_PREDICTION, \
            constraints                                                                          \
    }

const struct question_spec questions[QUESTIONS] = {
    PAPER("mean, variance, gradient, range", CERTREG_CONSTRAINTS_ECGM),
    PAPER("variance", CERTREG_CONSTRAINTS_C),
    PAPER("variance, gradient", CERTREG_CONSTRAINTS_CG),
    PAPER("mean, variance, range", CERTREG_CONSTRAINTS_ECM),
    OURS("mean", MEAN, ASYMPTOTIC, CERTREG_CONSTRAINTS_ECGM),
    OURS("circular mean", CIRCULAR_MEAN, ASYMPTOTIC, 0),
    OURS("Huber location", HUBER, ASYMPTOTIC, 0),
    OURS("median", MEDIAN, ASYMPTOTIC, 0),
    OURS("mean", MEAN, FINITE, 0),
    OURS("circular mean", CIRCULAR_MEAN, FINITE, 0),
    OURS("Huber location", HUBER, FINITE, 0),
    OURS("median", MEDIAN, FINITE, 0),
    OURS("median, gradient", MEDIAN, FINITE, CERTREG_CONSTRAINTS_ECGM),
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

const char *method_title(int32_t method)
{
    return method == CERTREG_METHOD_PAPER        ? "Zhang and Frank, with constraints on"
           : method == CERTREG_METHOD_ASYMPTOTIC ? "Asymptotic (approximate), with gradient"
                                                 : "Finite-sample (no assumptions)";
}
