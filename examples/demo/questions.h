/* questions.h: the certificates that the demo computes from every record. */
#ifndef DEMO_QUESTIONS_H
#define DEMO_QUESTIONS_H
#include <certreg/certreg.h>

enum { QUESTIONS = 13, QUESTION_PAPER = 0, QUESTION_MEDIAN = 11 };

struct question_spec {
    const char *name; /* among those of its method */
    int32_t statistic, method, center;
    uint32_t constraints;
};
extern const struct question_spec questions[QUESTIONS]; /* method after method */

/* The question itself; tolerance in degrees. */
certreg_question question_of(const struct question_spec *spec, double tolerance, double alpha);
const char *statistic_name(int32_t statistic);
const char *method_name(int32_t method);
const char *method_title(int32_t method);
#endif
