/* Writing certificates: without a claim, with a status, with the radius in all norms. */
#ifndef CR_CERTIFY_CERTIFICATE_H
#define CR_CERTIFY_CERTIFICATE_H
#include "certify/condition_radius.h"

/* Sets a certificate that claims nothing, with the fields that are known before anything is
 * estimated. Record and question may be NULL. */
void cr_certificate_init(cr_view *, const cr_question *, certreg_certificate *);
/* Sets the status. After a failure, prediction, estimate, tolerance and alpha are NaN, so that no
 * table averages them. */
void cr_certificate_set_status(certreg_status, certreg_certificate *);
/* Sets the radii of the largest balls of other norms within ||D^-1 delta||_2 < radius, with
 * delta_j = 0 if scale_j = 0 (theory 7). Scale NULL: all 1. */
void cr_certificate_set_norms(const float *scale, size_t inputs, certreg_certificate *);
/* Sets the fields of what was proved; no claim, if `proven` has abstained. */
void cr_certificate_fill(cr_view *, const cr_evaluation *, const cr_condition_radius *proven,
                         certreg_certificate *);
/* Writes a certificate without any claim into every element of a caller's array, if its struct_size
 * is valid. The record may be NULL. */
void cr_certificate_write_empty(cr_view *, certreg_status, int stop, size_t count,
                                certreg_certificate *out);

#endif
