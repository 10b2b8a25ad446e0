/* An estimator whose plan names the second order, through whichever library `create` belongs to. */
#ifndef TESTS_SECOND_ORDER_H
#define TESTS_SECOND_ORDER_H
#include <certreg/certreg.h>

typedef certreg_status (*second_order_create)(certreg_backend *, const certreg_model *,
                                              const certreg_plan *, certreg_error *,
                                              certreg_estimator **);

/* With 5 inputs and one output, whose model is called by nobody. */
static inline certreg_status second_order_try(second_order_create create, uint32_t constraints,
                                              certreg_error *why, certreg_estimator **e)
{
    const certreg_model model = {.struct_size = sizeof model, .inputs = 5, .outputs = 1};
    const certreg_plan plan = {
        .struct_size = sizeof plan, .max_samples = 100, .pilot = 10, .constraints = constraints};
    *why = (certreg_error){.struct_size = sizeof *why};
    return create(NULL, &model, &plan, why, e);
}

#endif
