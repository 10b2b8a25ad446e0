/* questions.h: the certificates that the demo computes from every record. */
#ifndef DEMO_QUESTIONS_H
#define DEMO_QUESTIONS_H
#include <certreg/certreg.h>

/* In order: the paper's, with asymptotic bounds, with finite-sample bounds. */
enum {
    QUESTIONS = 13,
    QUESTION_PAPER = 0,
    FIRST_ASYMPTOTIC = 4,
    FIRST_FINITE = 8,
    QUESTION_MEDIAN = 11
};

struct question_spec {
    const char *name;       /* in certificates.csv and the plot */
    const char *heading[2]; /* two lines of at most eight letters, over a column of the table */
    int32_t statistic, method, center;
    uint32_t constraints;
};
extern const struct question_spec questions[QUESTIONS];

/* The question itself; tolerance in degrees. */
certreg_question question_of(const struct question_spec *spec, double tolerance, double alpha);
const char *statistic_name(int32_t statistic);
const char *method_name(int32_t method);
#endif
