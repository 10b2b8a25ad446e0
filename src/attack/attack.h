/* The handle of an attack: it reads an estimator's record, and a second estimator, the probe,
 * samples at shifted inputs. */
#ifndef CR_ATTACK_ATTACK_H
#define CR_ATTACK_ATTACK_H
#include "certreg/attack.h"
#include "estimator/context.h"

struct certreg_attack {
    uint64_t tag;      /* CR_HANDLE_TAG */
    cr_context target; /* the caller's estimator; its record stays as it is */
    cr_context probe;  /* our own: the same model, no pilot, and noise of its own */
    size_t max_calls;
    int32_t owns_memory;
    float *direction;     /* inputs: of the shift, in units of the scale; of length 1 */
    float *shifted_input; /* inputs: the shifted input */
    float *forward; /* outputs of the present step; the probe's record has the outputs under the
                       opposite noise */
    double *gradient_sum; /* inputs: the sum of gradients, each by its precision */
    double *half_sums;    /* 2 halves of the record * 2 functions * inputs: sums of function times
                             noise; a step uses the first `inputs` numbers */
};

/* Every call begins and ends with these, which hold the probe, its backend and the target. INVALID
 * for NULL, BUSY, WRONG_STATE in a forked child. */
certreg_status cr_attack_enter(certreg_attack *);
certreg_status cr_attack_leave(certreg_attack *, certreg_status);

#endif
