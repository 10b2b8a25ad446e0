/* Writing certificates: without a claim, with a status, with the radius in other norms. */
#ifndef CR_CERTIFY_CERTIFICATE_H
#define CR_CERTIFY_CERTIFICATE_H
#include "certify/condition_radius.h"

/* A certificate that claims nothing, with the fields that are known before anything is estimated.
 * Estimator and question may be NULL. */
void cr_certificate_init(cr_view *, const cr_question *, certreg_certificate *);
/* Sets the status. A refused question has no numbers that a table could average. */
void cr_certificate_set_status(certreg_status, certreg_certificate *);
/* Sets the largest balls of other norms within ||D^-1 delta||_2 < radius, with delta_j = 0 if
 * scale_j = 0 (theory 7). Scale NULL: all 1. */
void cr_certificate_set_norms(const float *scale, size_t inputs, certreg_certificate *);
/* Fills in what was proven; nothing, if `proven` is all zero. */
void cr_certificate_fill(cr_view *, const cr_evaluation *, const cr_condition_radius *proven,
                         certreg_certificate *);
/* Writes a certificate without any claim into every element, if `out` can be written at all. The
 * estimator may be NULL. */
void cr_certificate_write_empty(cr_view *, certreg_status, int stop, size_t count,
                                certreg_certificate *out);

#endif
