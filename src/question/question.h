/* A question checked against the model and the plan; no record is needed. */
#ifndef CR_QUESTION_QUESTION_H
#define CR_QUESTION_QUESTION_H
#include "question/conditions.h"

/* Checks a question against the model and the plan; no record is needed. Errors name the field. */
certreg_status cr_question_read(certreg_estimator *, const certreg_question *, cr_conditions *out);
int cr_question_is_angle(const certreg_estimator *, const certreg_question *);
double cr_question_period(const certreg_estimator *, const certreg_question *); /* a full turn; 0 on
                                                                                   the line */
int cr_question_orders(const certreg_estimator *, const certreg_question *);    /* REACH by order
                                                                                   statistics */
int cr_question_about_output(const certreg_question *); /* bounds of f itself are asked, not of
                                                           scores */
/* What the solver may use. A median's own scores have no variance, but its guards may. */
uint32_t cr_question_constraints(const certreg_question *);
int cr_question_is_closed(const certreg_question *); /* the closed test of a wanted radius */
int cr_question_without_normality(const certreg_question *); /* FINITE, ANYTIME */

/* ---- allowed.c: which numbers of samples a record may be asked at (theory 5.2) */
/* Of the looks that come with a question for the closed test; 0: it brings none. */
uint64_t cr_question_digest(const certreg_question *);
/* WRONG_STATE, with the remedy, where this question at so many samples may have been chosen by an
 * earlier answer. */
certreg_status cr_question_allowed(certreg_estimator *, const certreg_question *, uint64_t samples);

#endif
